/**
 * How servers that speak OpenAI's Chat Completions differ. What is known of an address is the start; the rest is learned
 * from the server's own refusals, which say what they don't like.
 */
import type { ApiError } from './apiError';

export interface Dialect {
  /** OpenAI's newer models refuse `max_tokens`; Ollama and others silently ignore `max_completion_tokens`. */
  readonly maxTokensField: 'max_tokens' | 'max_completion_tokens';
  /** `stream_options: { include_usage: true }` is understood. */
  readonly streamOptions: boolean;
  /** Reasoning models refuse `temperature`. */
  readonly temperature: boolean;
  /** Some templates (Gemma's) have no system role. */
  readonly systemRole: boolean;
  /** Some templates (Mistral's, Gemma's) want user and assistant in turn. */
  readonly alternateRoles: boolean;
  /** OpenRouter passes `cache_control` on to Anthropic's models; OpenAI refuses it. */
  readonly cacheMarks: boolean;
}

const isHost = (url: URL, ...names: readonly string[]): boolean =>
  names.some((name) => url.hostname === name || url.hostname.endsWith(`.${name}`));

/** Whether an endpoint is one of Azure's (Microsoft's documents, "Azure OpenAI endpoints"). */
export const isAzure = (url: URL): boolean =>
  isHost(url, 'openai.azure.com', 'cognitiveservices.azure.com', 'services.ai.azure.com');

/** What a server is taken to understand before it has refused anything, by its host. */
export const dialectOf = (url: URL): Dialect => ({
  maxTokensField: isHost(url, 'api.openai.com') || isAzure(url) ? 'max_completion_tokens' : 'max_tokens',
  streamOptions: true,
  temperature: true,
  systemRole: true,
  alternateRoles: false,
  cacheMarks: isHost(url, 'openrouter.ai'),
});

/** What a refusal teaches; in each: the words that tell it. */
const LESSONS: readonly { readonly words: RegExp; readonly change: Partial<Dialect> }[] = [
  // OpenAI: "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
  { words: /'?max_tokens'?.*max_completion_tokens/i, change: { maxTokensField: 'max_completion_tokens' } },
  // Strict servers: "Extra inputs are not permitted: max_completion_tokens", "Unrecognized request argument supplied: …"
  { words: /max_completion_tokens/i, change: { maxTokensField: 'max_tokens' } },
  { words: /stream_options|include_usage/i, change: { streamOptions: false } },
  // OpenAI: "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported."
  { words: /temperature/i, change: { temperature: false } },
  // Gemma's template: "System role not supported"
  { words: /system (?:role|message).*not supported|not support.*system/i, change: { systemRole: false } },
  // Mistral's template: "Conversation roles must alternate user/assistant/user/assistant/..."
  { words: /roles must alternate|alternate between/i, change: { alternateRoles: true } },
  { words: /cache_control/i, change: { cacheMarks: false } },
];

/** The dialect that this refusal asks for; undefined where it teaches nothing new. */
export function learned(dialect: Dialect, error: ApiError): Dialect | undefined {
  const { vendorMessage = '' } = error.details;
  if (error.kind !== 'invalid-request' && error.kind !== 'server') return undefined;
  for (const { words, change } of LESSONS) {
    const next = { ...dialect, ...change };
    if (
      words.test(vendorMessage) &&
      Object.entries(change).some(([field, value]) => dialect[field as keyof Dialect] !== value)
    ) {
      return next;
    }
  }
  return undefined;
}
