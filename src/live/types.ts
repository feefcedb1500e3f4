/**
 * The vocabulary between an agent's requests and the model: the words that the edge to VS Code, the exported API and the
 * engine (`liveConversations.ts`) share. Nothing here knows VS Code.
 */
import type { Overflow } from '../api/tooLong';
import type { Usage } from '../core/cost/usage';
import type { CondensationManager, CondensationOutcome, OutcomeSummary } from '../core/condense';
import type { CoherenceFloor } from '../core/condense/coherence/coherence';
import type { Edit, EditId } from '../core/condense/edits/edits';
import type { FoldedTexts } from '../core/condense/report/foldedTexts';
import type { CondensationId, RequestSizes } from '../core/condense/ledger/ledger';
import type { listMessages } from '../core/messages/render';
import type { ApiMessage } from '../core/messages/types';
import type { AgentRequest, LiveId, PreparedRequest } from './request';
import type { LiveDecision, LiveEvent } from './events';
import type { Clock } from '../api/clock';
import type { UseAfter } from '../core/condense/ledger/use';
import type { MessageCounter } from '../core/tokens/messageCounter';
import type { TokenLearning } from './tokenLearning';
import type { ToolWeight } from './toolWeights';

/** A condensation of a live conversation that was applied. */
export interface LiveCondensation {
  readonly id: CondensationId;
  /** ISO 8601 time. */
  readonly at: string;
  readonly provider: string;
  /** Name of the preset or strategy that it ran with; absent where none is recorded. */
  readonly configName?: string;
  /** What ran, for people: "Lossless, then Smart (File-Aware)". Absent in summaries of earlier versions. */
  readonly by?: string;
  /** In o200k tokens, messages only. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** The whole request before and after, in the model's tokens; absent in summaries of earlier versions. */
  readonly request?: RequestSizes;
  /** US dollars; absent where a price is not known. */
  readonly cost?: number;
  readonly isUndone: boolean;
  /** The agent's later requests for removed content; absent where they were not watched. */
  readonly use?: UseAfter;
}

/** The part of results that was left out before they were first sent. */
export interface NewResultsSummary {
  readonly results: number;
  /** O200k tokens. */
  readonly tokens: number;
  /** How often the agent read lines again for which a reference stood; the file's results are sent whole from then on. */
  readonly rereads: number;
}

