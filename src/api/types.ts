/** Vendor-independent requests and answers: nothing above the handlers depends on an SDK. */
import type { Usage, UsageAccounting } from '../core/cost/usage';
import type { ApiMessage, Block, TextBlock } from '../core/messages/types';
import type { ThinkingScope } from '../core/vendors/families';
import type { Vendor } from '../core/vendors/vendors';
import type { ListedModel } from './modelList';

export type { Usage, UsageAccounting, Vendor };

export type StopReason =
  | 'end_turn'
  | 'stop_sequence'
  | 'tool_use'
  | 'max_tokens'
  | 'context_window'
  | 'refusal'
  | 'pause_turn'
  | 'compaction'
  | 'other';

/** Which earlier thinking counts as input; thinking before the user's last message may be free. */
export type { ThinkingScope };

/**
 * A tool as in Anthropic's API; other fields (such as `cache_control`) go to APIs that support
 * them.
 */
export interface ToolDeclaration {
  readonly name: string;
  readonly description?: string;
  /** JSON Schema; absent for the vendor's server tools. */
  readonly input_schema?: Readonly<Record<string, unknown>>;
  readonly [field: string]: unknown;
}

export type ToolChoice = 'auto' | 'none' | 'required' | { readonly name: string };

export interface ApiRequest {
  readonly system?: string | readonly TextBlock[];
  readonly messages: readonly ApiMessage[];
  readonly tools?: readonly ToolDeclaration[];
  readonly toolChoice?: ToolChoice;
  /** Default: the model's limit, or 8192 if the vendor requires one. */
  readonly maxOutputTokens?: number;
  readonly temperature?: number;
  /** Thinking budget; absent for no thinking. Anthropic requires at least 1024. */
  readonly thinkingTokens?: number;
  /**
   * An ID of up to 64 characters that leads a conversation's requests to the same cache (OpenAI's
   * `prompt_cache_key`, OpenRouter's `session_id`).
   */
  readonly conversation?: string;
  /** Requests the vendor's own summary; requires {@link ApiHandler.compacts}. */
  readonly compact?: true;
  /** The vendor's own fields, such as `reasoning_effort`. */
  readonly extraBody?: Readonly<Record<string, unknown>>;
}

export const DEFAULT_MAX_OUTPUT_TOKENS = 8192;

/** A stream yields text as it arrives, calls when complete, and `end` last; otherwise it throws. */
export type ApiEvent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly text: string }
  /**
   * A complete block to send back unchanged, such as signed thinking. Its text was already emitted.
   */
  | { readonly type: 'block'; readonly block: Block }
  | {
      readonly type: 'tool_call';
      readonly id: string;
      readonly name: string;
      readonly input: Readonly<Record<string, unknown>>;
      /**
       * The arguments exactly as the model wrote them, to be sent back to OpenAI-compatible
       * vendors.
       */
      readonly rawArguments: string;
    }
  /** Usage of the whole call so far; replaces that of earlier `usage` events. */
  | { readonly type: 'usage'; readonly usage: Usage }
  | {
      readonly type: 'end';
      readonly stopReason: StopReason;
      readonly thinkingScope?: ThinkingScope;
    };

export interface ModelInfo {
  readonly vendor: Vendor;
  readonly id: string;
  readonly accounting: UsageAccounting;
  /** Input and output together, in tokens. */
  readonly contextWindow?: number;
  readonly maxOutputTokens?: number;
}

/** Calls a model. Has no state between calls, so it can be shared. */
export interface ApiHandler {
  readonly modelInfo: ModelInfo;
  readonly compacts?: boolean;
  /**
   * Leaving the loop or aborting the signal closes the connection.
   * @throws {ApiError} and nothing else
   */
  stream(request: ApiRequest, signal?: AbortSignal): AsyncIterable<ApiEvent>;
  /**
   * Absent if the endpoint has no model list.
   * @throws {ApiError}
   */
  readonly listModels?: (signal?: AbortSignal) => Promise<readonly ListedModel[]>;
}
