import { expect, it } from 'vitest';
import { computeDueTokensOfWindow, describeDueTokens } from './dueWords';

const words = (window: number, limit: unknown): string =>
  describeDueTokens(computeDueTokensOfWindow(window, 75, limit), { name: 'Auto', tokens: window }, limit);

it('the text at the threshold names the token limit only if one is set and applies', () => {
  expect(words(200_000, 100_000)).toContain('the limit in tokens');
  expect(words(200_000, 0)).not.toContain('limit');
  expect(words(0, 0)).not.toContain('limit');
});
