import { afterEach, expect, it } from 'vitest';
import { isTooLongHere, lookedAt, shareThread } from './sharedThread';

afterEach(() => {
  shareThread(false);
});

it('a text is too long to be gone through line by line only where others wait for the thread', () => {
  const [long, short] = ['x'.repeat(600_000), 'x'.repeat(500_000)];
  const [many, few] = ['x\n'.repeat(25_000), 'x\n'.repeat(15_000)];
  expect([long, many].map(isTooLongHere)).toEqual([false, false]);
  expect(lookedAt(long)).toBe(long);
  shareThread(true);
  expect([long, short, many, few].map(isTooLongHere)).toEqual([true, false, true, false]);
  const seen = lookedAt(`begins ${long} ends`);
  expect(seen.startsWith('begins x')).toBe(true);
  expect(seen.endsWith('x ends')).toBe(true);
  expect(seen.length).toBeLessThan(40_000);
  expect(lookedAt(short)).toBe(short);
});
