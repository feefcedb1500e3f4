export type ThinkingScope = 'current_turn' | 'all_turns';

/**
 * Facts about a model, wherever it is hosted. Profiles, the price table and vendors' lists take
 * precedence.
 */
export interface ModelFamily {
  readonly models: RegExp;
  /** Model tokens per o200k token until usage is reported. Undefined: about 1, or not measured. */
  readonly tokenFactor?: number;
  /**
   * Earlier thinking that the model reads (and that is billed) again; undefined: all that the
   * vendor passes on. Up to Claude Sonnet 4.5, Opus 4.1 and Haiku 4.5, Anthropic drops the thinking
   * of earlier turns (API guide, "Thinking block preservation by model").
   */
  readonly thinkingScope?: ThinkingScope;
  /** OpenAI accepts the model's tools only on the Responses API, unless reasoning is disabled. */
  readonly toolsOnResponsesOnly?: boolean;
  /**
   * Calls of the open turn must be sent with their thinking (Google's guide "Thought signatures").
   */
  readonly callsNeedThinking?: boolean;
  /**
   * `adaptive`: the model chooses how much to think. `unasked`: it also thinks if the request
   * doesn't ask for it, and binds thinking to what preceded it. Undefined: a budget, or no
   * thinking.
   */
  readonly thinking?: 'adaptive' | 'unasked';
  /** Anthropic's compaction supports the model (guide "Compaction on demand", supported models). */
  readonly compacts?: boolean;
  readonly seesImages?: boolean;
  /** Input and output together, in tokens. */
  readonly contextWindow?: number;
  readonly maxOutputTokens?: number;
}

const THOUSAND = 1_000;

/** Assumed for an unknown model until a rejection states its window. */
export const ASSUMED_WINDOW_TOKENS = 128 * THOUSAND;

/**
 * The first match counts. Token factors: public counts of the same text (sammcj/ingest#65,
 * AutoGPT#13629). Windows, limits and image support: the vendors' model pages, Anthropic's
 * migration guide for Opus 5.5, and OpenAI's page of gpt-6.2-sol.
 */
const MODEL_FAMILIES: readonly ModelFamily[] = [
  {
    models: /claude.*(?:opus|sonnet|haiku|fable|mythos)-[5-9](?!\d)/i,
    tokenFactor: 1.5,
    thinking: 'unasked',
    compacts: true,
    seesImages: true,
    contextWindow: 1_000 * THOUSAND,
    maxOutputTokens: 128 * THOUSAND,
  },
  {
    models: /claude.*-4[._-]?(?:[7-9]|\d\d)(?!\d)/i,
    tokenFactor: 1.5,
    thinking: 'adaptive',
    compacts: true,
    seesImages: true,
    contextWindow: 1_000 * THOUSAND,
    maxOutputTokens: 128 * THOUSAND,
  },
  {
    models: /claude.*opus-4[.-]6/i,
    tokenFactor: 1.18,
    thinking: 'adaptive',
    compacts: true,
    seesImages: true,
    contextWindow: 1_000 * THOUSAND,
    maxOutputTokens: 128 * THOUSAND,
  },
  {
    models: /claude.*sonnet-4[.-]6/i,
    tokenFactor: 1.18,
    compacts: true,
    seesImages: true,
    contextWindow: 1_000 * THOUSAND,
    maxOutputTokens: 64 * THOUSAND,
  },
  {
    models: /claude.*opus-4(?:[.-][01])?(?!\d|[.-]\d(?!\d))/i,
    tokenFactor: 1.18,
    seesImages: true,
    contextWindow: 200 * THOUSAND,
    maxOutputTokens: 32 * THOUSAND,
  },
  {
    models: /claude-3[.-]?5|claude-3-(?:opus|haiku)/i,
    tokenFactor: 1.18,
    seesImages: true,
    contextWindow: 200 * THOUSAND,
    maxOutputTokens: 4 * THOUSAND,
  },
  {
    models: /claude/i,
    tokenFactor: 1.18,
    seesImages: true,
    contextWindow: 200 * THOUSAND,
    maxOutputTokens: 64 * THOUSAND,
  },
  // Until 5.5 only reasoning after the last user message is read again (OpenAI's SDK,
  // `reasoning.context`).
  {
    models: /gpt-5\.[45](?!\d)(?!.*(?:mini|nano))/i,
    thinkingScope: 'current_turn',
    seesImages: true,
    contextWindow: 1_050 * THOUSAND,
    maxOutputTokens: 128 * THOUSAND,
  },
  {
    models: /gpt-5(?!\.(?:[6-9]|\d\d))(?!\d)/i,
    thinkingScope: 'current_turn',
    seesImages: true,
    contextWindow: 400 * THOUSAND,
    maxOutputTokens: 128 * THOUSAND,
  },
  {
    models: /gpt-(?:[5-9]|\d\d)/i,
    toolsOnResponsesOnly: true,
    seesImages: true,
    contextWindow: 1_050 * THOUSAND,
    maxOutputTokens: 128 * THOUSAND,
  },
  {
    models: /(?:^|\/)o[134](?!-mini)(?!\d)/i,
    thinkingScope: 'current_turn',
    seesImages: true,
    contextWindow: 200 * THOUSAND,
    maxOutputTokens: 100 * THOUSAND,
  },
  { models: /gpt-4\.1/i, seesImages: true, contextWindow: 1_047_576, maxOutputTokens: 32_768 },
  { models: /gpt-4o/i, seesImages: true, contextWindow: 128 * THOUSAND, maxOutputTokens: 16_384 },
  { models: /gpt-oss/i, seesImages: false, contextWindow: 131_072 },
  { models: /gpt-3\.5|o[13]-mini/i, seesImages: false },
  {
    models: /gemini-(?:[3-9]|\d\d)/i,
    callsNeedThinking: true,
    seesImages: true,
    contextWindow: 1_048_576,
    maxOutputTokens: 65_536,
  },
  { models: /gemini-2\.5/i, seesImages: true, contextWindow: 1_048_576, maxOutputTokens: 65_536 },
  // api-docs.deepseek.com/quick_start/pricing: only Flash supports images.
  { models: /deepseek-flash/i, seesImages: true, contextWindow: 1_000 * THOUSAND, maxOutputTokens: 384 * THOUSAND },
  { models: /deepseek-v4/i, seesImages: false, contextWindow: 1_000 * THOUSAND, maxOutputTokens: 384 * THOUSAND },
  // A separate "v" or "vl" in the name means image support.
  {
    models:
      /(?:qwen|glm|deepseek|llama|phi|internlm|minimax|step|ernie)[\w.:-]*(?:vl|vision|[-.\d]v\b|omni)|pixtral|llava|llama-?4/i,
    seesImages: true,
  },
  {
    models:
      /deepseek|qwen-?\d*(?:\.\d)?-?coder|glm-\d|codestral|devstral|minimax-m2(?!\d)|kimi-k2(?!\.[5-9])|llama-?3|grok-code/i,
    seesImages: false,
  },
];

export const findModelFamily = (model: string | undefined): ModelFamily | undefined =>
  model === undefined ? undefined : MODEL_FAMILIES.find(({ models }) => models.test(model));

export const isKnownModel = (model: string): boolean => findModelFamily(model) !== undefined;

export const getTokenizerFactor = (model: string | undefined): number => findModelFamily(model)?.tokenFactor ?? 1;
