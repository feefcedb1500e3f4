/**
 * What stands between an agent's requests and the model: the words that the edge to VS Code, the exported API and the
 * engine (`liveConversations.ts`) share. Nothing here knows VS Code.
 */
import type { CacheLifetime, ModelPrices } from '../../core/cost/prices';
import type { Saving } from '../../core/cost/saving';
import type { Usage, UsageAccounting } from '../../core/cost/usage';
import type { CondensationOutcome } from '../../core/condense';
import type { CoherenceFloor } from '../../core/condense/coherence/coherence';
import type { Edit, EditId } from '../../core/condense/edits';
import type { CondensationId } from '../../core/condense/ledger';
import type { EffectiveThreshold, WindowPoint } from '../../core/condense/thresholds';
import type { ApiMessage } from '../../core/messages/types';

/** Names a live conversation; its ledger on disk has the same id. */
export type LiveId = string & { readonly __live: unique symbol };

/**
 * One request of an agent in canonical form: results that answer one message stand in one user message, no text is empty,
 * no thinking (the edge keeps it by call id and puts it back into the view). Values are not changed afterwards.
 */
export interface AgentRequest {
  /** The agent's own id of the conversation, where it sends one. Subagents send their parent's. */
  readonly conversationId?: string;
  /** What a person would call the conversation. */
  readonly title?: string;
  readonly system?: string;
  readonly messages: readonly ApiMessage[];
  /** Declarations of the tools, as they are sent. */
  readonly tools: readonly unknown[];
  /** O200k tokens of what the edge puts into the view itself, such as thinking that goes back; default 0. */
  readonly extraTokens?: number;
  readonly model: UpstreamModel;
}

/** The model that the request goes to. Tokens are the model's. */
export interface UpstreamModel {
  /** Id of the profile or of the VS Code model; what was learned of its tokens is remembered under it. */
  readonly key: string;
  /** Such as `anthropic`: what looks like a key doesn't go to another vendor's summarizer. */
  readonly vendor?: string;
  readonly contextWindow: number;
  /** Reserved for the reply. */
  readonly maxOutputTokens?: number;
  /** The model's tokens for one o200k token, before its replies have told; default 1. */
  readonly tokenFactor?: number;
  readonly prices?: ModelPrices;
  readonly accounting?: UsageAccounting;
  /** How long the vendor keeps a prompt; default `none`. */
  readonly cacheLifetime?: CacheLifetime;
  readonly threshold: EffectiveThreshold | WindowPoint;
}

/** What is to be sent in the request's place. */
export interface PreparedRequest {
  readonly conversation: LiveId;
  /** The view. */
  readonly messages: readonly ApiMessage[];
  /**
   * Indexes of the view's messages that should carry a cache breakpoint on their last block, ascending, at most
   * {@link MESSAGE_CACHE_MARKS}: the end of the condensed prefix and two that slide along the newest messages. One more
   * of the API's four is left for tools and system together.
   */
  readonly cacheMarks: readonly number[];
  /** All that is sent, in the model's tokens (calibrated). */
  readonly tokens: number;
  /** The same in o200k tokens, as counted here. */
  readonly countedTokens: number;
  /** What was done in this request; absent where nothing was due. */
  readonly outcome?: CondensationOutcome;
  /** What a person should be told. */
  readonly notes: readonly string[];
}

/** Breakpoints that messages carry; the API allows four in all. */
export const MESSAGE_CACHE_MARKS = 3;

/** Why a condensation was made, and what it is worth. Logged and shown. */
export interface LiveDecision {
  readonly reason: CondensationReason;
  /** All that is sent, in the model's tokens. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly contextWindow: number;
  /** True while the vendor's cache still held the conversation. */
  readonly isCacheWarm: boolean;
  /** Absent where the model's prices are not known. */
  readonly saving?: Saving;
}

/**
 * `threshold`: it was reached. `window`: the request would not have fitted. `cold-cache`: a lower threshold was reached and
 * the cache had gone anyway. `background`: prepared in the background before. `too-long`: the model refused the request.
 * `by-hand`: a person asked for it.
 */
