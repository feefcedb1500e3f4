import { expect, it } from 'vitest';
import { computeOutputLimit } from './summarizer';
import { makeTestModel } from './summary/testing';

it('the output limit of a summary call leaves room for thinking within the window and the model’s own limit', () => {
  expect(computeOutputLimit(100, makeTestModel({ contextWindow: 1_000_000 }))).toBe(8_292);
  expect(computeOutputLimit(100, makeTestModel({ contextWindow: 10_000 }))).toBe(600);
  expect(computeOutputLimit(100, makeTestModel({ maxOutputTokens: 4_096 }))).toBe(4_096);
  const { profile, vendor, model, accounting, tokenFactor, billing, cacheLifetime } = makeTestModel();
  expect(computeOutputLimit(100, { profile, vendor, model, accounting, tokenFactor, billing, cacheLifetime })).toBe(
    6_500,
  );
});
