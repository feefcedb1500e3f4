import { describe, expect, it } from 'vitest';
import type { StepReport } from '../core/condense/types';
import { condensationWords } from './condensationWords';

const step = (name: string, saved: number): StepReport => ({
  name,
  tokensBefore: 1_000,
  tokensAfter: 1_000 - saved,
  edits: saved > 0 ? 1 : 0,
  timeMs: 1,
  cost: 0,
  outcome: { kind: 'done' },
});

const words = (...saved: number[]): string =>
  condensationWords({
    provider: 'Smart',
    steps: saved.map((tokens, index) => step(`Step ${index + 1}`, tokens)),
    tokensBefore: 2_000,
    tokensAfter: 1_000,
    cost: 0,
    timeMs: 5,
    notes: ['it is done.'],
  });

const named = (text: string): string[] => [...text.matchAll(/Step (\d)/g)].map(([, number = '']) => number);

describe('the words of a condensation', () => {
  it('are one paragraph: steps that did something, total, cost, time, notes', () => {
    expect(words(100, 0)).toBe(
      'Context condensed using Smart. Step 1: 1,000 → 900 tokens (-10%). Total: 2,000 → 1,000 tokens (-50%). Cost: $0. Time: 5 ms. Note: it is done.',
    );
  });

  it('name the steps that took out most, in their order, and count the others', () => {
    expect(named(words(1, 2, 3, 4, 5, 6))).toHaveLength(6);
    const many = words(70, 10, 60, 20, 50, 30, 40);
    expect(named(many)).toEqual(['1', '3', '5', '6', '7']);
    expect(many).toContain(' 2 more steps. Total:');
  });
});
