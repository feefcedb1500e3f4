import { FEATURE_NAMES, type FeatureName } from './featureNames';

/** A weight for each feature; those that are left out weigh nothing. */
export type Weights = Readonly<Partial<Record<FeatureName, number>>>;

/**
 * How likely each block is to be needed, for each token that it takes: the logarithm, give or take a constant of the
 * conversation. Only the order of the values means something.
 */
export function relevanceOf(features: readonly Float32Array[], weights: Weights): number[] {
  const row = FEATURE_NAMES.map((name) => weights[name] ?? 0);
  return features.map((values) => {
    let sum = 0;
    for (let at = 0; at < row.length; at++) sum += (row[at] as number) * (values[at] ?? 0);
    return sum;
  });
}

/** How much a likelier neighbour counts (docs/decisions/0028-fitted-relevance.md). */
const NEIGHBOUR = 0.3;

/**
 * The same where neighbours of what is likely to be needed are likelier needed, too.
 * @param follows for each block, whether the one before it is its neighbour in the same text.
 */
export const besideNeighbours = (relevance: readonly number[], follows: readonly boolean[]): number[] =>
  relevance.map((own, at) => {
    const before = follows[at] === true ? (relevance[at - 1] ?? own) : own;
    const behind = follows[at + 1] === true ? (relevance[at + 1] ?? own) : own;
    return own + NEIGHBOUR * (Math.max(own, before, behind) - own);
  });
