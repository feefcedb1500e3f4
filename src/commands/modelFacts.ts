import * as vscode from 'vscode';
import { loadPriceTable } from '../api/prices';
import { withOverrides } from '../core/cost/prices';
import { OWN_VENDOR } from '../settings/ownVendor';
import type { ApiProfile } from '../settings/profiles';

/** What is known of a profile's model; absent where nobody told. */
export interface ModelFacts {
  /** Input and output together, in tokens. */
  readonly contextWindow?: number;
  /** US dollars per million tokens, for short prompts. */
  readonly inputPrice?: number;
  readonly outputPrice?: number;
}

/** The window and the prices of a profile's model: the profile's own, else the price table's. */
export async function factsOfModel(profile: ApiProfile): Promise<ModelFacts> {
  const { vendor, model, baseUrl } = profile;
  const listed = (await loadPriceTable()).lookup({ vendor, model, ...(baseUrl !== undefined && { baseUrl }) });
  const prices = withOverrides(listed?.prices, profile.prices);
  const contextWindow = profile.contextWindow ?? listed?.contextWindow;
  return {
    ...(contextWindow !== undefined && { contextWindow }),
    ...(prices && { inputPrice: prices.input.base, outputPrice: prices.output.base }),
  };
}

/** The models that VS Code offers, without our own. */
export async function modelsOfEditor(): Promise<vscode.LanguageModelChat[]> {
  const models = await vscode.lm.selectChatModels();
  return models.filter(({ vendor }) => vendor !== OWN_VENDOR);
}