export type CondensationReason = 'threshold' | 'window' | 'cold-cache' | 'background' | 'too-long' | 'by-hand';

/** A condensation of a live conversation that was applied. */
export interface LiveCondensation {
  readonly id: CondensationId;
  /** ISO 8601 time. */
  readonly at: string;
  readonly provider: string;
  /** In o200k tokens, messages only. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** US dollars; absent where a price is not known. */
  readonly cost?: number;
  readonly isUndone: boolean;
}

/** A live conversation as a list or a status bar shows it. */
export interface LiveSummary {
  readonly id: LiveId;
  readonly title: string;
  /** The last request, in the model's tokens; of `contextWindow`. */
  readonly tokens: number;
  readonly contextWindow: number;
  /** Tokens at which the next condensation is due. */
  readonly thresholdTokens: number;
  /** Messages of the conversation, and of the view. */
  readonly messages: number;
  readonly shownMessages: number;
  /** Oldest first. */
  readonly condensations: readonly LiveCondensation[];
  readonly lastDecision?: LiveDecision;
  /** US dollars that the model's answers cost so far; absent where a price is not known. */
  readonly spent?: number;
  readonly canUndo: boolean;
  readonly canRedo: boolean;
  /** Messages that stay as they are, by index. */
  readonly pinned: readonly number[];
  /** Milliseconds since the epoch. */
  readonly lastUsed: number;
  /** True while a model works on a condensation. */
  readonly isPreparing: boolean;
}

/** What a comparison of a conversation with its view needs. */
export interface LiveView {
  readonly original: readonly ApiMessage[];
  readonly view: readonly ApiMessage[];
  /** For each message of the view its index in the original; SUMMARY_ORIGIN for a summary. */
  readonly origins: readonly number[];
  readonly edits: readonly Edit[];
  /** Edits that were taken out of the view by hand. */
  readonly excluded: readonly EditId[];
}

/** What an agent wants to see again. */
export interface RecallQuery {
  /** References, with or without the marker around them. */
  readonly references?: readonly string[];
  /** Words that a line must hold, in any order and case. */
  readonly words?: string;
  /** Regular expression (JavaScript, flags `iu` where it allows them) that a line must match. */
  readonly pattern?: string;
  /** Lines of what is recalled, from 1, both included. */
  readonly fromLine?: number;
  readonly toLine?: number;
  /** O200k tokens of the answer; default 2,000, at most 20,000. */
  readonly maxTokens?: number;
}

export type RecallResult =
  | {
      readonly kind: 'found';
      /** For the agent: what was found, what was left out, and how to get it. */
      readonly text: string;
      readonly references: readonly string[];
      /** False where the size limit left something out. */
      readonly isComplete: boolean;
    }
  | { readonly kind: 'nothing'; readonly text: string };

/** A tool call's parameters with their markers expanded, or why that can't be done, for the agent to read. */
export type ExpandedInput = { readonly input: unknown } | { readonly error: string };

/** What came of a command on a live conversation. `detail` says in words why nothing was done. */
export type CommandResult =
  { readonly kind: 'done'; readonly detail: string } | { readonly kind: 'nothing'; readonly detail: string };

export type LiveEvent =
  /** A request was prepared or answered, a command was done: what a status bar shows may have changed. */
  | { readonly kind: 'changed'; readonly conversation: LiveId }
  /** A condensation is in the view from now on. */
  | {
      readonly kind: 'condensed';
      readonly conversation: LiveId;
      readonly condensation: CondensationId;
      readonly outcome: CondensationOutcome & { readonly kind: 'condensed' };
      readonly decision: LiveDecision;
    }
  /** One was tried and came to nothing that is worth telling: it failed or was refused. */
  | {
      readonly kind: 'not-condensed';
      readonly conversation: LiveId;
      readonly outcome: CondensationOutcome;
      readonly reason: CondensationReason;
    }
  /** A model works on a condensation, or no longer does. */
  | { readonly kind: 'preparing'; readonly conversation: LiveId; readonly isPreparing: boolean }
  /** Something went wrong that costs the task nothing but should be known. */
  | { readonly kind: 'problem'; readonly conversation?: LiveId; readonly message: string };

