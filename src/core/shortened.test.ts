import { expect, it } from 'vitest';
import { shortenText } from './shortened';

it.each([
  ['short', 'short'],
  ['exactly 10', 'exactly 10'],
  ['more than ten', 'more than…'],
  ['12345678😀0', '12345678…'],
])('%j shortened to 10 characters becomes %j', (text, expected) => {
  expect(shortenText(text, 10)).toBe(expected);
});
