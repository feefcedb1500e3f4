/** A request of an agent, and what to send instead. */
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
 * empty, and there is no thinking (the edge keeps it by call id and restores it in the view).
 * Immutable.
 */
export interface AgentRequest {
  /** The agent's own id of the conversation, if sent. Subagents send their parent's. */
  readonly conversationId?: string;
  /** Title for people. */
  readonly title?: string;
  /**
   * A request beside a task, such as a check of part of it; not shown as a conversation. Default
   * false.
   */
  readonly isAside?: boolean;
  readonly system?: string;
  readonly messages: readonly ApiMessage[];
  /** Tool declarations as sent. */
  readonly tools: readonly unknown[];
  /** O200k tokens that are added after condensing, such as restored thinking; default 0. */
  readonly extraTokens?: number;
  /**
   * The vendor is asked to read something other than what is sent, so that reported tokens say
   * nothing about the request. Default false.
   */
  readonly isReadOtherwise?: boolean;
  readonly model: UpstreamModel;
  /**
   * Whether the agent has a recall tool. False: known to have none, so that by default only
   * duplicates are removed. Absent: unknown, and new results are treated as if it had none.
   */
  readonly canRecall?: boolean;
}

/** The model that gets the request. Tokens are the model's. */
export interface UpstreamModel {
  /** ID of the profile or VS Code model; learned token factors are stored under it. */
  readonly key: string;
  /** The vendor's ID, such as `anthropic`; secrets are not sent to another vendor's summarizer. */
  readonly vendor?: string;
  /** ID of the profile, under which the settings have its threshold. */
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
  /** Cache lifetime requested for prompts, which determines write costs; default `none`. */
  readonly cacheLifetime?: CacheLifetime;
  /** How long the vendor keeps a prompt; absent: unknown. */
  readonly cacheSpan?: CacheLifespan | 'none';
  readonly threshold: Threshold;
  /** Other limits of its requests; absent: unknown. */
  readonly limits?: RequestLimits;
  /**
   * The model as a summarizer for condensations without a profile; absent: it can't be called
   * separately.
   */
  readonly summarizer?: LoadOwnModel;
}

/** The messages to send instead of the request. */
export interface PreparedRequest extends View {
  readonly conversation: LiveId;
  /** The model it was prepared for; the conversation may use another one in the meantime. */
  readonly model: UpstreamModel;
  /**
   * Ascending indexes of view messages that should carry a cache breakpoint on their last block, at
   * most {@link MESSAGE_CACHE_MARKS}: the end of the condensed prefix and two that move along the
   * newest messages. The fourth breakpoint that the API allows is left for tools and system.
   */
  readonly cacheMarks: readonly number[];
  /** The whole request, in the model's tokens (calibrated). */
  readonly tokens: number;
  /** The same in o200k tokens. */
  readonly countedTokens: number;
  /** Minimum that the vendor must read; absent if its reports say nothing about the request. */
  readonly mustRead?: number;
  /** The model has reported tokens before; until then its tokens are estimated by family. */
  readonly isCalibrated: boolean;
  /** The model's window as known so far, in its tokens. */
  readonly contextWindow: number;
  /** The condensation in this request; absent if none was due. */
  readonly outcome?: CondensationOutcome;
  readonly notes: readonly string[];
  /** When it was ready to be sent, in milliseconds since the epoch. */
  readonly began: number;
}

/** Breakpoints on messages; the API allows four in all. */
export const MESSAGE_CACHE_MARKS = 3;
