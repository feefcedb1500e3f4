import { describe, expect, it } from 'vitest';
import {
  conditionSchema,
  evaluateCondition,
  describeMissingFacts,
  type Condition,
  type ConditionFacts,
  type ConditionVerdict,
} from './condition';

const FACTS: ConditionFacts = {
  tokens: 50_000,
  overheadTokens: 10_000,
  windowTokens: 100_000,
  targetTokens: 40_000,
  toolResults: 12,
  cacheCold: false,
  budgetLeft: 0.3,
};
const UNKNOWN: ConditionFacts = {
  ...FACTS,
  windowTokens: undefined,
  targetTokens: undefined,
  cacheCold: undefined,
  budgetLeft: undefined,
};

describe('checking the condition of a step', () => {
  it.each<[Condition, ConditionVerdict, ConditionVerdict]>([
    [{}, 'holds', 'holds'],
    [{ tokenThreshold: 49_999 }, 'holds', 'holds'],
    [{ tokenThreshold: 50_000 }, 'fails', 'fails'],
    [{ windowPercent: 59 }, 'holds', 'unknown'],
    [{ windowPercent: 60 }, 'fails', 'unknown'],
    [{ overTarget: 1.2 }, 'holds', 'unknown'],
    [{ overTarget: 1.25 }, 'fails', 'unknown'],
    [{ toolResults: 11 }, 'holds', 'holds'],
    [{ toolResults: 12 }, 'fails', 'fails'],
    [{ cacheCold: false }, 'holds', 'unknown'],
    [{ cacheCold: true }, 'fails', 'unknown'],
    [{ budgetLeft: 0.3 }, 'holds', 'unknown'],
    [{ budgetLeft: 0.31 }, 'fails', 'unknown'],
    [{ tokenThreshold: 1, toolResults: 50 }, 'fails', 'fails'],
    [{ and: [{ tokenThreshold: 1 }, { windowPercent: 1 }] }, 'holds', 'unknown'],
    [{ and: [{ tokenThreshold: 60_000 }, { windowPercent: 1 }] }, 'fails', 'fails'],
    [{ or: [{ tokenThreshold: 60_000 }, { windowPercent: 1 }] }, 'holds', 'unknown'],
    [{ or: [{ tokenThreshold: 1 }, { windowPercent: 1 }] }, 'holds', 'holds'],
    [{ or: [] }, 'fails', 'fails'],
    [{ not: { windowPercent: 1 } }, 'fails', 'unknown'],
    [{ not: { toolResults: 12 } }, 'holds', 'holds'],
  ])('of %j gives “%s”, and “%s” with unknown facts', (condition, known, unknown) => {
    expect(evaluateCondition(condition, FACTS)).toBe(known);
    expect(evaluateCondition(condition, UNKNOWN)).toBe(unknown);
  });

  it.each<[Condition, string]>([
    [{ tokenThreshold: 1 }, ''],
    [{ overTarget: 1 }, 'no target is set'],
    [{ not: { or: [{ toolResults: 1 }, { windowPercent: 1 }] } }, 'the model’s context window is not known'],
    [
      { overTarget: 1, and: [{ cacheCold: true, budgetLeft: 1 }] },
      'no target is set, and whether the vendor’s prompt cache is still warm is not known, and what may still be spent is not known',
    ],
  ])('of %j reports as unknown: %s', (condition, words) => {
    expect(describeMissingFacts(condition, UNKNOWN)).toBe(words);
    expect(describeMissingFacts(condition, FACTS)).toBe('');
  });

  it('accepts only conditions with known fields', () => {
    expect(conditionSchema.safeParse({ not: { tokenTreshold: 1 } }).error?.issues[0]?.path).toEqual(['not']);
  });
});
