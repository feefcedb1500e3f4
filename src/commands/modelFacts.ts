import * as vscode from 'vscode';
import { loadPriceTable } from '../api/prices';
import { ASSUMED_WINDOW } from '../core/vendors/families';
import { getKnownModel } from '../settings/profileModel';
import { OWN_VENDOR } from '../settings/ownVendor';
import type { ApiProfile } from '../settings/profiles';

/** Facts about a profile's model; unknown ones are absent. */
export interface ModelFacts {
  /** Input and output together, in tokens; false where nobody knows it and a usual one is taken. */
  readonly contextWindow: number;
  readonly isWindowKnown: boolean;
  /** US dollars per million tokens, for short prompts. */
  readonly inputPrice?: number;
  readonly outputPrice?: number;
  /** When the prices were right that are not the profile's own; ISO 8601 date. */
  readonly pricesAsOf?: string;
  /** The model's tokens for one o200k token, before its answers have told. */
  readonly tokenFactor: number;
}

/** The window and the prices of a profile's model: the profile's own, else those known of it. */
export async function factsOfModel(profile: ApiProfile): Promise<ModelFacts> {
  const { contextWindow, prices, pricesAsOf, tokenFactor } = getKnownModel(profile, await loadPriceTable());
  return {
    contextWindow: contextWindow ?? ASSUMED_WINDOW,
    isWindowKnown: contextWindow !== undefined,
    tokenFactor,
    ...(prices && { inputPrice: prices.input.base, outputPrice: prices.output.base }),
    ...(prices && pricesAsOf !== undefined && { pricesAsOf }),
  };
}

/** The models that VS Code offers, without our own. */
export async function modelsOfEditor(): Promise<vscode.LanguageModelChat[]> {
  const models = await vscode.lm.selectChatModels();
  return models.filter(({ vendor }) => vendor !== OWN_VENDOR);
}
