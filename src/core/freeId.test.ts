import { expect, test } from 'vitest';
import { makeUnusedId } from './freeId';

test.each([
  ['Work', [], 'work'],
  ['Work', ['work'], 'work-2'],
  ['Work', ['work', 'work-2'], 'work-3'],
  ['Über GPT-4o!', [], 'ber-gpt-4o'],
  ['漢字', [], 'preset'],
  ['漢字', ['preset'], 'preset-2'],
])('a new preset named %s, with the IDs %j taken, gets the ID %s', (name, taken, expected) => {
  expect(makeUnusedId(name, taken, 'preset')).toBe(expected);
});
