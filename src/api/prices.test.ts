import { describe, expect, it } from 'vitest';
import { computeCallCost } from '../core/cost/callCost';
import type { Usage } from '../core/cost/usage';
import { loadPriceTable, type PricedModel } from './prices';

const table = await loadPriceTable();
const NOW = new Date('2026-11-20T12:00:00Z');

const usage: Usage = {
  accounting: 'anthropic',
  source: 'reported',
  inputTokens: 20_000,
  outputTokens: 1_400,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
};
const getCost = (model: PricedModel, changes: Partial<Usage> = {}): number | undefined =>
  computeCallCost({ ...usage, ...changes }, table.lookup(model, NOW)?.prices);

const SONNET = { vendor: 'anthropic', model: 'claude-sonnet-4-20250514' } as const;

describe('the price table', () => {
  it('computes $0.0810 for 20,000 input and 1,400 output tokens on Claude Sonnet 4, and $0.00384 on GPT-4o-mini', () => {
    expect(getCost(SONNET)).toBeCloseTo(0.081, 10);
    expect(getCost({ vendor: 'openai', model: 'gpt-4o-mini' }, { accounting: 'openai' })).toBeCloseTo(0.00384, 10);
  });

  it('knows the same model on Bedrock, Vertex and OpenRouter', () => {
    expect(getCost({ vendor: 'bedrock', model: 'us.anthropic.claude-sonnet-4-20250514-v1:0' })).toBeCloseTo(0.081, 10);
    expect(getCost({ vendor: 'vertex', model: 'claude-sonnet-4@20250514' })).toBeCloseTo(0.081, 10);
    const router = { vendor: 'openai', baseUrl: 'https://openrouter.ai/api/v1' } as const;
    expect(getCost({ ...router, model: 'anthropic/claude-sonnet-4' }, { accounting: 'openai' })).toBeCloseTo(0.081, 10);
  });

  it('has cache prices, price tiers and windows', () => {
    const cached = { cacheReadTokens: 10_000, cacheWriteTokens: 10_000, longCacheWriteTokens: 10_000 };
    // Adds 10,000 tokens at $0.30 and 10,000 at $6 per million.
    expect(getCost(SONNET, cached)).toBeCloseTo(0.081 + 0.003 + 0.06, 10);
    expect(getCost({ vendor: 'anthropic', model: 'claude-sonnet-4-5' }, { inputTokens: 300_000 })).toBeCloseTo(
      1.8 + 0.0315,
      10,
    );
    expect(table.lookup(SONNET, NOW)?.contextWindow).toBe(200_000);
  });

  it("gives a VS Code model the price of its maker's own API", () => {
    expect(getCost({ vendor: 'vscode', model: 'gpt-4o-mini' })).toBe(
      getCost({ vendor: 'openai', model: 'gpt-4o-mini' }),
    );
    expect(getCost({ vendor: 'vscode', model: 'auto' })).toBeUndefined();
  });

  it('has no price for an unlisted model', () => {
    expect(getCost({ vendor: 'openai', model: 'my-own-model' })).toBeUndefined();
  });

  it("has no price for a third party's endpoint", () => {
    expect(getCost({ ...SONNET, baseUrl: 'http://127.0.0.1:11434' })).toBeUndefined();
    expect(getCost({ ...SONNET, baseUrl: 'https://api.anthropic.com/' })).toBeCloseTo(0.081, 10);
    expect(getCost({ ...SONNET, baseUrl: 'nonsense' })).toBeUndefined();
  });

  it('is loaded once', () => {
    expect(loadPriceTable()).toBe(loadPriceTable());
  });
});
