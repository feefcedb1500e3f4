import { describe, expect, it } from 'vitest';
import { FEATURE_NAMES } from '../../src/core/condense/relevance/featureNames';
import { fitWeights, FIXED_WEIGHTS, type FitSample } from './fitWeights';

const OPEN = FEATURE_NAMES.indexOf('open');
const FOUND = FEATURE_NAMES.indexOf('found');
const row = (feature: number): Float32Array => Float32Array.from(FEATURE_NAMES, (_, at) => Number(at === feature));

/** Creates a sample of four blocks, of which those of open files are needed. */
const sample = (project: string): FitSample => ({
  agent: 'a',
  project,
  features: [row(OPEN), row(FOUND), row(OPEN), row(FOUND)],
  tokens: [100, 100, 100, 100],
  lines: [
    { blocks: [0], isSafe: false, windows: [true] },
    { blocks: [2], isSafe: false, windows: [true] },
    { blocks: [1], isSafe: true, windows: [true] },
  ],
});
const samples = ['p', 'q'].map(sample);
const isUsed = () => true;

describe('the fitted relevance weights', () => {
  it('are learned from lines that were needed and would not have been kept anyway', () => {
    const weights = fitWeights(samples, { isUsed, penalty: 0.03 });
    expect(weights[OPEN]).toBeGreaterThan(0.5);
    expect(weights[FOUND]).toBeLessThan(-0.5);
    expect(weights.filter((weight, at) => weight !== 0 && at !== OPEN && at !== FOUND)).toEqual(
      Object.values(FIXED_WEIGHTS),
    );
    const without = fitWeights(samples, { isUsed: (at) => at !== OPEN, penalty: 0.03 });
    expect(without[OPEN]).toBe(0);
  });

  it('stay closer to their initial values with a stronger penalty', () => {
    const start = FEATURE_NAMES.map((_, at) => (at === OPEN ? -1 : at === 0 ? 3 : 0));
    const of = (penalty: number) => fitWeights(samples, { isUsed, penalty, start });
    expect(of(1e9)[OPEN]).toBeCloseTo(-1, 5);
    expect(of(0.03)[OPEN]).toBeGreaterThan(0);
    // A feature that doesn't vary keeps its weight.
    expect(of(0.03)[0]).toBeCloseTo(3, 5);
    expect(fitWeights([], { isUsed, penalty: 0.03, start })).toEqual([]);
  });

  it('can be interrupted after each sample and are deterministic', () => {
    const steps = [...fitWeights(samples, { isUsed, penalty: 0.03 })];
    expect(steps.length).toBeGreaterThan(2 * samples.length);
    const [first, second] = [1, 2].map(() => fitWeights(samples, { isUsed, penalty: 0.03 }));
    expect(first).toEqual(second);
  });
});