/** A live conversation as a list or a status bar shows it. */
export interface LiveSummary {
  readonly id: LiveId;
  /** The agent whose conversation it is; absent: VS Code's chat. */
  readonly agent?: string;
  /** The folder that this agent works in. */
  readonly folder?: string;
  readonly title: string;
  /** The last request, in the model's tokens; of `contextWindow`. */
  readonly tokens: number;
  readonly contextWindow: number;
  /** Tokens at which the next condensation is due: those of the threshold, or fewer where more would not fit. */
  readonly thresholdTokens: number;
  /** What condenses then: "Lossless, then Smart (File-Aware) if that is not enough". Absent in summaries of earlier versions. */
  readonly condensedBy?: string;
  /** Fewer tokens from which it is due if the prompt cache has expired; absent where that is never known, or turned off. */
  readonly coldTokens?: number;
  /** Why the last condensation that was due took nothing out, in words; absent once one did. */
  readonly whyNot?: string;
  /** Present while the user has paused condensing. */
  readonly isPaused?: true;
  /** What is left, and what would help, where condensing leaves the request above its threshold. */
  readonly exhausted?: string;
  /** Messages of the conversation, and of the view. */
  readonly messages: number;
  readonly shownMessages: number;
  /** The agent asked again for so much of what was taken out that Lossless condenses from now on. */
  readonly isCareful: boolean;
  /** Oldest first. */
  readonly condensations: readonly LiveCondensation[];
  readonly lastDecision?: LiveDecision;
  /** The part of results left out before they were first sent; absent where nothing was, or it was undone. */
  readonly newResults?: NewResultsSummary;
  /** The tools of the last request, the heaviest first: all are sent with every request. Absent where there are none. */
  readonly tools?: readonly ToolWeight[];
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

/** The parts for comparing a conversation with its view. */
export interface LiveView {
  readonly original: readonly ApiMessage[];
  readonly view: readonly ApiMessage[];
  /** For each message of the view its index in the original; SUMMARY_ORIGIN for a summary. */
  readonly origins: readonly number[];
  readonly edits: readonly Edit[];
  /** Edits that were taken out of the view by hand, and would stand in it again. */
  readonly excluded: readonly Edit[];
}

/** A question of an agent that wants to see something again. */
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

/** An image, for a tool's result. */
export interface RecalledImage {
  /** Such as `image/png`. */
  readonly mediaType: string;
  /** Base64. */
  readonly data: string;
}

export type RecallResult =
  | {
      readonly kind: 'found';
      /** For the agent: what was found, what was left out, and how to get it. */
      readonly text: string;
      readonly references: readonly string[];
      /** Those that references stand for, where they fit into the size; the text names each of them. */
      readonly images: readonly RecalledImage[];
      /** False where the size limit left something out. */
      readonly isComplete: boolean;
    }
  | { readonly kind: 'nothing'; readonly text: string };

/** A tool call's parameters with their markers expanded, or why that can't be done, for the agent to read. */
export type ExpandedInput = { readonly input: unknown } | { readonly error: string };

/** The outcome of a command on a live conversation. `detail` says in words why nothing was done. */
export type CommandResult =
  | { readonly kind: 'done'; readonly detail: string }
  | { readonly kind: 'nothing'; readonly detail: string };

/** The treatment of a result before it is first sent. */
export type NewResultsMode = 'off' | 'lossless';

/** What follows where Lossless leaves more than the target at the threshold. */
export type WhenNotEnough = 'fileAware' | 'nothing';

/** The user's settings for live conversations; read anew for each request. */
export interface LiveSettings {
  readonly provider: string;
  readonly config?: unknown;
  /** The user has paused condensing: only what would not fit is condensed. */
  readonly isPaused?: boolean;
  /** Absent: File-Aware for agents that can recall what it removes, nothing for others. Providers other than Lossless run alone. */
  readonly whenNotEnough?: WhenNotEnough;
  /** `lossless` leaves out of new results what stands above them in the view; default `lossless`. */
  readonly newResults?: NewResultsMode;
  /** Whether new results also leave out what a terminal shows for a moment or in colours; default false. */
  readonly newResultsNoise?: boolean;
  /** False: what an agent asks for once more is left out, too; to measure what answering it costs. Default true. */
  readonly isCautious?: boolean;
  /** Percent of the window from which on a single new result is shortened; default 25, 0: none is. */
  readonly largeResultPercent?: number;
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
   * The view to send in a request's place, condensed where that is due. Originals and ledger entry of a condensation are on
   * the disk before it returns; those of what new results leave out are written meanwhile ({@link settled}).
   * @throws the signal's reason where it was aborted. Nothing else: what fails is told in the notes.
   */
  prepare(request: AgentRequest, signal?: AbortSignal): Promise<PreparedRequest>;
  /**
   * The model refused a prepared request as too long: condenses further. How often is the caller's decision (`attempts.ts`).
   * @returns undefined where nothing more can be done.
   * @throws the signal's reason where it was aborted.
   */
  tooLong(
    prepared: PreparedRequest,
    request: AgentRequest,
    signal?: AbortSignal,
    overflow?: Overflow,
  ): Promise<PreparedRequest | undefined>;
  /** O200k tokens of a request as it came, with all that belongs to it. */
  count(request: AgentRequest): Promise<number>;
  /** O200k tokens of a text or message. */
  countPart(part: string | ApiMessage): Promise<number>;
  /** A request for the conversation was paid for, also one that broke off or whose answer the model had to correct. */
  used(prepared: PreparedRequest, usage: Usage | undefined): void;
  /** The model answered: calibrates its token factor, notes the cache's warmth. */
  answered(prepared: PreparedRequest, usage: Usage | undefined): void;
  /** Puts the originals in the place of markers in a tool call's parameters, byte for byte. */
  expandMarkers(conversation: LiveId, input: unknown): Promise<ExpandedInput>;
  /** Recalls condensed content, by reference or by search. Without a conversation: of all, the last used first. */
  recall(conversation: LiveId | undefined, query: RecallQuery): Promise<RecallResult>;
  /** The conversations of this host, last used first. */
  list(): LiveSummary[];
  /** The one that was used last. */
  active(): LiveSummary | undefined;
  view(conversation: LiveId): LiveView | undefined;
  /** The conversation beside its view, for a diff editor. */
  compare(conversation: LiveId): FoldedTexts | undefined;
  /** The conversation's messages, for a person to choose among. */
  outline(conversation: LiveId): ReturnType<typeof listMessages> | undefined;
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
  /** Resolves once all that was left out is on the disk, or is known not to get there. */
  settled(): Promise<void>;
  /** Aborts what runs in the background. */
  dispose(): void;
}

/** A prepared request as far as the chat's provider needs it. */
export interface PreparedChat extends Pick<
  PreparedRequest,
  | 'conversation'
  | 'messages'
  | 'cacheMarks'
  | 'tokens'
  | 'countedTokens'
  | 'mustRead'
  | 'isCalibrated'
  | 'contextWindow'
  | 'notes'
> {
  readonly outcome?: Pick<CondensationOutcome, 'kind'>;
}

/** What the chat asks of its live conversations, in whatever thread they are; see {@link LiveConversationsApi}. */
export interface ChatConversations extends Pick<
  LiveConversationsApi,
  'count' | 'countPart' | 'expandMarkers' | 'recall' | 'list'
> {
  /** @throws the signal's reason where it was aborted; any other error: the request can't be prepared and goes out as it came. */
  prepare(request: AgentRequest, signal?: AbortSignal): Promise<PreparedChat>;
  tooLong(
    prepared: PreparedChat,
    request: AgentRequest,
    signal?: AbortSignal,
    overflow?: Overflow,
  ): Promise<PreparedChat | undefined>;
  used(prepared: PreparedChat, usage: Usage | undefined): void;
  answered(prepared: PreparedChat, usage: Usage | undefined): void;
}

/** The actions on live conversations, in whatever thread or process their engine runs. */
export interface LiveDesk extends Pick<
  LiveConversationsApi,
  'list' | 'undo' | 'redo' | 'toggleEdit' | 'pin' | 'unpin'
> {
  /** @throws Error in words where the process of a conversation does not answer. */
  view(conversation: LiveId): Promise<LiveView | undefined>;
  /** @throws as {@link LiveDesk.view} */
  compare(conversation: LiveId): Promise<FoldedTexts | undefined>;
  /** @throws as {@link LiveDesk.view} */
  outline(conversation: LiveId): Promise<ReturnType<typeof listMessages> | undefined>;
}

/** What condensing by hand came to. */
export interface ByHandResult {
  /** Absent where the conversation is gone. */
  readonly kind?: OutcomeSummary['kind'];
  /** That nothing was condensed, and why, in sentences; of no meaning where something was. */
  readonly words: string;
}

/** An engine that a window sees: the chat's, or those of gateways. */
export interface WindowEngine extends LiveDesk {
  has(conversation: LiveId): boolean;
  /** The last result of {@link LiveDesk.view}; kept up to date from then on. */
  seen(conversation: LiveId): LiveView | undefined;
  /**
   * Condenses at once; the next request goes out condensed.
   * @throws the signal's reason where it was aborted; Error in words where it was given up or the engine does not answer
   */
  condenseNow(
    conversation: LiveId,
    options: { readonly provider?: string; readonly config?: unknown; readonly targetPercent?: number },
    signal: AbortSignal,
  ): Promise<ByHandResult>;
}

/** Shared by the parts of the engine. */
export interface LiveParts {
  readonly manager: CondensationManager;
  readonly counter: MessageCounter;
  readonly settings: () => LiveSettings;
  readonly clock: Clock;
  readonly learning: TokenLearning;
  readonly emit: (event: LiveEvent) => void;
}
