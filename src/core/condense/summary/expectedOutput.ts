/**
 * In o200k tokens. The prompt asks for 1,500 words at most; real agents' summaries of full windows
 * have 1,300 to 2,700 tokens. Even short conversations fill most sections.
 */
const MAX_EXPECTED_TOKENS = 2_000;
const MIN_EXPECTED_TOKENS = 700;
const EXPECTED_INPUT_SHARE = 0.13;

export const getDefaultOutputTokens = (inputTokens: number): number =>
  Math.min(MAX_EXPECTED_TOKENS, MIN_EXPECTED_TOKENS + EXPECTED_INPUT_SHARE * inputTokens);

/** Expected share of the limit, because models write less if there is less to say. */
const EXPECTED_LIMIT_SHARE = 0.8;
const MIN_CONTENT_SUMMARY_TOKENS = 20;
const EXPECTED_CONTENT_SHARE = 0.35;

const getDefaultContentSummaryTokens = (inputTokens: number, askedTokens: number): number =>
  Math.min(EXPECTED_LIMIT_SHARE * askedTokens, MIN_CONTENT_SUMMARY_TOKENS + EXPECTED_CONTENT_SHARE * inputTokens);

/** Tokens of a call, counted by the model's tokenizer. */
export interface OutputSample {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Limit in o200k tokens of a single content's summary; absent for a conversation's summary. */
  readonly askedTokens?: number;
}

/** The default estimate weighs as much as this many runs. */
const PRIOR_WEIGHT_RUNS = 1;
/** At this difference in input, as a natural logarithm, a run's weight has halved. */
const HALF_WEIGHT_LOG_DISTANCE = 0.3;

/**
 * Long contents reach their limit and short ones have little to say, so runs of similar length
 * predict best.
 */
const getSampleWeight = (inputTokens: number, sample: OutputSample): number =>
  1 / (1 + (Math.log(inputTokens / sample.inputTokens) / HALF_WEIGHT_LOG_DISTANCE) ** 2);

/**
 * Uses a geometric mean to limit the effect of one long reply.
 * @param askedTokens as in {@link OutputSample}
 * @returns the model's tokens
 */
export function estimateOutputTokens(
  inputTokens: number,
  samples: readonly OutputSample[],
  tokenFactor = 1,
  askedTokens?: number,
): number {
  const computeDefaultTokens = (tokens: number, requestedTokens: number | undefined): number =>
    tokenFactor *
    (requestedTokens === undefined
      ? getDefaultOutputTokens(tokens / tokenFactor)
      : getDefaultContentSummaryTokens(tokens / tokenFactor, requestedTokens));
  let totalWeight = PRIOR_WEIGHT_RUNS;
  let weightedLogSum = 0;
  for (const sample of selectSimilarSamples(samples, askedTokens)) {
    const weight = getSampleWeight(inputTokens, sample);
    totalWeight += weight;
    weightedLogSum +=
      weight * Math.log(sample.outputTokens / computeDefaultTokens(sample.inputTokens, sample.askedTokens));
  }
  return Math.round(computeDefaultTokens(inputTokens, askedTokens) * Math.exp(weightedLogSum / totalWeight));
}

/** Summaries of single contents do not predict those of conversations. */
export const selectSimilarSamples = (
  samples: readonly OutputSample[],
  askedTokens: number | undefined,
): OutputSample[] =>
  samples.filter(
    (sample) =>
      sample.outputTokens > 0 &&
      sample.inputTokens > 0 &&
      (sample.askedTokens === undefined) === (askedTokens === undefined),
  );

export const createPlaceholderText = (tokens: number): string =>
  Array.from({ length: Math.max(1, tokens) }, () => 'word').join(' ');