/** What the user has set for live conversations; read anew for each request. */
export interface LiveSettings {
  readonly provider: string;
  readonly config?: unknown;
  /** How far a condensation goes; default half of the window. */
  readonly target?: WindowPoint;
  /**
   * Percent of the window from which a condensation that needs a model is prepared in the background; absent: none is, it
   * is made when it is due.
   */
  readonly backgroundPercent?: number;
  /** Percent of the window from which a conversation is condensed when its cache has gone cold; absent: that is no reason. */
  readonly coldPercent?: number;
  /** Whether a failure may lead to a paid call: only where a condensing profile and a budget are set. */
  readonly mayUseNative: boolean;
  /** Configurations of the fallbacks, by provider. */
  readonly configs?: Readonly<Record<string, unknown>>;
  /** US dollars that one condensation may cost; absent: no limit. */
  readonly maxCost?: number;
  /** Percent of each kind of facts that must stand in the view; what must fit into the window goes under it. Default none. */
  readonly coherenceFloor?: CoherenceFloor;
  /** Milliseconds that a request waits for a model's condensation before it goes on without; default 30,000. */
  readonly waitMs?: number;
  /** Milliseconds after which a model's condensation is given up; default 300,000. */
  readonly giveUpMs?: number;
}

/** Answers for agents' conversations: what to send, what was taken out, and what a person may do about it. */
export interface LiveConversationsApi {
  /**
   * The view to send in a request's place, condensed where that is due. Originals and ledger entry are on the disk before
   * it returns.
   * @throws the signal's reason where it was aborted. Nothing else: what fails is told in the notes.
   */
  prepare(request: AgentRequest, signal?: AbortSignal): Promise<PreparedRequest>;
  /**
   * The model refused a prepared request as too long: condenses harder, once.
   * @returns undefined where nothing more can be done.
   * @throws the signal's reason where it was aborted.
   */
  tooLong(prepared: PreparedRequest, request: AgentRequest, signal?: AbortSignal): Promise<PreparedRequest | undefined>;
  /** A request for the conversation was paid for, also one that broke off or whose answer the model had to correct. */
  used(conversation: LiveId, usage: Usage | undefined): void;
  /** The model answered: calibrates its token factor, notes the cache's warmth. */
  answered(prepared: PreparedRequest, usage: Usage | undefined): void;
  /** Puts the originals in the place of markers in a tool call's parameters, byte for byte. */
  expandMarkers(conversation: LiveId, input: unknown): Promise<ExpandedInput>;
  /** What was condensed away, by reference or by search. Without a conversation: of all, the last used first. */
  recall(conversation: LiveId | undefined, query: RecallQuery): Promise<RecallResult>;
  /** The conversations of this host, last used first. */
  list(): LiveSummary[];
  /** The one that was used last. */
  active(): LiveSummary | undefined;
  view(conversation: LiveId): LiveView | undefined;
  /** Condenses at once; the next request goes out condensed. */
  condenseNow(
    conversation: LiveId,
    options?: { readonly provider?: string; readonly config?: unknown; readonly targetPercent?: number },
    signal?: AbortSignal,
  ): Promise<CondensationOutcome | undefined>;
  undo(conversation: LiveId): Promise<CommandResult>;
  redo(conversation: LiveId): Promise<CommandResult>;
  /** Takes one edit out of the view, or back in. */
  toggleEdit(conversation: LiveId, edit: EditId): Promise<CommandResult>;
  /** A pinned message is left as it is; what was taken out of it comes back. @param message its index in the conversation. */
  pin(conversation: LiveId, message: number): Promise<CommandResult>;
  unpin(conversation: LiveId, message: number): Promise<CommandResult>;
  /** @returns what ends it. */
  on(listener: (event: LiveEvent) => void): () => void;
  /** Aborts what runs in the background. */
  dispose(): void;
}
