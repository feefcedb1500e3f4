import { expect, it } from 'vitest';
import { getTokenizerFactor } from './families';

it.each([
  [undefined, 1],
  ['gpt-4o', 1],
  ['o4-mini', 1],
  ['gemini-2.5-pro', 1],
  ['claude-3-5-sonnet-20241022', 1.18],
  ['claude-3-7-sonnet-latest', 1.18],
  ['claude-opus-4-20250514', 1.18],
  ['claude-sonnet-4-5-20250929', 1.18],
  ['anthropic/claude-sonnet-4.5', 1.18],
  ['claude-opus-4-5@20251101', 1.18],
  ['claude-opus-4-7', 1.5],
  ['anthropic/claude-opus-4.8', 1.5],
  ['us.anthropic.claude-opus-4-10-20260101-v1:0', 1.5],
  ['claude-opus-5', 1.5],
  ['Claude-Sonnet-5-20260301', 1.5],
])('the factor for the tokenizer of %s is %d', (model, factor) => {
  expect(getTokenizerFactor(model)).toBe(factor);
});
