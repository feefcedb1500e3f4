/**
 * Vendors' messages and statuses for prompts that are too long, and similar ones with another
 * meaning. Each has its source: documentation, source code, or a user's report.
 */

/** Number of sent tokens and the limit, in vendor tokens. */
export interface Overflow {
  readonly tokens: number;
  readonly limit: number;
  /** Requested output tokens; 0 if none. */
  readonly output: number;
}

export interface VendorAnswer {
  readonly status: number;
  readonly contentType?: string;
  /** The raw body. */
  readonly body: (overflow: Overflow) => string;
  /** True if the requested output counts, too. */
  readonly countsOutput?: boolean;
  readonly source: string;
}

const json = (value: unknown): string => JSON.stringify(value);
const makeOpenAIError = (message: string, more: object = {}): string =>
  json({ error: { message, type: 'invalid_request_error', param: null, code: null, ...more } });
const makeAnthropicError = (message: string, type = 'invalid_request_error'): string =>
  json({ type: 'error', error: { type, message }, request_id: 'req_0' });

export const TOO_LONG = {
  anthropic: {
    status: 400,
    body: ({ tokens, limit }) => makeAnthropicError(`prompt is too long: ${tokens} tokens > ${limit} maximum`),
    source: 'microsoft/vscode#293191',
  },
  anthropicWithOutput: {
    status: 400,
    body: ({ tokens, limit, output }) =>
      makeAnthropicError(
        `input length and \`max_tokens\` exceed context limit: ${tokens} + ${output} > ${limit}, decrease input length or \`max_tokens\` and try again`,
      ),
    countsOutput: true,
    source: 'continuedev/continue#6080',
  },
  openaiChat: {
    status: 400,
    body: ({ tokens, limit }) =>
      makeOpenAIError(
        `This model's maximum context length is ${limit} tokens. However, your messages resulted in ${tokens} tokens (${tokens - 101} in the messages, 101 in the functions). Please reduce the length of the messages or functions.`,
        { param: 'messages', code: 'context_length_exceeded' },
      ),
    source: 'bytedance/deer-flow#310',
  },
  openaiResponses: {
    status: 400,
    body: () =>
      makeOpenAIError('Your input exceeds the context window of this model. Please adjust your input and try again.', {
        param: 'input',
        code: 'context_length_exceeded',
      }),
    source: 'earendil-works/pi, packages/ai/src/utils/overflow.ts',
  },
  copilot: {
    status: 400,
    body: ({ tokens, limit }) =>
      json({
        error: {
          message: `prompt token count of ${tokens} exceeds the limit of ${limit}`,
          code: 'model_max_prompt_tokens_exceeded',
        },
      }),
    source: 'microsoft/copilot-intellij-feedback#94, microsoft/vscode#289514',
  },
  copilotWithoutCode: {
    status: 400,
    body: ({ tokens, limit }) =>
      json({
        error: {
          message: `prompt token count of ${tokens} exceeds the limit of ${limit}`,
          param: '',
          code: '',
          type: '',
        },
      }),
    source: 'jjleng/copilot-more#35',
  },
  openrouter: {
    status: 400,
    body: ({ tokens, limit }) =>
      json({
        error: {
          message: `This endpoint's maximum context length is ${limit} tokens. However, you requested about ${tokens} tokens (${tokens} of text input). Please reduce the length of either one, or use the "middle-out" transform to compress your prompt automatically.`,
          code: 400,
        },
      }),
    source: 'refly-ai/refly#1177',
  },
  poolside: {
    status: 400,
    body: ({ tokens, limit }) =>
      json({
        error: {
          message: 'Provider returned error',
          code: 400,
          metadata: {
            raw: json({
              error: { message: `Input length ${tokens} exceeds the maximum allowed input length of ${limit} tokens.` },
            }),
            provider_name: 'Poolside',
          },
        },
      }),
    source: 'earendil-works/pi, packages/ai/src/utils/overflow.ts',
  },
  kimi: {
    status: 400,
    body: ({ tokens, limit }) =>
      json({
        error: {
          message: `Invalid request: Your request exceeded model token limit: ${limit} (requested: ${tokens})`,
          type: 'invalid_request_error',
        },
      }),
    source: 'MoonshotAI/kimi-cli#2011',
  },
  minimax: {
    status: 400,
    // In the message, 2013 is the error code, not a number of tokens.
    body: () =>
      json({
        type: 'error',
        error: {
          type: 'invalid_request_error',
          message: 'invalid params, context window exceeds limit (2013)',
          http_code: '400',
        },
      }),
    source: 'MiniMax-AI/MiniMax-M2#119',
  },
  glm: {
    status: 400,
    body: () => json({ error: { code: '1261', message: 'Prompt exceeds max length' } }),
    source: 'docs.z.ai/api-reference/api-code',
  },
  glmCodingPlan: {
    status: 400,
    body: () => json({ error: { message: 'tokens in request more than max tokens allowed' } }),
    source: 'anomalyco/opencode#27629',
  },
  qwen: {
    status: 400,
    body: ({ limit }) =>
      json({
        error: {
          code: 'invalid_parameter_error',
          message: `<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, ${limit}]`,
          param: null,
          type: 'invalid_request_error',
        },
        request_id: '81a373d6-28bd-9968-8335-e22a2127c41b',
      }),
    source: 'agentscope-ai/QwenPaw#6255',
  },
  cerebras: {
    status: 400,
    body: ({ tokens, limit }) =>
      json({
        message: `Please reduce the length of the messages or completion. Current length is ${tokens} while limit is ${limit}`,
        type: 'invalid_request_error',
        param: 'messages',
        code: 'context_length_exceeded',
      }),
    source: 'cline/cline#5140, anomalyco/opencode#1551',
  },
  sglang: {
    status: 400,
    body: ({ tokens, limit }) =>
      json({
        object: 'error',
        message: `The input (${tokens} tokens) is longer than the model's context length (${limit} tokens).`,
        type: 'BadRequestError',
        param: null,
        code: 400,
      }),
    source: 'QwenLM/Qwen3#1321',
  },
  sglangOlder: {
    status: 400,
    body: ({ tokens, limit }) =>
      json({
        object: 'error',
        message: `Input length (${tokens} tokens) exceeds the maximum allowed length (${limit} tokens).`,
        type: 'BadRequestError',
        param: null,
        code: 400,
      }),
    source: 'sgl-project/sglang#4048',
  },
  together: {
    status: 422,
    body: ({ tokens, limit, output }) =>
      makeOpenAIError(
        `Input validation error: \`inputs\` tokens + \`max_new_tokens\` must be <= ${limit}. Given: ${tokens} \`inputs\` tokens and ${output} \`max_new_tokens\``,
        { param: 'max_tokens' },
      ),
    countsOutput: true,
    source: 'huggingface/text-generation-inference, router/src/validation.rs',
  },
  vllm: {
    status: 400,
    body: ({ tokens, limit, output }) =>
      json({
        object: 'error',
        message: `This model's maximum context length is ${limit} tokens. However, you requested ${tokens + output} tokens (${tokens} in the messages, ${output} in the completion). Please reduce the length of the messages or completion.`,
        type: 'BadRequestError',
        param: null,
        code: 400,
      }),
    countsOutput: true,
    source: 'vllm-project/vllm#20409',
  },
  vllmPrompt: {
    status: 400,
    body: ({ tokens, limit }) =>
      makeOpenAIError(
        `The decoder prompt (length ${tokens}) is longer than the maximum model length of ${limit}. Make sure that \`max_model_len\` is no smaller than the number of text tokens plus multimodal tokens.`,
        { type: 'BadRequestError', code: 400 },
      ),
    source: 'Gabesarch/grounded-rl#16',
  },
  llamaCpp: {
    status: 400,
    body: ({ tokens, limit }) =>
      json({
        error: {
          code: 400,
          message: `request (${tokens} tokens) exceeds the available context size (${limit} tokens), try increasing it`,
          type: 'exceed_context_size_error',
          n_prompt_tokens: tokens,
          n_ctx: limit,
        },
      }),
    source: 'ggml-org/llama.cpp, tools/server',
  },
  lmStudio: {
    status: 400,
    body: ({ tokens, limit }) =>
      json({
        error: `Trying to keep the first ${tokens} tokens when context the overflows. However, the model is loaded with context length of only ${limit} tokens, which is not enough. Try to load the model with a larger context length, or provide a shorter input.`,
      }),
    source: 'cline/cline#3664',
  },
  ollama: {
    status: 400,
    body: ({ tokens, limit }) =>
      makeOpenAIError(`prompt too long; exceeded max context length by ${tokens - limit} tokens`, {
        type: 'api_error',
      }),
    source: 'earendil-works/pi, packages/ai/src/utils/overflow.ts; most installations cut without a word',
  },
  bedrock: {
    status: 400,
    body: ({ tokens, limit }) =>
      json({
        message: `The model returned the following errors: prompt is too long: ${tokens} tokens > ${limit} maximum`,
      }),
    source: 'daisuke-awaji/moca#254',
  },
  bedrockOthers: {
    status: 400,
    body: () => json({ message: 'Input is too long for requested model.' }),
    source: 'aws-samples/bedrock-chat#95',
  },
  gemini: {
    status: 400,
    // The OpenAI-compatible endpoint wraps the error in a list.
    body: ({ tokens, limit }) =>
      json([
        {
          error: {
            code: 400,
            message: `The input token count (${tokens}) exceeds the maximum number of tokens allowed (${limit}).`,
            status: 'INVALID_ARGUMENT',
          },
        },
      ]),
    source: 'google-gemini/gemini-cli#7410 for the list',
  },
  mistral: {
    status: 400,
    body: ({ tokens, limit }) =>
      json({
        object: 'error',
        message: `Prompt contains ${tokens} tokens and 0 draft tokens, too large for model with ${limit} maximum context length`,
        type: 'invalid_request_prompt',
        param: null,
        code: '3051',
      }),
    source: 'earendil-works/pi, packages/ai/src/utils/overflow.ts',
  },
  deepseek: {
    status: 400,
    body: ({ tokens, limit, output }) =>
      makeOpenAIError(
        `This model's maximum context length is ${limit} tokens. However, you requested ${tokens + output} tokens (${tokens} in the messages, ${output} in the completion). Please reduce the length of the messages or completion.`,
        { code: 'invalid_request_error' },
      ),
    countsOutput: true,
    source: 'evalstate/fast-agent#621',
  },
  groq: {
    status: 400,
    body: () =>
      makeOpenAIError('Please reduce the length of the messages or completion.', {
        param: 'messages',
        code: 'context_length_exceeded',
      }),
    source: 'OpenHands/OpenHands#1902',
  },
  xai: {
    status: 400,
    body: ({ tokens, limit }) =>
      json({
        code: 'Client specified an invalid argument',
        error: `This model's maximum prompt length is ${limit} but the request contains ${tokens} tokens.`,
      }),
    source: 'earendil-works/pi, packages/ai/src/utils/overflow.ts',
  },
  fireworks: {
    status: 400,
    body: ({ tokens, limit }) =>
      makeOpenAIError(`The prompt is too long: ${tokens}, model maximum context length: ${limit}`),
    source: 'anomalyco/models.dev#6508',
  },
  litellm: {
    status: 400,
    body: ({ tokens, limit }) =>
      makeOpenAIError(`Input length (${tokens}) exceeds model's maximum context length (${limit}).`),
    source: 'earendil-works/pi, packages/ai/src/utils/overflow.ts',
  },
  githubModels: {
    // Despite its status 413, this error is about tokens, not bytes.
    status: 413,
    body: ({ limit }) =>
      json({
        error: {
          code: 'tokens_limit_reached',
          message: `Request body too large for gpt-4o model. Max size: ${limit} tokens.`,
          details: '',
        },
      }),
    source: "users' reports of the code tokens_limit_reached",
  },
  ds4: {
    status: 400,
    body: ({ tokens, limit }) =>
      makeOpenAIError(`Prompt has ${tokens} tokens, but the configured context size is ${limit} tokens`),
    source: 'code search: error tables of three clients name it',
  },
} as const satisfies Readonly<Record<string, VendorAnswer>>;

