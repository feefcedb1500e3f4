import { isLoopback } from '../api/endpoint';
import { findKnownModel, type ModelProperties, type PriceTable } from '../api/prices';
import { applyPriceOverrides, type ModelPrices } from '../core/cost/prices';
import type { ApiProfile } from './profiles';

/**
 * Prices of a model on this machine. If a local address leads to a paid vendor, the user sets
 * prices in the profile.
 */
const FREE_PRICES: ModelPrices = { input: { base: 0 }, output: { base: 0 } };

/** Returns the model's properties. Those in the profile override the known ones. */
export function getModelOfProfile(profile: ApiProfile, table: PriceTable | undefined): ModelProperties {
  const { vendor, model, baseUrl, contextWindow, maxOutputTokens, images: seesImages, tokenFactor } = profile;
  const knownModel = findKnownModel(table, { vendor, model, ...(baseUrl !== undefined && { baseUrl }) });
  const isLocal = baseUrl !== undefined && isLoopback(baseUrl);
  const prices = applyPriceOverrides(knownModel.prices ?? (isLocal ? FREE_PRICES : undefined), profile.prices);
  const { pricesAsOf, ...rest } = knownModel;
  return {
    ...rest,
    ...(pricesAsOf !== undefined && !profile.prices && { pricesAsOf }),
    ...(contextWindow !== undefined && { contextWindow }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(seesImages !== undefined && { seesImages }),
    ...(tokenFactor !== undefined && { tokenFactor }),
    ...(prices && { prices }),
  };
}
