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
 * Canonical form: results for one message are in one user message, no text is empty, and there is
 * no thinking, which the edge restores in the view. Immutable.
 */
export interface AgentRequest {
  /** The agent's own ID, if sent. Subagents send their parent's. */
  readonly conversationId?: string;
  readonly title?: string;
  /** True for a request beside a task, such as a check of it. */
  readonly isSideRequest?: boolean;
  readonly system?: string;
  readonly messages: readonly ApiMessage[];
  readonly tools: readonly unknown[];
  /** o200k tokens added after condensing, such as restored thinking. */
  readonly extraTokens?: number;
  /**
   * True if the vendor reads something other than what is sent, so that reported tokens say nothing
   * about the request.
   */
  readonly isTransformedByVendor?: boolean;
  readonly model: UpstreamModel;
  /**
   * False: by default only duplicates are removed. Absent: unknown, and new results are treated as
   * if there were no recall tool.
   */
  readonly canRecall?: boolean;
}

/** Tokens are as the model counts them. */
export interface UpstreamModel {
  /** ID of the profile or VS Code model, under which learned token factors are stored. */
  readonly key: string;
  /** Secrets are not sent to another vendor's summarizer. */
  readonly vendor?: string;
  /** ID of the profile, which may have its own threshold. */
  readonly profile?: string;
  readonly contextWindow: number;
  readonly maxOutputTokens?: number;
  /** Tokens that the user wants to keep free for an answer. */
  readonly reservedOutput?: number;
  /** Initial estimate of model tokens per o200k token; default 1. */
  readonly tokenFactor?: number;
  readonly prices?: ModelPrices;
  readonly accounting?: UsageAccounting;
  /** Cache lifetime that prompts request, which determines write costs; default `none`. */
  readonly cacheLifetime?: CacheLifetime;
  /** Absent if unknown. */
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
  /** The conversation may have changed its model meanwhile. */
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
  /** False while the model's tokens are estimated by family. */
  readonly isCalibrated: boolean;
  readonly contextWindow: number;
  readonly outcome?: CondensationOutcome;
  readonly notes: readonly string[];
  /** When the request was ready, in milliseconds since the epoch. */
  readonly began: number;
}

/** The API allows four breakpoints; one is for tools and system. */
export const MESSAGE_CACHE_MARKS = 3;
