import type { CacheLifetime, ModelPrices } from '../core/cost/prices';
import type { CondensationThreshold } from '../core/condense/trigger/thresholds';
import type { UsageAccounting } from '../core/cost/usage';
import type { View } from '../core/condense/edits/view';
import type { CacheLifespan } from '../core/vendors/caches';
import type { RequestLimits } from '../core/vendors/requestLimits';
import type { ApiMessage } from '../core/messages/types';
import type { CondensationOutcome } from '../core/condense';
import type { LoadOwnModel } from '../core/condense/summarizer';

export type LiveId = string & { readonly __live: unique symbol };

/**
 * Results for one message are in one user message, and no text is empty. Thinking is omitted, and
 * put back when the view is sent. Immutable.
 */
export interface AgentRequest {
  /** The agent's own ID of the conversation, if sent. Subagents send their parent's. */
  readonly conversationId?: string;
  readonly title?: string;
  /** True for a request that is not a step of a task, such as a check of the task. */
  readonly isSideRequest?: boolean;
  readonly system?: string;
  readonly messages: readonly ApiMessage[];
  readonly tools: readonly unknown[];
  /** o200k tokens added after condensing, such as restored thinking. */
  readonly extraTokens?: number;
  /**
   * True if the vendor reads something other than what is sent. Reported tokens then say nothing
   * about the request.
   */
  readonly isTransformedByVendor?: boolean;
  readonly model: UpstreamModel;
  /**
   * Whether the agent has the recall tool. False: by default only duplicates are removed. Absent:
   * unknown; new results are treated as if false.
   */
  readonly canRecall?: boolean;
}

/** A model that an agent calls. Token counts are the model's own. */
export interface UpstreamModel {
  /** ID of the profile or VS Code model, under which learned token factors are stored. */
  readonly key: string;
  /**
   * Vendor that gets the conversation anyway: secrets are not sent to another vendor's summarizer.
   */
  readonly vendor?: string;
  /** ID of the profile, which may have its own threshold. */
  readonly profile?: string;
  readonly contextWindow: number;
  readonly maxOutputTokens?: number;
  /** Tokens of the window that the user wants to keep free for an answer. */
  readonly reservedOutput?: number;
  /** Initial estimate of model tokens per o200k token; default 1. */
  readonly tokenFactor?: number;
  readonly prices?: ModelPrices;
  readonly accounting?: UsageAccounting;
  /**
   * Cache lifetime that the prompts request, which determines the cost of cache writes; default
   * `none`.
   */
  readonly cacheLifetime?: CacheLifetime;
  /** How long the vendor's cache keeps a prompt; absent if unknown. */
  readonly cacheSpan?: CacheLifespan | 'none';
  readonly threshold: CondensationThreshold;
  readonly limits?: RequestLimits;
  /**
   * Writes summaries for condensations without a profile; absent if the model can't be called
   * separately.
   */
  readonly summarizer?: LoadOwnModel;
}

export interface PreparedRequest extends View {
  readonly conversation: LiveId;
  /**
   * The model for which the request was prepared; the conversation may have changed its model
   * since.
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
  readonly minReadTokens?: number;
  /**
   * True if the model has reported token counts; otherwise its tokens are estimated by model
   * family.
   */
  readonly isCalibrated: boolean;
  readonly contextWindow: number;
  readonly outcome?: CondensationOutcome;
  readonly notes: readonly string[];
  /** When the request was ready, in milliseconds since the epoch. */
  readonly began: number;
}

/** The API allows four breakpoints, of which one is for tools and system prompt. */
export const MESSAGE_CACHE_MARKS = 3;
