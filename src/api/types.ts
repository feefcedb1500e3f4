/**
 * The question to a model and its answer, the same for every vendor. A handler converts from the core's message model
 * to the vendor's wire form and back; nobody above it knows an SDK.
 */
import type { Usage, UsageAccounting } from '../core/cost/usage';
import type { ApiMessage, Block, TextBlock } from '../core/messages/types';
import type { ThinkingScope } from '../core/vendors/families';
import type { Vendor } from '../core/vendors/vendors';
import type { ModelOfVendor } from './modelList';

export type { Usage, UsageAccounting, Vendor };

/** Why the model stopped. `other`: a reason that we don't know. */
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

/** Which thinking of earlier answers is input of a request: what stands before the user's last words may cost nothing. */
export type { ThinkingScope };

/** A tool as Anthropic's API declares it; fields that we don't know (such as `cache_control`) go where they are understood. */
export interface ToolDeclaration {
  readonly name: string;
  readonly description?: string;
  /** JSON Schema of the input. Absent for the vendor's own (server) tools. */
  readonly input_schema?: Readonly<Record<string, unknown>>;
  readonly [field: string]: unknown;
}

export type ToolChoice = 'auto' | 'none' | 'required' | { readonly name: string };

export interface ApiRequest {
  /** The system prompt; blocks where a part carries `cache_control`. */
  readonly system?: string | readonly TextBlock[];
  readonly messages: readonly ApiMessage[];
  readonly tools?: readonly ToolDeclaration[];
  readonly toolChoice?: ToolChoice;
  /** Tokens that the model may write at most. Default: the model's own limit; where the vendor wants one, else 8192. */
  readonly maxOutputTokens?: number;
  readonly temperature?: number;
  /** Tokens that the model may think, for vendors that take a budget (Anthropic: at least 1024). Absent: no thinking. */
  readonly thinkingTokens?: number;
  /**
   * Names the conversation, at most 64 characters: requests of one go where their cache is (OpenAI's `prompt_cache_key`,
   * OpenRouter's `session_id`). Says nothing of what the conversation is about.
   */
  readonly conversation?: string;
  /** Asks for the vendor's own summary of the conversation in the place of an answer; only where {@link ApiHandler.compacts}. */
  readonly compact?: true;
  /** Fields of the vendor's own that are sent as they are, such as `reasoning_effort`. */
  readonly extraBody?: Readonly<Record<string, unknown>>;
}

/** The default of {@link ApiRequest.maxOutputTokens}, in tokens. */
export const DEFAULT_MAX_OUTPUT_TOKENS = 8192;

/** One thing that happens while the model answers. A stream that ended well ends with `end`; all others throw. */
export type ApiEvent =
  /** The next piece of the answer's text. */
  | { readonly type: 'text'; readonly text: string }
  /** The next piece of what the model thinks (or of the summary of it that the vendor shows). */
  | { readonly type: 'thinking'; readonly text: string }
  /**
   * A whole block that must go back unchanged with the next request: thinking with its signature, encrypted reasoning, a
   * server tool's call or result. Its text was told before, piece by piece.
   */
  | { readonly type: 'block'; readonly block: Block }
  | {
      readonly type: 'tool_call';
      readonly id: string;
      readonly name: string;
      readonly input: Readonly<Record<string, unknown>>;
      /** The arguments as the model wrote them; OpenAI's vendors get them back byte for byte. */
      readonly rawArguments: string;
    }
  /** Tokens so far; replaces what an earlier `usage` of the same stream said. */
  | { readonly type: 'usage'; readonly usage: Usage }
  | {
      readonly type: 'end';
      readonly stopReason: StopReason;
      /** Which of its earlier thinking the model reads again, where it says so. */
      readonly thinkingScope?: ThinkingScope;
    };

/** A model as far as it is known; prices belong to the profile. */
export interface ModelInfo {
  readonly vendor: Vendor;
  readonly id: string;
  readonly accounting: UsageAccounting;
  /** Input and output together, in tokens. */
  readonly contextWindow?: number;
  /** Tokens of one answer at most. */
  readonly maxOutputTokens?: number;
}

export interface TokenCount {
  readonly tokens: number;
  /** Counted by the vendor; else estimated here. */
  readonly exact: boolean;
}

/** Calls a model. Safe to share: it holds no state of a call. */
export interface ApiHandler {
  readonly modelInfo: ModelInfo;
  /** The vendor can sum up a conversation itself; see {@link ApiRequest.compact}. */
  readonly compacts?: boolean;
  /**
   * Asks the model. Breaking out of the loop, or aborting the signal, closes the connection.
   * @throws {ApiError} whatever goes wrong; nothing else is thrown
   */
  stream(request: ApiRequest, signal?: AbortSignal): AsyncIterable<ApiEvent>;
  /**
   * Input tokens of a request.
   * @throws {ApiError}
   */
  countTokens(request: ApiRequest, signal?: AbortSignal): Promise<TokenCount>;
  /**
   * Lists the endpoint's models; absent where it has no such list.
   * @throws {ApiError}
   */
  readonly listModels?: (signal?: AbortSignal) => Promise<readonly ModelOfVendor[]>;
}
