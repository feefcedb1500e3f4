import { expect, it } from 'vitest';
import { isTooLongToRead, lookedAt } from './longText';

const [long, short] = ['x'.repeat(600_000), 'x'.repeat(500_000)];

it('a text is too long to be gone through from 512 KB or 20,000 lines on', () => {
  const [many, few] = ['x\n'.repeat(25_000), 'x\n'.repeat(15_000)];
  expect([long, short, many, few].map(isTooLongToRead)).toEqual([true, false, true, false]);
});

it('a text that is too long is judged by its two ends, and any other by all of it', () => {
  const seen = lookedAt(`begins ${long} ends`);
  expect(seen.startsWith('begins x')).toBe(true);
  expect(seen.endsWith('x ends')).toBe(true);
  expect(seen.length).toBeLessThan(40_000);
  expect(lookedAt(short)).toBe(short);
});
