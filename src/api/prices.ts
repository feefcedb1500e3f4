/** Prices and windows from a bundled table (`@pydantic/genai-prices`); nothing is downloaded. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { TieredPrices } from '@pydantic/genai-prices';
import type { ModelPrices, TieredRate } from '../core/cost/prices';
import { findModelFamily } from '../core/vendors/families';
import { getVendorEntry, type Vendor } from '../core/vendors/vendors';
import { findNewerModel, PRICE_PACKAGE, type PricedNewerModel } from './newerModels';

export interface PricedModel {
  readonly vendor: Vendor;
  readonly model: string;
  /** The URL's host determines the price. */
  readonly baseUrl?: string;
}

export interface PriceTable {
  /** Returns undefined if the price is unknown, which does not mean zero. */
  lookup(model: PricedModel, now?: Date): PricedNewerModel | undefined;
}

let loadingTable: Promise<PriceTable> | undefined;

export const loadPriceTable = (): Promise<PriceTable> => (loadingTable ??= createPriceTable());

async function createPriceTable(): Promise<PriceTable> {
  // Loading blocks the extension host for about 20 ms, so it gets its own turn.
  await nextTurn();
  const { calcPrice, findProvider } = await import('@pydantic/genai-prices');
  await nextTurn();
  return {
    lookup({ vendor, model, baseUrl }, now = new Date()) {
      const { pricedAs, ownHosts } = getVendorEntry(vendor);
      const isOwnHost = baseUrl === undefined || (ownHosts && isAtHost(ownHosts, baseUrl));
      const provider = isOwnHost
        ? (pricedAs ?? findMakerByModelName(model))
        : findProvider({ providerApiUrl: baseUrl })?.id;
      if (provider === undefined) return undefined;
      const newerModel = findNewerModel(provider, model);
      if (newerModel) return newerModel;
      // Calculates for no tokens, only to get the prices valid at this time.
      const calculation = calcPrice({ input_tokens: 0, output_tokens: 0 }, model, {
        providerId: provider,
        timestamp: now,
      });
      const prices = calculation && convertPrices(calculation.model_price);
      if (!prices) return undefined;
      const { context_window: contextWindow } = calculation.model;
      return { prices, asOf: PRICE_PACKAGE.published, ...(contextWindow !== undefined && { contextWindow }) };
    },
  };
}

export interface ModelProperties {
  readonly prices?: ModelPrices;
  /** ISO 8601 date on which the prices were valid; absent for prices from the profile. */
  readonly pricesAsOf?: string;
  /** Input and output together, in tokens. */
  readonly contextWindow?: number;
  readonly maxOutputTokens?: number;
  readonly seesImages?: boolean;
  /** Model tokens per o200k token, before calibration. */
  readonly tokenFactor: number;
}

/**
 * Prices are those of the endpoint; other properties are those of the vendor's model or its family.
 */
export function findKnownModel(table: PriceTable | undefined, model: PricedModel): ModelProperties {
  const knownPrices = table?.lookup(model);
  const family = findModelFamily(model.model);
  const { vendor, model: id } = model;
  const contextWindow =
    knownPrices?.contextWindow ?? table?.lookup({ vendor, model: id })?.contextWindow ?? family?.contextWindow;
  return {
    ...(knownPrices && { prices: knownPrices.prices, pricesAsOf: knownPrices.asOf }),
    ...(contextWindow !== undefined && { contextWindow }),
    ...(family?.maxOutputTokens !== undefined && { maxOutputTokens: family.maxOutputTokens }),
    ...(family?.seesImages !== undefined && { seesImages: family.seesImages }),
    tokenFactor: family?.tokenFactor ?? 1,
  };
}

/**
 * Since June 2026 Copilot bills tokens at about the maker's prices (GitHub's table of AI credits).
 */
const MAKER_BY_MODEL: readonly (readonly [RegExp, string])[] = [
  [/claude/i, 'anthropic'],
  [/gemini/i, 'google'],
  [/gpt|^o\d/i, 'openai'],
  [/grok/i, 'x-ai'],
];

const findMakerByModelName = (model: string): string | undefined =>
  MAKER_BY_MODEL.find(([words]) => words.test(model))?.[1];

/** True if the URL has the vendor's own host. Gateways under other hosts have their own prices. */
const isAtHost = (hosts: RegExp, baseUrl: string): boolean =>
  URL.canParse(baseUrl) && hosts.test(new URL(baseUrl).hostname);

type PriceList = Readonly<Record<string, number | TieredPrices | undefined>>;

function convertPrices(priceList: PriceList): ModelPrices | undefined {
  const input = convertPriceToRate(priceList['input_mtok']);
  const output = convertPriceToRate(priceList['output_mtok']);
  if (!input || !output) return undefined;
  const cacheRead = convertPriceToRate(priceList['cache_read_mtok']);
  const cacheWrite = convertPriceToRate(priceList['cache_write_mtok']);
  const longCacheWrite = convertPriceToRate(priceList['cache_write_1h_mtok']);
  return {
    input,
    output,
    ...(cacheRead && { cacheRead }),
    ...(cacheWrite && { cacheWrite }),
    ...(longCacheWrite && { longCacheWrite }),
  };
}

function convertPriceToRate(listedPrice: number | TieredPrices | undefined): TieredRate | undefined {
  if (listedPrice === undefined) return undefined;
  if (typeof listedPrice === 'number') return { base: listedPrice };
  return {
    base: listedPrice.base,
    tiers: listedPrice.tiers.map(({ start, price }) => ({ aboveTokens: start, price })),
  };
}
