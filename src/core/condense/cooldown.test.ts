import { describe, expect, it } from 'vitest';
import { measureCoherence } from './coherence/coherence';
import { CondensationCooldown } from './cooldown';
import type { CondensationOutcome, CondensationRequest } from './condensation';

const REQUEST: CondensationRequest = { conversation: 'c', messages: [], trigger: 'automatic' };
const base = { provider: 'p', tokensBefore: 500, steps: [], cost: 0, timeMs: 0, notes: [] };
const IN_VAIN: CondensationOutcome = { ...base, kind: 'unchanged', reason: 'nothing-to-gain', detail: '' };
const GOOD: CondensationOutcome = {
  ...base,
  kind: 'condensed',
  tokensAfter: 300,
  edits: [],
  view: [],
  coherence: measureCoherence([], []),
};

/** Returns by how many tokens a conversation of 500 tokens must still grow after these outcomes. */
const countWaitingTokens = (...outcomes: [CondensationOutcome, Partial<CondensationRequest>?][]): number => {
  const cooldown = new CondensationCooldown();
  for (const [outcome, fields] of outcomes) cooldown.recordOutcome('c', outcome, { ...REQUEST, ...fields });
  return cooldown.countTokensUntilEnd('c', 500);
};

describe('the waiting time after an automatic condensation', () => {
  it('lasts until the request has grown by 13 %', () => {
    expect(countWaitingTokens([IN_VAIN])).toBe(65);
    expect(countWaitingTokens([{ ...base, kind: 'failed', error: new Error('x') }])).toBe(65);
    expect(countWaitingTokens([IN_VAIN, { overheadTokens: 100 }])).toBe(78);
  });

  it('ends when a condensation meets its target', () => {
    expect(countWaitingTokens([IN_VAIN], [GOOD])).toBe(0);
    expect(countWaitingTokens([IN_VAIN], [GOOD, { targetTokens: 300 }])).toBe(0);
  });

  it('counts from the resulting size if the condensation missed its target', () => {
    const cooldown = new CondensationCooldown();
    cooldown.recordOutcome('c', GOOD, { ...REQUEST, targetTokens: 299 });
    expect(cooldown.countTokensUntilEnd('c', 300)).toBe(39);
    expect(cooldown.countTokensUntilEnd('c', 339)).toBe(0);
  });

  it('neither starts nor ends with a cancellation', () => {
    expect(countWaitingTokens([{ ...base, kind: 'cancelled' }])).toBe(0);
    expect(countWaitingTokens([IN_VAIN], [{ ...base, kind: 'cancelled' }])).toBe(65);
  });
});
