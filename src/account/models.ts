import { findKnownModel, type ModelProperties, type PriceTable } from '../api/prices';
import { findModelFamily } from '../core/vendors/families';
import type { Vendor } from '../core/vendors/vendors';

export interface NamedModel {
  readonly model?: string | undefined;
  /** The vendor or reseller, as the agent names it. */
  readonly seller?: string | undefined;
  /** When the model was used (milliseconds since the epoch), because prices change. */
  readonly at?: number | undefined;
}

/** Vendors by the agents' names for them. The prices of other resellers are unknown. */
const VENDOR_BY_SELLER: Readonly<Record<string, Vendor>> = {
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

/** Returns undefined if the prices are unknown. */
export function findModelPrices(table: PriceTable, { model, seller, at }: NamedModel): ModelProperties | undefined {
  if (model === undefined) return undefined;
  const vendor = seller === undefined ? findVendorByModelName(model) : VENDOR_BY_SELLER[seller];
  const knownModel =
    vendor && findKnownModel(at === undefined ? table : makePriceTableForTime(table, at), { vendor, model });
  if (knownModel) return knownModel;
  const family = findModelFamily(model);
  return {
    tokenFactor: family?.tokenFactor ?? 1,
    ...(family?.contextWindow !== undefined && { contextWindow: family.contextWindow }),
  };
}

const makePriceTableForTime = (table: PriceTable, at: number): PriceTable => ({
  lookup: (model) => table.lookup(model, new Date(at)),
});

/** Agents that call a vendor directly record no seller. */
function findVendorByModelName(model: string): Vendor | undefined {
  if (/^claude/i.test(model)) return 'anthropic';
  if (/^(?:gpt|o\d|codex)/i.test(model)) return 'openai';
  if (/^gemini/i.test(model)) return 'gemini';
  return undefined;
}
