import { Random } from '../generators/random';

export interface Estimate {
  readonly share: number;
  readonly low: number;
  readonly high: number;
}

export interface Ratio {
  readonly part: number;
  readonly whole: number;
}

/**
 * Estimates the ratio of two sums over sessions, with an interval from a bootstrap with this seed.
 */
export function estimateShare(sessions: readonly Ratio[], resamples: number, seed: number): Estimate {
  const random = new Random(seed);
  const shares: number[] = [];
  for (let sample = 0; sample < resamples; sample++) {
    const share = computeShare(sessions.map(() => random.pick(sessions)));
    if (Number.isFinite(share)) shares.push(share);
  }
  shares.sort((a, b) => a - b);
  const getQuantile = (quantile: number): number => shares[Math.floor(quantile * (shares.length - 1))] ?? Number.NaN;
  return { share: computeShare(sessions), low: getQuantile(0.025), high: getQuantile(0.975) };
}

function computeShare(ratios: readonly Ratio[]): number {
  const whole = ratios.reduce((sum, ratio) => sum + ratio.whole, 0);
  return whole === 0 ? Number.NaN : ratios.reduce((sum, ratio) => sum + ratio.part, 0) / whole;
}
