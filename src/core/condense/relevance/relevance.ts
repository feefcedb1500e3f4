import { FEATURE_NAMES, type FeatureName } from './features';

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