export type TooLongVendor = keyof typeof TOO_LONG;

/** Returns a vendor's answer as {@link VendorAnswer}; the table's entries have narrower types. */
export const tooLongAnswer = (vendor: TooLongVendor): VendorAnswer => TOO_LONG[vendor];

/** Rejections that look similar, but don't mean that the prompt is too long. */
export const OTHER_ERRORS = {
  anthropicBytes: {
    status: 413,
    body: () => makeAnthropicError('Request exceeds the maximum size', 'request_too_large'),
    source: 'platform.claude.com/docs/en/api/errors: more than 32 MB',
  },
  proxyBytes: {
    status: 413,
    contentType: 'text/html',
    body: () =>
      '<html><head><title>413 Request Entity Too Large</title></head><body><center><h1>413 Request Entity Too Large</h1></center><hr><center>nginx</center></body></html>',
    source: "nginx's default page; client_max_body_size",
  },
  geminiBytes: {
    status: 400,
    body: () =>
      json([
        {
          error: {
            code: 400,
            message: 'Request payload size exceeds the limit: 20971520 bytes.',
            status: 'INVALID_ARGUMENT',
          },
        },
      ]),
    source: 'ai.google.dev/gemini-api/docs/file-input-methods',
  },
  groqTokensPerMinute: {
    status: 413,
    body: () =>
      makeOpenAIError(
        'Request too large for model `llama-3.3-70b-versatile` in organization `org_0` service tier `on_demand` on tokens per minute (TPM): Limit 12000, Requested 14137, please reduce your message size and try again.',
        { type: 'tokens', code: 'rate_limit_exceeded' },
      ),
    source: 'continuedev/continue#10218: larger than a minute allows, so no waiting helps',
  },
  bedrockThrottling: {
    status: 429,
    body: () => json({ message: 'Too many tokens, please wait before trying again.' }),
    source: 'earendil-works/pi, packages/ai/src/utils/overflow.ts: NON_OVERFLOW_PATTERNS',
  },
  anthropicOutput: {
    status: 400,
    body: () =>
      makeAnthropicError(
        'max_tokens: 200000 > 128000, which is the maximum allowed number of output tokens for claude-opus-5-5',
      ),
    source: 'ModelInfo.max_tokens of @anthropic-ai/sdk',
  },
  openaiOutput: {
    status: 400,
    body: () =>
      makeOpenAIError(
        'max_tokens is too large: 128000. This model supports at most 16384 completion tokens, whereas you provided 128000.',
        {
          param: 'max_tokens',
          code: 'invalid_value',
        },
      ),
    source: "users' reports of the code invalid_value",
  },
  groqOutput: {
    status: 400,
    body: () =>
      makeOpenAIError(
        '`max_tokens` must be less than or equal to `16384`, the maximum value for `max_tokens` is less than the `context_window` for this model',
      ),
    source: 'RooCodeInc/Roo-Code#5729',
  },
  qwenOutput: {
    status: 400,
    body: () =>
      makeOpenAIError('<400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, 65536]', {
        code: 'invalid_parameter_error',
      }),
    source: "Alibaba Cloud's list of error codes",
  },
  openrouterCredits: {
    status: 402,
    body: () =>
      json({
        error: {
          message:
            'This request requires more credits, or fewer max_tokens. You requested up to 65536 tokens, but can only afford 41202.',
          code: 402,
        },
      }),
    source: 'can1357/oh-my-pi#9569',
  },
} as const satisfies Readonly<Record<string, VendorAnswer>>;
