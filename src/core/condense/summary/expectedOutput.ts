/**
 * In o200k tokens. The prompt asks for 1,500 words at most. Summaries of short conversations are
 * little shorter, because they fill the same sections.
 */
const MAX_EXPECTED_TOKENS = 2_000;
const MIN_EXPECTED_TOKENS = 700;
const EXPECTED_INPUT_SHARE = 0.13;

/** @param inputTokens o200k tokens of the request */
export const getDefaultOutputTokens = (inputTokens: number): number =>
  Math.min(MAX_EXPECTED_TOKENS, MIN_EXPECTED_TOKENS + EXPECTED_INPUT_SHARE * inputTokens);

/** Models stay below a limit in words, and write less if there is less to say. */
const EXPECTED_LIMIT_SHARE = 0.8;
const MIN_CONTENT_SUMMARY_TOKENS = 20;
const EXPECTED_CONTENT_SHARE = 0.35;

/** @param askedTokens limit of the reply in o200k tokens */
const getDefaultContentTokens = (inputTokens: number, askedTokens: number): number =>
  Math.min(EXPECTED_LIMIT_SHARE * askedTokens, MIN_CONTENT_SUMMARY_TOKENS + EXPECTED_CONTENT_SHARE * inputTokens);

/** By the model's tokenizer. */
export interface OutputSample {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** For a summary of one content: its limit in o200k tokens. */
  readonly askedTokens?: number;
}

/** In runs: weight of the start value. */
const PRIOR_WEIGHT_RUNS = 1;
/** As a natural logarithm: difference in input at which a run's weight has halved. */
const HALF_WEIGHT_LOG_DISTANCE = 0.3;

/**
 * Long contents reach their limit and short ones have little to say, so runs of similar length
 * predict best.
 */
const getWeight = (inputTokens: number, sample: OutputSample): number =>
  1 / (1 + (Math.log(inputTokens / sample.inputTokens) / HALF_WEIGHT_LOG_DISTANCE) ** 2);

/**
 * The geometric mean of earlier runs' ratios limits the effect of one long reply.
 * @param tokenFactor the model's tokens per o200k token
 * @param askedTokens for a single content's summary: its limit in o200k tokens
 * @returns the model's tokens
 */
export function estimateOutputTokens(
  inputTokens: number,
  samples: readonly OutputSample[],
  tokenFactor = 1,
  askedTokens?: number,
): number {
  const start = (tokens: number, asked: number | undefined): number =>
    tokenFactor *
    (asked === undefined
      ? getDefaultOutputTokens(tokens / tokenFactor)
      : getDefaultContentTokens(tokens / tokenFactor, asked));
  let weights = PRIOR_WEIGHT_RUNS;
  let logs = 0;
  for (const sample of selectSamples(samples, askedTokens)) {
    const weight = getWeight(inputTokens, sample);
    weights += weight;
    logs += weight * Math.log(sample.outputTokens / start(sample.inputTokens, sample.askedTokens));
  }
  return Math.round(start(inputTokens, askedTokens) * Math.exp(logs / weights));
}

/** Summaries of single contents predict no others. */
export const selectSamples = (samples: readonly OutputSample[], askedTokens: number | undefined): OutputSample[] =>
  samples.filter(
    (sample) =>
      sample.outputTokens > 0 &&
      sample.inputTokens > 0 &&
      (sample.askedTokens === undefined) === (askedTokens === undefined),
  );

export const createPlaceholder = (tokens: number): string =>
  Array.from({ length: Math.max(1, tokens) }, () => 'word').join(' ');
