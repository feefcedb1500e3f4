/**
 * Each row quotes a vendor's message for a request that exceeds the window, and its source. Groups:
 * `tokens` counted, `limit` allowed, `over` excess.
 */

import { MAX_IMAGES_AT_FULL_SIZE, type RequestLimits } from '../core/vendors/requestLimits';

/** Sizes that a rejection names, in model tokens; absent if it doesn't say. */
export interface OverflowReport {
  readonly tokens?: number;
  readonly limit?: number;
  /** Limits of bytes or images, if these were exceeded instead of the tokens. */
  readonly weight?: ExceededBodyLimits;
}

export interface ExceededBodyLimits {
  readonly bytes?: number;
  /** Maximum base64 bytes of an image. */
  readonly imageBytes?: number;
  /** Maximum edge of an image, in pixels. */
  readonly edge?: number;
  /** Limits for requests with many images. */
  readonly manyImages?: NonNullable<RequestLimits['manyImages']>;
}

const TOO_LONG_MESSAGES: readonly RegExp[] = [
  // Anthropic, Vertex, Bedrock: "prompt is too long: 214850 tokens > 200000 maximum" (microsoft/vscode#293191)
  /prompt is too long(?:: (?<tokens>\d+) tokens > (?<limit>\d+))?/i,
  // Anthropic: "input length and `max_tokens` exceed context limit: 190000 + 16000 > 200000, decrease …" (continuedev/continue#6080)
  /exceed context limit(?:: (?<tokens>\d+) \+ \d+ > (?<limit>\d+))?/i,
  // Anthropic, 200K to 1M: "Extra usage is required for long context requests" (opencode#18853), also "The long context beta …"
  /long context (?:requests|beta)/i,
  // Fireworks: "The prompt is too long: 1048600, model maximum context length: 1048573" (models.dev#6508)
  /prompt is too long: (?<tokens>\d+), model maximum context length: (?<limit>\d+)/i,
  // Bedrock: "Input is too long for requested model." (aws-samples/bedrock-chat#95)
  /input is too long/i,
  // DeepSeek, vLLM: "… maximum context length is 131072 tokens. … (122942 in the messages, 8192 in
  // the completion)" (fast-agent#621, vllm#20409); the limit includes the answer.
  /maximum context length is (?<limit>\d+) tokens.*\((?<tokens>\d+) in the messages, \d+ in the completion/i,
  // OpenAI, Azure, vLLM: "… maximum context length is 128000 tokens. … resulted in 202868 tokens"
  // (deer-flow#310); OpenRouter: "… requested about 42832 tokens" (refly#1177)
  /maximum context length is (?<limit>\d+) tokens.*(?:resulted in|requested|requested about) (?<tokens>\d+) tokens/i,
  // LiteLLM: "Input length (N) exceeds model's maximum context length (M)."
  /input length \(?(?<tokens>\d+)\)? exceeds model's maximum context length \(?(?<limit>\d+)/i,
  // Mistral: "Prompt contains 65673 tokens and 0 draft tokens, too large for model with 32768 maximum context length"
  /prompt contains (?<tokens>\d+) tokens.*too large for model with (?<limit>\d+)/i,
  /maximum context length(?: is (?<limit>\d+))?/i,
  // OpenAI Responses: "Your input exceeds the context window of this model."
  /exceeds (?:the|this|the model's|this model's|model) context window/i,
  // llama.cpp: "request (124315 tokens) exceeds the available context size (123904 tokens)" (github-copilot-llm-gateway#55)
  /(?:request \((?<tokens>\d+) tokens\) exceeds the )?available context size(?: \((?<limit>\d+) tokens\))?/i,
  // LM Studio: "Trying to keep the first 10136 tokens when context the overflows. … context length
  // of only 7866 tokens" (cline#3664)
  /keep the first (?<tokens>\d+) tokens when context the overflows(?:.*context length of only (?<limit>\d+) tokens)?/i,
  /context the overflows|context size has been exceeded/i,
  // LM Studio: "The number of tokens to keep from the initial prompt is greater than the context length"
  /greater than the context length/i,
  // Ollama: "prompt too long; exceeded max context length by 4 tokens"; "the input length exceeds the context length"
  /prompt too long; exceeded max context length by (?<over>\d+)/i,
  /exceeds the context length/i,
  // vLLM: "The decoder prompt (length 10127) is longer than the maximum model length of 8192." (grounded-rl#16)
  /prompt \(length (?<tokens>\d+)\) is longer than the maximum model length of (?<limit>\d+)/i,
  // SGLang, Together: "The input (61709 tokens) is longer than the model's context length (40960 tokens)." (Qwen3#1321)
  /input \((?<tokens>\d+) tokens\) is longer than the model's context length \((?<limit>\d+)/i,
  // SGLang, Poolside: "Input length (160062 tokens) exceeds the maximum allowed length (59862
  // tokens)." (sglang#4048)
  /input length \(?(?<tokens>\d+)(?: tokens)?\)? exceeds the maximum (?:allowed )?(?:input )?length (?:of )?\(?(?<limit>\d+)/i,
  // Together, TGI: "`inputs` tokens + `max_new_tokens` must be <= 32769. Given: 40000 `inputs` tokens and …"
  /tokens \+ `?max_new_tokens`? must be <= (?<limit>\d+)\. Given: (?<tokens>\d+)/i,
  // xAI: "This model's maximum prompt length is 131072 but the request contains 537812 tokens"
  /maximum prompt length is (?<limit>\d+) but the request contains (?<tokens>\d+)/i,
  // Gemini: "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)"
  /input token count \(?(?<tokens>\d+)\)? exceeds the maximum number of tokens allowed(?: \((?<limit>\d+)\))?/i,
  // Cerebras: "Please reduce the length of the messages or completion. Current length is 69553 while limit is 65536" (cline#5140)
  /current length is (?<tokens>\d+) while limit is (?<limit>\d+)/i,
  // Groq: "Please reduce the length of the messages or completion." (OpenHands#1902)
  /reduce the length of the messages/i,
  // OpenAI and Groq, if one request exceeds the limit per minute, so waiting doesn't help: "Request
  // too large for gpt-4o … Limit 30000, Requested 43245. … tokens must be reduced …"
  /request too large for .*limit (?<limit>\d+), requested (?<tokens>\d+)/i,
  /request too large for|tokens must be reduced/i,
  // GitHub Models: "Request body too large for gpt-4o model. Max size: 8000 tokens."
  /request body too large.*max size: (?<limit>\d+) tokens/i,
  // Copilot: "prompt token count of 138898 exceeds the limit of 64000" (copilot-intellij-feedback#94, vscode#289514)
  /prompt token count of (?<tokens>\d+) exceeds the limit of (?<limit>\d+)/i,
  // Copilot's models in VS Code: "Message exceeds token limit." (vscode-copilot-release#1456)
  /exceeds token limit|token limit exceeded/i,
  // Kimi: "Your request exceeded model token limit: 262144 (requested: 269030)" (kimi-cli#2011)
  /exceeded model token limit(?:: (?<limit>\d+) \(requested: (?<tokens>\d+)\))?/i,
  // MiniMax: "invalid params, context window exceeds limit (2013)" (MiniMax-M2#119); 2013 is the
  // error's code.
  /context window exceeds limit/i,
  // GLM, Z.AI: "Prompt exceeds max length"; "tokens in request more than max tokens allowed" (opencode#27629)
  /prompt exceeds max length|tokens in request more than max tokens allowed/i,
  // Qwen, DashScope: "Range of input length should be [1, 983616]" (qwen-code#2068)
  /range of input length should be \[\d+, (?<limit>\d+)\]/i,
  // Error tables of three clients: "Prompt has N tokens, but the configured context size is M tokens"
  /prompt has (?<tokens>\d+) tokens, but the configured context size is (?<limit>\d+)/i,
];

/** Error codes: OpenAI, llama.cpp, Copilot, GitHub Models, GLM, Mistral. */
const TOO_LONG_CODES = new Set<unknown>([
  'context_length_exceeded',
  'exceed_context_size_error',
  'model_max_prompt_tokens_exceeded',
  'tokens_limit_reached',
  'model_context_window_exceeded',
  '1261',
  '3051',
]);

/**
 * Undefined if size was not the reason.
 * @param codes the error's `code` and `type`, if any
 */
export function findOverflow(message: string, ...codes: readonly unknown[]): OverflowReport | undefined {
  const matches = TOO_LONG_MESSAGES.map((words) => words.exec(message)).filter((match) => match !== null);
  const [firstMatch] = matches;
  if (!firstMatch) return codes.some((code) => TOO_LONG_CODES.has(code)) ? {} : undefined;
  // Some messages contain general words before exact ones, so the row with the most numbers wins.
  const { groups = {} } = matches.toSorted((a, b) => countMatchedNumbers(b) - countMatchedNumbers(a))[0] ?? firstMatch;
  const readNumber = (name: string): number | undefined =>
    groups[name] === undefined ? undefined : Number(groups[name]);
  const [tokens, limit] = [readNumber('tokens'), readNumber('limit')];
  return { ...(tokens !== undefined && { tokens }), ...(limit !== undefined && { limit }) };
}

const countMatchedNumbers = ({ groups = {} }: RegExpExecArray): number =>
  Object.values(groups).filter((value: string | undefined) => value !== undefined).length;

/**
 * Anthropic: "Request exceeds the maximum size" (32 MB). Gemini, 400: "Request payload size exceeds
 * the limit: 20971520 bytes."
 */
const TOO_MANY_BYTES_MESSAGE =
  /payload size exceeds|exceeds the maximum size|size of the request exceeds|too many total text bytes|request entity too large|payload too large/i;

const isTooManyBytes = (status: number | undefined, message: string, type: unknown): boolean =>
  status === 413 || type === 'request_too_large' || TOO_MANY_BYTES_MESSAGE.test(message);

/** "… exceeds the limit: 20971520 bytes", "The maximum request size is 32 MB", "… the maximum of 25000000 bytes" */
const BYTE_LIMIT_IN_MESSAGE = /(?:limit|maximum)\D{0,40}?(?<count>\d+)\s*(?<unit>bytes|[KM]i?B)\b/i;
const BYTES_PER_UNIT: Readonly<Record<string, number>> = {
  bytes: 1,
  kb: 1000,
  mb: 1_000_000,
  kib: 1024,
  mib: 1_048_576,
};

/**
 * Anthropic, for a single image that is too large: "image exceeds 5 MB maximum: 5316852 bytes >
 * 5242880 bytes" (claude-code#30967); "… image dimensions exceed max allowed size for many-image
 * requests: 2000 pixels" (claude-code#49720)
 */
const IMAGE_BYTES_MESSAGE = /image exceeds [^:]*maximum: \d+ bytes > (?<limit>\d+) bytes/i;
const IMAGE_EDGE_MESSAGE =
  /image dimensions exceed max allowed size(?<many> for many-image requests)?[^:]*: (?<limit>\d+) pixels/i;

export function findExceededBodyLimits(
  status: number | undefined,
  message: string,
  type: unknown,
): ExceededBodyLimits | undefined {
  const imageBytes = IMAGE_BYTES_MESSAGE.exec(message)?.groups?.['limit'];
  if (imageBytes !== undefined) return { imageBytes: Number(imageBytes) };
  const edgeGroups = IMAGE_EDGE_MESSAGE.exec(message)?.groups;
  if (edgeGroups) {
    const edge = Number(edgeGroups['limit']);
    return edgeGroups['many'] === undefined ? { edge } : { manyImages: { above: MAX_IMAGES_AT_FULL_SIZE, edge } };
  }
  if (!isTooManyBytes(status, message, type)) return undefined;
  const { count, unit } = BYTE_LIMIT_IN_MESSAGE.exec(message)?.groups ?? {};
  return count === undefined ? {} : { bytes: Number(count) * (BYTES_PER_UNIT[unit?.toLowerCase() ?? ''] ?? 1) };
}
