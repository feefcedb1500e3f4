import { loadPriceTable } from '../api/prices';
import { computeContextWindow, listOtherModels } from '../api/vscodeLm';
import type { PartialPrices, TieredRate } from '../core/cost/prices';
import { ASSUMED_WINDOW_TOKENS } from '../core/vendors/families';
import { getModelOfProfile } from '../settings/profileModel';
import { OWN_VSCODE_VENDOR } from '../core/vendors/ownVendor';
import type { ApiProfile } from '../settings/profiles';
import { languageModels } from '../window/languageModels';

export interface ModelWindowAndPrices {
  /** Input and output together, in the model's tokens. */
  readonly contextWindow: number;
  /** False if the model's window is unknown and a usual one is assumed. */
  readonly isWindowKnown: boolean;
  /** US dollars per million tokens, for short prompts. */
  readonly prices?: PartialPrices;
  /** ISO 8601 date of prices that are not the profile's own. */
  readonly pricesAsOf?: string;
  /** Initial estimate of the model's tokens per o200k token. */
  readonly tokenFactor: number;
}

/** The window and prices in the profile take precedence over the known ones of its model. */
export async function loadModelWindowAndPrices(profile: ApiProfile): Promise<ModelWindowAndPrices> {
  const { contextWindow, prices, pricesAsOf, tokenFactor } = getModelOfProfile(profile, await loadPriceTable());
  return {
    contextWindow: contextWindow ?? ASSUMED_WINDOW_TOKENS,
    isWindowKnown: contextWindow !== undefined,
    tokenFactor,
    ...(prices && {
      prices: Object.fromEntries(Object.entries(prices).map(([kind, { base }]: [string, TieredRate]) => [kind, base])),
    }),
    ...(prices && pricesAsOf !== undefined && { pricesAsOf }),
  };
}

export interface EditorModel {
  readonly id: string;
  readonly name: string;
  readonly vendor: string;
  /** As of {@link computeContextWindow}. */
  readonly contextWindow?: number;
}

/** Lists VS Code's models without those of this extension. */
export async function listEditorModels(): Promise<EditorModel[]> {
  const models = await listOtherModels(languageModels, OWN_VSCODE_VENDOR);
  return models.map((model) => {
    const { id, name, vendor } = model;
    const contextWindow = computeContextWindow(model);
    return { id, name, vendor, ...(contextWindow !== undefined && { contextWindow }) };
  });
}
