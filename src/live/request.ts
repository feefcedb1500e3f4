/** A request of an agent, and what is to be sent in its place. */
import type { CacheLifetime, ModelPrices } from '../core/cost/prices';
import type { Threshold } from '../core/condense/trigger/thresholds';
import type { UsageAccounting } from '../core/cost/usage';
import type { Edit } from '../core/condense/edits/edits';
import type { CacheSpan } from '../core/vendors/caches';
import type { RequestLimits } from '../core/vendors/requestLimits';
import type { ApiMessage } from '../core/messages/types';
import type { CondensationOutcome } from '../core/condense';
import type { OwnModel } from '../core/condense/summarizer';

/** Names a live conversation; its ledger on disk has the same id. */
export type LiveId = string & { readonly __live: unique symbol };

/**
 * One request of an agent in canonical form: results that answer one message stand in one user message, no text is empty,
 * no thinking (the edge keeps it by call id and puts it back into the view). Values are not changed afterwards.
 */
export interface AgentRequest {
  /** The agent's own id of the conversation, where it sends one. Subagents send their parent's. */
  readonly conversationId?: string;
  /** The conversation's title for people. */
  readonly title?: string;
  /** A request beside a task, such as a check that holds a piece of it: people are not shown it as a conversation. Default false. */
  readonly isAside?: boolean;
  readonly system?: string;
  readonly messages: readonly ApiMessage[];
  /** Declarations of the tools, as they are sent. */
  readonly tools: readonly unknown[];
  /** O200k tokens of what the edge puts into the view itself, such as thinking that goes back; default 0. */
  readonly extraTokens?: number;
  /** The vendor is told to read something else than what is sent: the tokens that it reports say nothing of the request. Default false. */
  readonly isReadOtherwise?: boolean;
  readonly model: UpstreamModel;
  /**
   * Whether the agent has a tool to ask for what was taken out. False: it is known to have none, and by default loses only what stands
   * elsewhere in its view. Absent: not known, and what arrives is treated as if it had none.
   */
  readonly canRecall?: boolean;
}

/** The model that the request goes to. Tokens are the model's. */
export interface UpstreamModel {
  /** Id of the profile or of the VS Code model; what was learned of its tokens is remembered under it. */
  readonly key: string;
  /** Such as `anthropic`: what looks like a key doesn't go to another vendor's summarizer. */
  readonly vendor?: string;
  readonly contextWindow: number;
  /** The most that the model writes in one answer. */
  readonly maxOutputTokens?: number;
  /** The tokens that the user wants to be kept free for an answer. */
  readonly reservedOutput?: number;
  /** The model's tokens for one o200k token, before its replies have told; default 1. */
  readonly tokenFactor?: number;
  readonly prices?: ModelPrices;
  readonly accounting?: UsageAccounting;
  /** How long prompts are marked to be kept, which decides what writing them costs; default `none`. */
  readonly cacheLifetime?: CacheLifetime;
  /** How long the vendor keeps a prompt; absent: that is not known. */
  readonly cacheSpan?: CacheSpan | 'none';
  readonly threshold: Threshold;
  /** Limits of its requests beside their tokens; absent: none is known. */
  readonly limits?: RequestLimits;
  /** The model as one that sums up, for condensations that find no profile; absent: it can't be asked beside the chat. */
  readonly summarizer?: OwnModel;
}

/** The messages to send in the request's place. */
export interface PreparedRequest {
  readonly conversation: LiveId;
  /** Whom it was prepared for; the conversation may ask another one meanwhile. */
  readonly model: UpstreamModel;
  /** The view. */
  readonly messages: readonly ApiMessage[];
  /** The conversation that the view was made from; it goes on while this request is on its way. */
  readonly original: readonly ApiMessage[];
  /** For each message of the view its index in the original; SUMMARY_ORIGIN for a summary. */
  readonly origins: readonly number[];
  /** The edits that make the view. */
  readonly edits: readonly Edit[];
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
  /** Of these the ones that the vendor has to read, at the least; absent where the tokens that it reports say nothing of the request. */
  readonly mustRead?: number;
  /** The model has reported tokens before: until then its tokens are a guess from its family. */
  readonly isCalibrated: boolean;
  /** The model's window as far as it is known by now, in its tokens. */
  readonly contextWindow: number;
  /** The condensation in this request; absent if nothing was due. */
  readonly outcome?: CondensationOutcome;
  /** Notes for a person. */
  readonly notes: readonly string[];
  /** When it was ready to be sent, in milliseconds since the epoch. */
  readonly began: number;
}

/** Breakpoints that messages carry; the API allows four in all. */
export const MESSAGE_CACHE_MARKS = 3;
