/** Prices and windows of the models that agents name in their records. */
import { knownModel, type KnownModel, type PriceTable } from '../api/prices';
import { findFamily } from '../core/vendors/families';
import type { Vendor } from '../core/vendors/vendors';

/** A model as an agent names it. */
export interface NamedModel {
  readonly model?: string | undefined;
  /** Who offers it, in the agent's word. */
  readonly seller?: string | undefined;
  /** When it was called, in milliseconds since the epoch: prices change. */
  readonly at?: number | undefined;
}

/** Sellers by the agents' words for them. Who resells under a name of its own sets prices that nobody knows here. */
const SELLERS: Readonly<Record<string, Vendor>> = {
  anthropic: 'anthropic',
  openai: 'openai',
  'openai-codex': 'openai',
  google: 'gemini',
  gemini: 'gemini',
  'google-vertex': 'vertex',
  'google-vertex-anthropic': 'vertex',
  'amazon-bedrock': 'bedrock',
  bedrock: 'bedrock',
  'github-copilot': 'vscode',
};

/** Facts about a model; undefined where no model is named, or where its seller's prices are unknown. */
export function modelPrices(table: PriceTable, { model, seller, at }: NamedModel): KnownModel | undefined {
  if (model === undefined) return undefined;
  const vendor = seller === undefined ? makerOf(model) : SELLERS[seller];
  const known = vendor && knownModel(at === undefined ? table : atTime(table, at), { vendor, model });
  if (known) return known;
  const family = findFamily(model);
  return {
    tokenFactor: family?.tokenFactor ?? 1,
    ...(family?.contextWindow !== undefined && { contextWindow: family.contextWindow }),
  };
}

const atTime = (table: PriceTable, at: number): PriceTable => ({
  lookup: (model) => table.lookup(model, new Date(at)),
});

/** Agents that call the makers themselves name no seller. */
function makerOf(model: string): Vendor | undefined {
  if (/^claude/i.test(model)) return 'anthropic';
  if (/^(?:gpt|o\d|codex)/i.test(model)) return 'openai';
  if (/^gemini/i.test(model)) return 'gemini';
  return undefined;
}
