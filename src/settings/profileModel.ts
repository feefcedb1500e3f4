/** The facts about the model that a profile calls: those of the profile, else those known by its name. */
import { isLoopback } from '../api/endpoint';
import { knownModel, type KnownModel, type PriceTable } from '../api/prices';
import { withOverrides, type ModelPrices } from '../core/cost/prices';
import type { ApiProfile } from './profiles';

/** A model that runs on this machine. One who has a paid vendor behind a local address sets the prices in the profile. */
const FREE: ModelPrices = { input: { base: 0 }, output: { base: 0 } };

/** A profile's window, output, eyes, factor and prices come before those that are known of its model. */
export function getKnownModel(profile: ApiProfile, table: PriceTable | undefined): KnownModel {
  const { vendor, model, baseUrl, contextWindow, maxOutputTokens, images: seesImages, tokenFactor } = profile;
  const known = knownModel(table, { vendor, model, ...(baseUrl !== undefined && { baseUrl }) });
  const isLocal = baseUrl !== undefined && isLoopback(baseUrl);
  const prices = withOverrides(known.prices ?? (isLocal ? FREE : undefined), profile.prices);
  const { pricesAsOf, ...rest } = known;
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
