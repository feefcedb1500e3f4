/** How long a summary will be, before it is written. */

/**
 * A start value, in o200k tokens. The prompt asks for 1,500 words at most, which are about 2,000 tokens; real agents'
 * summaries of full windows lie around it (1,300 to 2,700 without what the model thought aloud). With sections to fill,
 * that of a short conversation is not much shorter.
 */
const FULL = 2_000;
const MIN = 700;
const SHARE = 0.13;

/** @param inputTokens o200k tokens of the request. */
export const defaultOutputTokens = (inputTokens: number): number => Math.min(FULL, MIN + SHARE * inputTokens);

/**
 * A single content's summary, which is asked to have at most so many tokens: models stay under a limit in words, and say
 * less where there is less to say.
 */
const SHARE_OF_LIMIT = 0.8;
const MIN_OF_CONTENT = 20;
const SHARE_OF_CONTENT = 0.35;

/** @param inputTokens, askedTokens o200k tokens of the request, and what its reply is asked to have at most. */
const defaultContentTokens = (inputTokens: number, askedTokens: number): number =>
  Math.min(SHARE_OF_LIMIT * askedTokens, MIN_OF_CONTENT + SHARE_OF_CONTENT * inputTokens);

/** The lengths of one call's prompt and reply, in the model's tokens. */
export interface OutputSample {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Of a single content's summary: the o200k tokens that it was asked to have at most. */
  readonly askedTokens?: number;
}

/** How many runs the start value weighs as much as. */
const PRIOR_RUNS = 1;
/** A run with so many times more or less input (as a natural logarithm) weighs half of one with the same. */
const LIKENESS = 0.3;

/** Long contents run into the limit of what was asked, short ones have little to say: runs of like length tell most. */
const weightOf = (inputTokens: number, sample: OutputSample): number =>
  1 / (1 + (Math.log(inputTokens / sample.inputTokens) / LIKENESS) ** 2);

/**
 * The start value times the factor by which earlier runs differed from it (their geometric mean, so that one long reply
 * doesn't rule).
 * @param tokenFactor the model's tokens for one o200k token.
 * @param askedTokens set for a single content's summary: the o200k tokens that it is asked to have at most.
 * @returns the model's tokens.
 */
export function expectedOutputTokens(
  inputTokens: number,
  samples: readonly OutputSample[],
  tokenFactor = 1,
  askedTokens?: number,
): number {
  const start = (tokens: number, asked: number | undefined): number =>
    tokenFactor *
    (asked === undefined
      ? defaultOutputTokens(tokens / tokenFactor)
      : defaultContentTokens(tokens / tokenFactor, asked));
  let weights = PRIOR_RUNS;
  let logs = 0;
  for (const sample of samplesLike(samples, askedTokens)) {
    const weight = weightOf(inputTokens, sample);
    weights += weight;
    logs += weight * Math.log(sample.outputTokens / start(sample.inputTokens, sample.askedTokens));
  }
  return Math.round(start(inputTokens, askedTokens) * Math.exp(logs / weights));
}

/** The samples that say something about a call: of single contents, or of conversations. */
export const samplesLike = (samples: readonly OutputSample[], askedTokens: number | undefined): OutputSample[] =>
  samples.filter(
    (sample) =>
      sample.outputTokens > 0 &&
      sample.inputTokens > 0 &&
      (sample.askedTokens === undefined) === (askedTokens === undefined),
  );

/** A text of so many tokens, in place of one that isn't written yet. */
export const placeholder = (tokens: number): string =>
  Array.from({ length: Math.max(1, tokens) }, () => 'word').join(' ');
