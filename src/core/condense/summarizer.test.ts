import { expect, it } from 'vitest';
import { getOutputLimit } from './summarizer';
import { testModel } from './summary/testing';

it("the summarizer's output limit leaves room for thinking within the window and the model’s own limit", () => {
  expect(getOutputLimit(100, testModel({ contextWindow: 1_000_000 }))).toBe(8_292);
  expect(getOutputLimit(100, testModel({ contextWindow: 10_000 }))).toBe(600);
  expect(getOutputLimit(100, testModel({ maxOutputTokens: 4_096 }))).toBe(4_096);
  const { profile, vendor, model, accounting, tokenFactor, billing, cacheLifetime } = testModel();
  expect(getOutputLimit(100, { profile, vendor, model, accounting, tokenFactor, billing, cacheLifetime })).toBe(6_500);
});
