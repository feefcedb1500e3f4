/**
 * Prices and windows of models from a maintained table (`@pydantic/genai-prices`). Its data comes with the package;
 * nothing is fetched. Large, so it is loaded when a price is first asked for.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { TieredPrices } from '@pydantic/genai-prices';
import type { ModelPrices, Rate } from '../core/cost/prices';
import { findFamily } from '../core/vendors/families';
import { vendorEntry, type Vendor } from '../core/vendors/vendors';
import { newerModel, PRICE_PACKAGE, type ListedModel } from './newerModels';

export interface PricedModel {
  readonly vendor: Vendor;
  readonly model: string;
  /** Base URL of an endpoint other than the vendor's own: who stands there sets the price. */
  readonly baseUrl?: string;
}

export interface PriceTable {
  /** Undefined for a model that is not listed: its price is not known, which is not the same as free. */
  lookup(model: PricedModel, now?: Date): ListedModel | undefined;
}

let loading: Promise<PriceTable> | undefined;

/** The table, loaded once. */
export const loadPriceTable = (): Promise<PriceTable> => (loading ??= load());

async function load(): Promise<PriceTable> {
  // In a turn of its own: in the extension host others wait for the thread, and the package takes it for some 20 ms.
  await nextTurn();
  const { calcPrice, findProvider } = await import('@pydantic/genai-prices');
  await nextTurn();
  return {
    lookup({ vendor, model, baseUrl }, now = new Date()) {
      const { pricedAs, ownHosts } = vendorEntry(vendor);
      const own = baseUrl === undefined || (ownHosts && isAt(ownHosts, baseUrl));
      const provider = own ? (pricedAs ?? findMaker(model)) : findProvider({ providerApiUrl: baseUrl })?.id;
      if (provider === undefined) return undefined;
      const newer = newerModel(provider, model);
      if (newer) return newer;
      // The calculated cost is not used: a usage of nothing gives the prices that hold at this time.
      const found = calcPrice({ input_tokens: 0, output_tokens: 0 }, model, { providerId: provider, timestamp: now });
      const prices = found && pricesFrom(found.model_price);
      if (!prices) return undefined;
      const { context_window: contextWindow } = found.model;
      return { prices, asOf: PRICE_PACKAGE.published, ...(contextWindow !== undefined && { contextWindow }) };
    },
  };
}

/** A known model. Prices belong to the seller, the rest to the model. */
export interface KnownModel {
  readonly prices?: ModelPrices;
  /** When the prices were right; absent where they are the profile's own. ISO 8601 date. */
  readonly pricesAsOf?: string;
  /** Input and output together, in tokens. */
  readonly contextWindow?: number;
  /** Tokens of one answer at most. */
  readonly maxOutputTokens?: number;
  readonly seesImages?: boolean;
  /** The model's tokens for one o200k token, before its answers have told. */
  readonly tokenFactor: number;
}

/**
 * All that is known of a model by its name: the price table's figures at the endpoint that is called, the window of the vendor's
 * model of that name where somebody else offers it, and last what its family tells.
 */
export function knownModel(table: PriceTable | undefined, model: PricedModel): KnownModel {
  const here = table?.lookup(model);
  const family = findFamily(model.model);
  const { vendor, model: id } = model;
  const contextWindow =
    here?.contextWindow ?? table?.lookup({ vendor, model: id })?.contextWindow ?? family?.contextWindow;
  return {
    ...(here && { prices: here.prices, pricesAsOf: here.asOf }),
    ...(contextWindow !== undefined && { contextWindow }),
    ...(family?.maxOutputTokens !== undefined && { maxOutputTokens: family.maxOutputTokens }),
    ...(family?.seesImages !== undefined && { seesImages: family.seesImages }),
    tokenFactor: family?.tokenFactor ?? 1,
  };
}

/** Copilot bills by the tokens, since June 2026, at about what a model costs at its maker (GitHub's table of AI credits). */
const MAKERS: readonly (readonly [RegExp, string])[] = [
  [/claude/i, 'anthropic'],
  [/gemini/i, 'google'],
  [/gpt|^o\d/i, 'openai'],
  [/grok/i, 'x-ai'],
];

const findMaker = (model: string): string | undefined => MAKERS.find(([words]) => words.test(model))?.[1];

/** A gateway under another name sets prices of its own. */
const isAt = (hosts: RegExp, baseUrl: string): boolean =>
  URL.canParse(baseUrl) && hosts.test(new URL(baseUrl).hostname);

type PriceList = Readonly<Record<string, number | TieredPrices | undefined>>;

function pricesFrom(listed: PriceList): ModelPrices | undefined {
  const input = rate(listed['input_mtok']);
  const output = rate(listed['output_mtok']);
  if (!input || !output) return undefined;
  const cacheRead = rate(listed['cache_read_mtok']);
  const cacheWrite = rate(listed['cache_write_mtok']);
  const longCacheWrite = rate(listed['cache_write_1h_mtok']);
  return {
    input,
    output,
    ...(cacheRead && { cacheRead }),
    ...(cacheWrite && { cacheWrite }),
    ...(longCacheWrite && { longCacheWrite }),
  };
}

function rate(listed: number | TieredPrices | undefined): Rate | undefined {
  if (listed === undefined) return undefined;
  if (typeof listed === 'number') return { base: listed };
  return { base: listed.base, tiers: listed.tiers.map(({ start, price }) => ({ aboveTokens: start, price })) };
}
