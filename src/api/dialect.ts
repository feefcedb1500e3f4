/**
 * Differences between servers of OpenAI's Chat Completions. The address decides the first dialect;
 * rejections teach the rest.
 */
import type { ReasoningFormat } from './chatReasoning';
import type { Quirk } from './quirks';

export interface ChatDialect {
  /**
   * Name of the field for the output limit. OpenAI's newer models reject `max_tokens`; Ollama and
   * others ignore `max_completion_tokens`.
   */
  readonly maxTokensField: 'max_tokens' | 'max_completion_tokens';
  readonly streamOptions: boolean;
  readonly temperature: boolean;
  /** Whether system messages are accepted: some chat templates (Gemma's) have no system role. */
  readonly systemRole: boolean;
  /** Whether roles must alternate, as in some chat templates (Mistral's, Gemma's). */
  readonly alternateRoles: boolean;
  /**
   * Whether `cache_control` is sent: OpenRouter passes it to Anthropic's models; OpenAI rejects it.
   */
  readonly cacheMarks: boolean;
  /** Name of the field that routes a conversation's requests to the same cache. */
  readonly conversationField: 'prompt_cache_key' | 'session_id' | undefined;
  /** Maximum output tokens, learned from a rejection. */
  readonly maxTokens: number;
  /** Reasoning models may require their reasoning back with calls; others may reject it. */
  readonly wantedReasoning: ReasoningFormat;
  /** Whether call IDs must have nine alphanumeric characters, as Mistral requires. */
  readonly shortIds: boolean;
}

const isAtHost = (url: URL, ...names: readonly string[]): boolean =>
  names.some((name) => url.hostname === name || url.hostname.endsWith(`.${name}`));

/** Source: Microsoft's documentation, "Azure OpenAI endpoints". */
export const isAzureUrl = (url: URL): boolean =>
  isAtHost(url, 'openai.azure.com', 'cognitiveservices.azure.com', 'services.ai.azure.com');

export const isOpenAIUrl = (url: URL): boolean => isAtHost(url, 'api.openai.com') || isAzureUrl(url);

export const chooseChatDialect = (url: URL): ChatDialect => ({
  maxTokensField: isOpenAIUrl(url) ? 'max_completion_tokens' : 'max_tokens',
  streamOptions: true,
  temperature: true,
  systemRole: true,
  alternateRoles: false,
  cacheMarks: isAtHost(url, 'openrouter.ai'),
  conversationField: isAtHost(url, 'openrouter.ai') ? 'session_id' : isOpenAIUrl(url) ? 'prompt_cache_key' : undefined,
  maxTokens: Number.POSITIVE_INFINITY,
  wantedReasoning: isAtHost(url, 'openrouter.ai') ? 'details' : 'nothing',
  shortIds: isAtHost(url, 'mistral.ai'),
});

export const CHAT_QUIRKS: readonly Quirk<ChatDialect>[] = [
  // OpenAI: "… supports at most 16384 completion tokens"; Groq: "`max_tokens` must be less than or
  // equal to `16384`"; Qwen: "Range of max_tokens should be [1, 65536]"
  {
    pattern:
      /supports at most (\d+) completion|max_(?:completion_)?tokens`? must be less than or equal to `?(\d+)|range of max_tokens should be \[\d+, (\d+)\]/i,
    change: ([, ...limits]) => ({ maxTokens: Number(limits.find((limit: string | undefined) => limit !== undefined)) }),
  },
  // OpenAI: "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
  { pattern: /'?max_tokens'?.*max_completion_tokens/i, change: { maxTokensField: 'max_completion_tokens' } },
  // Strict servers: "Extra inputs are not permitted: max_completion_tokens", "Unrecognized request argument supplied: …"
  { pattern: /max_completion_tokens/i, change: { maxTokensField: 'max_tokens' } },
  { pattern: /stream_options|include_usage/i, change: { streamOptions: false } },
  // OpenAI: "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported."
  { pattern: /temperature/i, change: { temperature: false } },
  // Gemma's template: "System role not supported"
  { pattern: /system (?:role|message).*not supported|not support.*system/i, change: { systemRole: false } },
  // Mistral's template: "Conversation roles must alternate user/assistant/user/assistant/..."
  { pattern: /roles must alternate|alternate between/i, change: { alternateRoles: true } },
  { pattern: /cache_control/i, change: { cacheMarks: false } },
  { pattern: /prompt_cache_key|session_id/i, change: { conversationField: undefined } },
  // Kimi: "… reasoning_content is missing in assistant tool call message". DeepSeek: "The
  // `reasoning_content` … must be passed back to the API."
  { pattern: /reasoning_content.*(?:missing|passed back)/i, change: { wantedReasoning: 'text' } },
  // Mistral: "Tool call id was toolu_01 but must be a-z, A-Z, 0-9, with a length of 9."
  { pattern: /tool call id .*length of 9/i, change: { shortIds: true } },
  // Gemini: "Function call is missing a thought_signature in functionCall parts."
  { pattern: /missing a `?thought_signature/i, change: { wantedReasoning: 'signatures' } },
];

export interface ResponsesDialect {
  readonly encryptedReasoning: boolean;
  readonly temperature: boolean;
  readonly cacheKey: boolean;
}

export const RESPONSES_DIALECT: ResponsesDialect = { encryptedReasoning: true, temperature: true, cacheKey: true };

export const RESPONSES_QUIRKS: readonly Quirk<ResponsesDialect>[] = [
  // gpt-4o: "Encrypted content is not supported with this model." (pydantic-ai#2865)
  { pattern: /encrypted content is not supported/i, change: { encryptedReasoning: false } },
  // OpenAI: "Unsupported parameter: 'temperature' is not supported with this model."
  { pattern: /temperature/i, change: { temperature: false } },
  { pattern: /prompt_cache_key/i, change: { cacheKey: false } },
];
