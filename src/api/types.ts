/**
 * Vendor-independent requests and answers. Handlers convert the core's message model to the wire
 * format and back, so nothing above them depends on an SDK.
 */
import type { Usage, UsageAccounting } from '../core/cost/usage';
import type { ApiMessage, Block, TextBlock } from '../core/messages/types';
import type { ThinkingScope } from '../core/vendors/families';
import type { Vendor } from '../core/vendors/vendors';
import type { ListedModel } from './modelList';

export type { Usage, UsageAccounting, Vendor };

/** `other`: an unknown reason. */
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

/**
 * Which thinking of earlier answers counts as input; what precedes the user's last message may be
 * free.
 */
export type { ThinkingScope };

/**
 * A tool in the form of Anthropic's API; unknown fields (such as `cache_control`) are sent to APIs
 * that support them.
 */
export interface ToolDeclaration {
  readonly name: string;
  readonly description?: string;
  /** JSON Schema of the input; absent for the vendor's server tools. */
  readonly input_schema?: Readonly<Record<string, unknown>>;
  readonly [field: string]: unknown;
}

export type ToolChoice = 'auto' | 'none' | 'required' | { readonly name: string };

export interface ApiRequest {
  /** System prompt; blocks if a part has `cache_control`. */
  readonly system?: string | readonly TextBlock[];
  readonly messages: readonly ApiMessage[];
  readonly tools?: readonly ToolDeclaration[];
  readonly toolChoice?: ToolChoice;
  /** Maximum output tokens. Default: the model's limit, or 8192 if the vendor requires one. */
  readonly maxOutputTokens?: number;
  readonly temperature?: number;
  /**
   * Thinking budget in tokens, for vendors that support one (Anthropic: at least 1024). Absent: no
   * thinking.
   */
  readonly thinkingTokens?: number;
  /**
   * Opaque ID of the conversation, up to 64 characters, so that its requests reach the same cache
   * (OpenAI's `prompt_cache_key`, OpenRouter's `session_id`).
   */
  readonly conversation?: string;
  /**
   * Requests the vendor's own summary instead of an answer; requires {@link ApiHandler.compacts}.
   */
  readonly compact?: true;
  /** Vendor-specific fields sent unchanged, such as `reasoning_effort`. */
  readonly extraBody?: Readonly<Record<string, unknown>>;
}

/** Default of {@link ApiRequest.maxOutputTokens}. */
export const DEFAULT_MAX_OUTPUT_TOKENS = 8192;

/** An event of an answer. A complete stream ends with `end`; otherwise it throws. */
export type ApiEvent =
  | { readonly type: 'text'; readonly text: string }
  /** The next piece of thinking, or of the vendor's summary of it. */
  | { readonly type: 'thinking'; readonly text: string }
  /**
   * A complete block to send back unchanged: signed thinking, encrypted reasoning, a server tool's
   * call or result. Its text was already emitted in pieces.
   */
  | { readonly type: 'block'; readonly block: Block }
  | {
      readonly type: 'tool_call';
      readonly id: string;
      readonly name: string;
      readonly input: Readonly<Record<string, unknown>>;
      /**
       * The arguments exactly as the model wrote them, which OpenAI-compatible vendors get back.
       */
      readonly rawArguments: string;
    }
  /** Tokens so far; replaces earlier `usage` events. */
  | { readonly type: 'usage'; readonly usage: Usage }
  | {
      readonly type: 'end';
      readonly stopReason: StopReason;
      /** Which earlier thinking the model reads again, if reported. */
      readonly thinkingScope?: ThinkingScope;
    };

/** Known properties of a model; prices are part of the profile. */
export interface ModelInfo {
  readonly vendor: Vendor;
  readonly id: string;
  readonly accounting: UsageAccounting;
  /** Input and output together, in tokens. */
  readonly contextWindow?: number;
  /** Maximum output tokens. */
  readonly maxOutputTokens?: number;
}

export interface TokenCount {
  readonly tokens: number;
  /** True if the vendor counted, false if estimated. */
  readonly exact: boolean;
}

/** Calls a model. Stateless between calls, so it can be shared. */
export interface ApiHandler {
  readonly modelInfo: ModelInfo;
  /** The vendor supports {@link ApiRequest.compact}. */
  readonly compacts?: boolean;
  /**
   * Leaving the loop or aborting the signal closes the connection.
   * @throws {ApiError} and nothing else
   */
  stream(request: ApiRequest, signal?: AbortSignal): AsyncIterable<ApiEvent>;
  /**
   * Input tokens.
   * @throws {ApiError}
   */
  countTokens(request: ApiRequest, signal?: AbortSignal): Promise<TokenCount>;
  /**
   * Absent if the endpoint has no model list.
   * @throws {ApiError}
   */
  readonly listModels?: (signal?: AbortSignal) => Promise<readonly ListedModel[]>;
}
