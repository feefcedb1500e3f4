/**
 * Compares figures of the model table: for models of the price package, for newer models, and for
 * unknown models.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { getPriceForPrompt } from '../core/cost/prices';
import { ASSUMED_WINDOW_TOKENS } from '../core/vendors/families';
import { VENDOR_IDS, getVendorEntry } from '../core/vendors/vendors';
import { getModelOfProfile } from '../settings/profileModel';
import { NEWER_MODELS, PRICE_PACKAGE } from './newerModels';
import { findKnownModel, loadPriceTable } from './prices';
import { MAX_ENCRYPTED_TOKENS } from '../core/tokens/messageCounter';

const table = await loadPriceTable();
const { findProvider } = await import('@pydantic/genai-prices');
const NOW = new Date('2026-11-22T12:00:00Z');

describe('the package with model prices', () => {
  it('is installed in the version whose date the extension shows', () => {
    const installed: unknown = JSON.parse(readFileSync('node_modules/@pydantic/genai-prices/package.json', 'utf8'));
    expect(installed).toMatchObject({ version: PRICE_PACKAGE.version });
  });

  const sellers = [...new Set(VENDOR_IDS.flatMap((vendor) => getVendorEntry(vendor).pricedAs ?? []))];

  it.each(sellers)('has prices for most models of %s, and a window and an output limit for many', (seller) => {
    const vendor = VENDOR_IDS.find((id) => getVendorEntry(id).pricedAs === seller)!;
    const models = (findProvider({ providerId: seller })?.models ?? []).map(({ id }) => id);
    // Models for images, speech and embeddings have other prices.
    const known = models.map((model) => findKnownModel(table, { vendor, model })).filter(({ prices }) => prices);
    const having = (field: 'contextWindow' | 'maxOutputTokens'): number =>
      known.filter((model) => model[field] !== undefined).length;
    const tiered = known.filter(({ prices }) => prices?.input.tiers).length;
    console.info(
      `${seller}: ${models.length} models, ${known.length} with prices (${tiered} dearer for long prompts), ` +
        `${having('contextWindow')} with a window, ${having('maxOutputTokens')} with an output limit`,
    );
    expect(known.length).toBeGreaterThan(models.length / 2);
    // For models on OpenRouter the package knows fewer windows (244 of 555) than for vendors' own.
    expect(having('contextWindow')).toBeGreaterThan(known.length / (seller === 'openrouter' ? 3 : 2));
  });
});

it('no model of a vendor that encrypts thinking can answer with more tokens than we count for encrypted thinking', () => {
  const limits = (['anthropic', 'openai'] as const).flatMap((vendor) =>
    (findProvider({ providerId: vendor })?.models ?? []).map(
      ({ id }) => findKnownModel(table, { vendor, model: id }).maxOutputTokens ?? 0,
    ),
  );
  expect(limits.filter((limit) => limit > 0).length).toBeGreaterThan(20);
  expect(Math.max(...limits)).toBeLessThanOrEqual(MAX_ENCRYPTED_TOKENS);
});

describe('models newer than the price package', () => {
  it.each(NEWER_MODELS.map(({ models, sellers }) => [models.source, sellers[0]!] as const))(
    'include %s, which is not in the package',
    (source, seller) => {
      const listed = findProvider({ providerId: seller })?.models ?? [];
      expect(listed.filter(({ id }) => new RegExp(source).test(id))).toEqual([]);
    },
  );

  it.each([
    // Regression: these models had no price and an assumed window of 128,000 tokens, and Mythos's
    // tokens were counted like those of a two-year-old Claude.
    ['anthropic', 'claude-haiku-5-5', 1_000_000, 0.1, 0.5, 1.5],
    ['anthropic', 'claude-mythos-5-1', 1_000_000, 10, 50, 1.5],
    ['anthropic', 'claude-sonnet-5-5', 1_000_000, 2, 10, 1.5],
    ['openai', 'gpt-6.1-terra', 1_050_000, 1, 5, 1],
    ['openai', 'gpt-6.2-sol', 1_050_000, 2, 10, 1],
    ['vscode', 'claude-haiku-5-5', 1_000_000, 0.1, 0.5, 1.5],
  ] as const)(
    'have rows of their own in our table: %s %s',
    (vendor, model, contextWindow, input, output, tokenFactor) => {
      const known = findKnownModel(table, { vendor, model });
      expect(known).toMatchObject({ contextWindow, maxOutputTokens: 128_000, tokenFactor, pricesAsOf: '2026-11-22' });
      expect(known.prices?.input.base).toBe(input);
      expect(known.prices?.output.base).toBe(output);
    },
  );
});

describe('prices of long prompts apply to the whole request', () => {
  it.each([
    ['anthropic', 'claude-haiku-5-5', 100_000, 5, 5],
    ['openai', 'gpt-5.4', 271_999, 2, 1.5],
    ['openai', 'gpt-5.5', 271_999, 2, 1.5],
    ['openai', 'gpt-5.6-sol', 271_999, 2, 1.5],
    ['openai', 'gpt-6.1-sol', 272_000, 2, 1.5],
    ['gemini', 'gemini-2.5-pro', 200_000, 2, 1.5],
  ] as const)('on %s %s once it has more than %d tokens', (vendor, model, above, input, output) => {
    const prices = table.lookup({ vendor, model }, NOW)!.prices;
    for (const [rate, times] of [
      [prices.input, input],
      [prices.output, output],
    ] as const) {
      expect(getPriceForPrompt(rate, above)).toBe(rate.base);
      expect(getPriceForPrompt(rate, above + 1)).toBeCloseTo(rate.base * times, 10);
    }
  });
});

describe('an unknown model', () => {
  const stranger = {
    id: 'p',
    name: 'P',
    vendor: 'openai',
    model: 'house-model-1',
    baseUrl: 'https://models.example/v1',
  } as const;

  it('has no price, counts tokens like o200k, and has an assumed window', () => {
    expect(getModelOfProfile(stranger, table)).toEqual({ tokenFactor: 1 });
    expect(ASSUMED_WINDOW_TOKENS).toBe(128_000);
  });

  it('has the properties that its profile states', () => {
    const profile = {
      ...stranger,
      contextWindow: 65_536,
      maxOutputTokens: 4_096,
      tokenFactor: 1.3,
      images: false,
      prices: { input: 1, output: 2, longPrompts: { aboveTokens: 32_000, input: 3 } },
    };
    expect(getModelOfProfile(profile, table)).toEqual({
      contextWindow: 65_536,
      maxOutputTokens: 4_096,
      tokenFactor: 1.3,
      seesImages: false,
      prices: { input: { base: 1, tiers: [{ aboveTokens: 32_000, price: 3 }] }, output: { base: 2 } },
    });
  });

  it('with a known family name has the properties of its family, whoever sells it', () => {
    const known = getModelOfProfile({ ...stranger, model: 'anthropic/claude-sonnet-4.5' }, table);
    expect(known).toEqual({ contextWindow: 200_000, maxOutputTokens: 64_000, seesImages: true, tokenFactor: 1.18 });
  });
});

it("a profile overrides a known model's properties one by one", () => {
  const profile = { id: 'p', name: 'P', vendor: 'anthropic', model: 'claude-opus-5-5' } as const;
  const known = getModelOfProfile(profile, table);
  const corrected = getModelOfProfile(
    { ...profile, contextWindow: 200_000, tokenFactor: 2, prices: { input: 7 } },
    table,
  );
  expect(corrected).toMatchObject({ contextWindow: 200_000, tokenFactor: 2, prices: { input: { base: 7 } } });
  expect(corrected.prices?.output).toEqual(known.prices?.output);
  expect(known.pricesAsOf).toBe(PRICE_PACKAGE.published);
  expect(corrected).not.toHaveProperty('pricesAsOf');
});
