import { FEATURE_NAMES, type FeatureName } from './featureNames';

/** Absent weights are 0. */
export type FeatureWeights = Readonly<Partial<Record<FeatureName, number>>>;

/**
 * Logarithm of how likely a token is to be needed, plus a constant: only the order of the values is
 * meaningful.
 */
export function computeRelevance(features: readonly Float32Array[], weights: FeatureWeights): number[] {
  const orderedWeights = FEATURE_NAMES.map((name) => weights[name] ?? 0);
  return features.map((values) => {
    let sum = 0;
    for (let featureIndex = 0; featureIndex < orderedWeights.length; featureIndex++)
      sum += (orderedWeights[featureIndex] as number) * (values[featureIndex] ?? 0);
    return sum;
  });
}

/** Chosen in docs/decisions/0028-fitted-relevance.md. */
const NEIGHBOR_WEIGHT = 0.3;

/** @param follows for each block, whether it directly follows another in the same text */
export const blendWithNeighbors = (relevance: readonly number[], follows: readonly boolean[]): number[] =>
  relevance.map((ownRelevance, index) => {
    const relevanceBefore = follows[index] === true ? (relevance[index - 1] ?? ownRelevance) : ownRelevance;
    const relevanceAfter = follows[index + 1] === true ? (relevance[index + 1] ?? ownRelevance) : ownRelevance;
    return ownRelevance + NEIGHBOR_WEIGHT * (Math.max(ownRelevance, relevanceBefore, relevanceAfter) - ownRelevance);
  });
