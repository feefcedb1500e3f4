/** How long a summary will be, before it is written. */

/**
 * A start value, in o200k tokens. The prompt asks for 1,500 words at most, which are about 2,000 tokens; real agents'
 * summaries of full windows lie around it (1,300 to 2,700 without what the model thought aloud). With sections to fill,
 * that of a short conversation is not much shorter.
 */
const FULL = 2_000;
const LEAST = 700;
const SHARE = 0.13;

/** @param inputTokens o200k tokens of the request. */
export const defaultOutputTokens = (inputTokens: number): number => Math.min(FULL, LEAST + SHARE * inputTokens);

/** What a run taught: what was sent and what came back, in the model's tokens. */
export interface OutputSample {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** Runs that count; the habits of models and prompts change. */
const REMEMBERED = 20;
/** How many runs the start value weighs as much as. */
const PRIOR_RUNS = 1;

/**
 * The start value times the factor by which the last runs differed from it (their geometric mean, so that one long reply
 * doesn't rule).
 * @param tokenFactor the model's tokens for one o200k token.
 * @returns the model's tokens.
 */
export function expectedOutputTokens(inputTokens: number, samples: readonly OutputSample[], tokenFactor = 1): number {
  const start = (tokens: number): number => defaultOutputTokens(tokens / tokenFactor) * tokenFactor;
  const recent = samples.slice(-REMEMBERED).filter((sample) => sample.outputTokens > 0 && sample.inputTokens > 0);
  const logs = recent.map((sample) => Math.log(sample.outputTokens / start(sample.inputTokens)));
  const factor = Math.exp(logs.reduce((sum, log) => sum + log, 0) / (logs.length + PRIOR_RUNS));
  return Math.round(start(inputTokens) * factor);
}
