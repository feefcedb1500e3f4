import { expect, it } from 'vitest';
import { dueAt, dueWords } from './dueWords';

const words = (window: number, limit: unknown): string =>
  dueWords(dueAt(window, 75, limit), { name: 'Auto', tokens: window }, limit);

it('names the limit in tokens only where one is set and counts', () => {
  expect(words(200_000, 100_000)).toContain('the limit in tokens');
  expect(words(200_000, 0)).not.toContain('limit');
  expect(words(0, 0)).not.toContain('limit');
});
