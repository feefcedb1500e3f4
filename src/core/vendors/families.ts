/**
 * Facts about models by their names, wherever they are called (Claude at Anthropic, on Bedrock, through OpenRouter): how
 * their tokenizer differs from ours, whether they see images, how much they read and write. What a profile says, the price
 * table or a vendor's own list knows better comes first; a name that fits nowhere is not guessed at.
 */

export type ThinkingScope = 'current_turn' | 'all_turns';

export interface ModelFamily {
  readonly models: RegExp;
  /**
   * The model's tokens for one o200k token: a start value, which the usage that answers report corrects. Undefined: about
   * the same, or nobody measured it.
   */
  readonly tokenFactor?: number;
  /** Which of its earlier thinking it reads again (and bills); undefined: all. */
  readonly readsThinkingOf?: ThinkingScope;
  /** OpenAI takes its tools by the Responses API alone, unless it is told not to reason. */
  readonly toolsOnResponsesOnly?: boolean;
  /** Each call of the open turn must come back with what was thought before it (Google's guide "Thought signatures"). */
  readonly callsNeedThinking?: boolean;
  /**
   * `adaptive`: it decides by itself how much to think, and takes no budget. `unasked`: it does so without being asked, too, and
   * binds its thinking to what stood before it. Undefined: thinking takes a budget, or there is none.
   */
  readonly thinking?: 'adaptive' | 'unasked';
  /** Anthropic sums up conversations with it on request (guide "Compaction on demand", supported models). */
  readonly compacts?: boolean;
  /** Whether images can be sent. Undefined: not known. */
  readonly seesImages?: boolean;
  /** Input and output together, in tokens. */
  readonly contextWindow?: number;
  /** Tokens of one answer at most. */
  readonly maxOutputTokens?: number;
}

const K = 1_000;

/** The window that is taken for a model that nobody names one for, until a refusal names it. In tokens. */
export const ASSUMED_WINDOW = 128 * K;

/**
 * The first family that fits counts. Sources of the token factors: public counts of the same text (sammcj/ingest#65:
 * claude-sonnet-4-5 × 1.18, claude-opus-5 × 1.53; AutoGPT#13629: × 1.5 from 4.7 on). Windows, limits and eyes: the vendors' model
 * pages; Anthropic's migration guide for Opus 5.5 (window 1M and output 128K from 5 on); OpenAI's page of gpt-6.2-sol (1,050,000).
 */
const MODEL_FAMILIES: readonly ModelFamily[] = [
  {
    models: /claude.*(?:opus|sonnet|haiku|fable|mythos)-[5-9](?!\d)/i,
    tokenFactor: 1.5,
    thinking: 'unasked',
    compacts: true,
    seesImages: true,
    contextWindow: 1_000 * K,
    maxOutputTokens: 128 * K,
  },
  {
    models: /claude.*-4[._-]?(?:[7-9]|\d\d)(?!\d)/i,
    tokenFactor: 1.5,
    thinking: 'adaptive',
    compacts: true,
    seesImages: true,
    contextWindow: 1_000 * K,
    maxOutputTokens: 128 * K,
  },
  {
    models: /claude.*opus-4[.-]6/i,
    tokenFactor: 1.18,
    thinking: 'adaptive',
    compacts: true,
    seesImages: true,
    contextWindow: 1_000 * K,
    maxOutputTokens: 128 * K,
  },
  {
    models: /claude.*sonnet-4[.-]6/i,
    tokenFactor: 1.18,
    compacts: true,
    seesImages: true,
    contextWindow: 1_000 * K,
    maxOutputTokens: 64 * K,
  },
  {
    models: /claude.*opus-4(?:[.-][01])?(?!\d|[.-]\d(?!\d))/i,
    tokenFactor: 1.18,
    seesImages: true,
    contextWindow: 200 * K,
    maxOutputTokens: 32 * K,
  },
  {
    models: /claude-3[.-]?5|claude-3-(?:opus|haiku)/i,
    tokenFactor: 1.18,
    seesImages: true,
    contextWindow: 200 * K,
    maxOutputTokens: 4 * K,
  },
  { models: /claude/i, tokenFactor: 1.18, seesImages: true, contextWindow: 200 * K, maxOutputTokens: 64 * K },
  // Up to 5.5 only the reasoning behind the user's last words is read again (OpenAI's SDK, `reasoning.context`).
  {
    models: /gpt-5\.[45](?!\d)(?!.*(?:mini|nano))/i,
    readsThinkingOf: 'current_turn',
    seesImages: true,
    contextWindow: 1_050 * K,
    maxOutputTokens: 128 * K,
  },
  {
    models: /gpt-5(?!\.(?:[6-9]|\d\d))(?!\d)/i,
    readsThinkingOf: 'current_turn',
    seesImages: true,
    contextWindow: 400 * K,
    maxOutputTokens: 128 * K,
  },
  {
    models: /gpt-(?:[5-9]|\d\d)/i,
    toolsOnResponsesOnly: true,
    seesImages: true,
    contextWindow: 1_050 * K,
    maxOutputTokens: 128 * K,
  },
  {
    models: /(?:^|\/)o[134](?!-mini)(?!\d)/i,
    readsThinkingOf: 'current_turn',
    seesImages: true,
    contextWindow: 200 * K,
    maxOutputTokens: 100 * K,
  },
  { models: /gpt-4\.1/i, seesImages: true, contextWindow: 1_047_576, maxOutputTokens: 32_768 },
  { models: /gpt-4o/i, seesImages: true, contextWindow: 128 * K, maxOutputTokens: 16_384 },
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
  // api-docs.deepseek.com/quick_start/pricing: only Flash sees.
  { models: /deepseek-flash/i, seesImages: true, contextWindow: 1_000 * K, maxOutputTokens: 384 * K },
  { models: /deepseek-v4/i, seesImages: false, contextWindow: 1_000 * K, maxOutputTokens: 384 * K },
  // Names with a "v" or "vl" of their own are the ones that see.
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

/** The family of a model's id; undefined where its name says nothing. */
export const findFamily = (model: string | undefined): ModelFamily | undefined =>
  model === undefined ? undefined : MODEL_FAMILIES.find(({ models }) => models.test(model));

/** Whether its name says which family it belongs to. */
export const isKnownModel = (model: string): boolean => findFamily(model) !== undefined;

/** The model's tokens for one o200k token, before its answers have told; 1 where its name says nothing. */
export const tokenizerFactor = (model: string | undefined): number => findFamily(model)?.tokenFactor ?? 1;
