/**
 * How vendors say that a request doesn't fit the model's window; there is no common code. Each with the words that it is
 * made for.
 */
const PATTERNS: readonly RegExp[] = [
  // Anthropic, Vertex: "prompt is too long: 214850 tokens > 200000 maximum"
  // Anthropic: "input length and `max_tokens` exceed context limit: 190000 + 16000 > 200000, decrease …"
  /prompt is too long/i,
  /exceed context limit/i,
  // Anthropic, 200K to 1M: "Extra usage is required for long context requests" (opencode#18853), also "The long context beta …"
  /long context (?:requests|beta)/i,
  // Bedrock: "Input is too long for requested model."
  /input is too long/i,
  // OpenAI, Azure, vLLM, OpenRouter: "This model's maximum context length is 8192 tokens. However, …" (earendil-works/pi#5929)
  /maximum context length/i,
  // OpenAI Responses: "Your input exceeds the context window of this model."
  /exceeds the (?:model's )?context window/i,
  // llama.cpp: "request (124315 tokens) exceeds the available context size (123904 tokens)" (arbs-io/github-copilot-llm-gateway#55)
  /available context size/i,
  // LM Studio: "Trying to keep the first 111490 tokens when context the overflows." (lmstudio-bug-tracker#237, #546)
  /context the overflows|context size has been exceeded/i,
  // LM Studio: "The number of tokens to keep from the initial prompt is greater than the context length"
  /greater than the context length/i,
  // Ollama: "the input length exceeds the context length"
  /exceeds the context length/i,
  // vLLM: "The decoder prompt (length 5000) is longer than the maximum model length of 4096"
  /longer than the maximum model length/i,
  // xAI: "This model's maximum prompt length is 131072 but the request contains 537812 tokens"
  /maximum prompt length/i,
  // Gemini: "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)"
  /input token count .*exceeds the maximum/i,
  // Groq: "Please reduce the length of the messages or completion."
  /reduce the length of the messages/i,
  // OpenAI, 429, where one request has more than the account's limit per minute: "Request too large for gpt-4o … on tokens
  // per min (TPM): Limit 30000, Requested 43245. The input or output tokens must be reduced in order to run successfully."
  /request too large for|tokens must be reduced/i,
  // Copilot's models in VS Code: "Message exceeds token limit."
  /exceeds token limit|token limit exceeded/i,
];

/** OpenAI's and llama.cpp's codes for it. */
const CODES = new Set<unknown>([
  'context_length_exceeded',
  'exceed_context_size_error',
  'model_max_prompt_tokens_exceeded',
]);

/** @param codes the error's `code` and `type`, where it has them */
export const isContextTooLong = (message: string, ...codes: readonly unknown[]): boolean =>
  codes.some((code) => CODES.has(code)) || PATTERNS.some((pattern) => pattern.test(message));
