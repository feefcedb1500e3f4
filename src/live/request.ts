import type { CacheLifetime, ModelPrices } from '../core/cost/prices';
import type { Threshold } from '../core/condense/trigger/thresholds';
import type { UsageAccounting } from '../core/cost/usage';
import type { View } from '../core/condense/edits/view';
import type { CacheLifespan } from '../core/vendors/caches';
import type { RequestLimits } from '../core/vendors/requestLimits';
import type { ApiMessage } from '../core/messages/types';
import type { CondensationOutcome } from '../core/condense';
import type { LoadOwnModel } from '../core/condense/summarizer';

/** ID of a live conversation and of its ledger on disk. */
export type LiveId = string & { readonly __live: unique symbol };

/**
 * An agent's request in canonical form: results for one message are in one user message, no text is
 * empty, and there is no thinking, which the edge restores in the view. Immutable.
 */
export interface AgentRequest {
  /** The agent's own ID of the conversation, if sent. Subagents send their parent's. */
  readonly conversationId?: string;
  readonly title?: string;
  /** True for a request beside a task, such as a check of it. Default false. */
  readonly isAside?: boolean;
  readonly system?: string;
  readonly messages: readonly ApiMessage[];
  readonly tools: readonly unknown[];
  /** o200k tokens that are added after condensing, such as restored thinking; default 0. */
  readonly extraTokens?: number;
  /**
   * True if the vendor reads something else than what is sent, so that reported tokens say nothing
   * about the request. Default false.
   */
  readonly isReadOtherwise?: boolean;
  readonly model: UpstreamModel;
  /**
   * Whether the agent has a recall tool. False: by default only duplicates are removed. Absent:
   * unknown, and new results are treated as if it had none.
   */
  readonly canRecall?: boolean;
}

/** Tokens are as the model counts them. */
export interface UpstreamModel {
  /** ID of the profile or VS Code model; learned token factors are stored under it. */
  readonly key: string;
  /** The vendor's ID, such as `anthropic`; secrets are not sent to another vendor's summarizer. */
  readonly vendor?: string;
  /** ID of the profile, which may have its own threshold. */
  readonly profile?: string;
  readonly contextWindow: number;
  /** Maximum tokens of one answer. */
  readonly maxOutputTokens?: number;
  /** Tokens that the user wants to keep free for an answer. */
  readonly reservedOutput?: number;
  /** Initial estimate of the model's tokens per o200k token; default 1. */
  readonly tokenFactor?: number;
  readonly prices?: ModelPrices;
  readonly accounting?: UsageAccounting;
  /** Cache lifetime that requests ask for, which determines write costs; default `none`. */
  readonly cacheLifetime?: CacheLifetime;
  /** How long the vendor keeps a prompt; absent: unknown. */
  readonly cacheSpan?: CacheLifespan | 'none';
  readonly threshold: Threshold;
  readonly limits?: RequestLimits;
  /** Calls the model as a summarizer; absent if it can't be called separately. */
  readonly summarizer?: LoadOwnModel;
}

/** The messages to send instead of the request. */
export interface PreparedRequest extends View {
  readonly conversation: LiveId;
  /**
   * The model for which the request was prepared; the conversation may have changed it meanwhile.
   */
  readonly model: UpstreamModel;
  /**
   * Ascending indexes of view messages that get a cache breakpoint on their last block, at most
   * {@link MESSAGE_CACHE_MARKS}.
   */
  readonly cacheMarks: readonly number[];
  /** Tokens of the whole request, as the model counts them. */
  readonly tokens: number;
  /** o200k tokens of the whole request. */
  readonly countedTokens: number;
  /**
   * o200k tokens that the vendor must read; absent if its reports say nothing about the request.
   */
  readonly mustRead?: number;
  /**
   * True if the model has reported tokens before; until then its tokens are estimated by family.
   */
  readonly isCalibrated: boolean;
  readonly contextWindow: number;
  /** Absent if no condensation was due. */
  readonly outcome?: CondensationOutcome;
  readonly notes: readonly string[];
  /** When the request was ready to be sent, in milliseconds since the epoch. */
  readonly began: number;
}

/** The API allows four breakpoints; one is for tools and system. */
export const MESSAGE_CACHE_MARKS = 3;
