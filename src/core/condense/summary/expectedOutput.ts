/** How long a summary will be, before it is written. Tokens are the model's. */

/**
 * A start value: real agents' summaries of full windows have 2,000 to 4,400 tokens whatever they sum up; of little, a
 * model writes about a sixth. Runs correct it.
 */
const FULL = 2_600;
const LEAST = 250;
const SHARE = 0.16;

export const defaultOutputTokens = (inputTokens: number): number => Math.min(FULL, LEAST + SHARE * inputTokens);

/** What a run taught: what was sent and what came back. */
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
 */
export function expectedOutputTokens(inputTokens: number, samples: readonly OutputSample[], limit = Infinity): number {
  const recent = samples.slice(-REMEMBERED).filter((sample) => sample.outputTokens > 0 && sample.inputTokens > 0);
  const logs = recent.map((sample) => Math.log(sample.outputTokens / defaultOutputTokens(sample.inputTokens)));
  const factor = Math.exp(logs.reduce((sum, log) => sum + log, 0) / (logs.length + PRIOR_RUNS));
  return Math.min(limit, Math.round(defaultOutputTokens(inputTokens) * factor));
}
