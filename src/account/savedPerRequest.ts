/** The saving of a condensation by hand, for the model that the agent last asked. */
import { loadPriceTable, type PriceTable } from '../api/prices';
import type { Conversation } from '../conversations/types';
import { lastAnswer } from '../core/account/recordedRequest';
import { estimateSaving } from '../core/cost/saving';
import { modelPrices } from './models';

/**
 * US dollars that each request with the condensed conversation costs less, by the last one that the agent recorded: with its model, and
 * from the cache where it used one. Undefined where the agent records none, or the price is not known.
 * @param change o200k tokens of the messages
 * @param prices default: the table, which is loaded where it is needed
 */
export async function savedPerRequest(
  { recorded, lastRequest }: Conversation,
  change: { readonly tokensBefore: number; readonly tokensAfter: number },
  prices?: PriceTable,
): Promise<number | undefined> {
  const last = lastRequest ?? (recorded && lastAnswer(recorded));
  if (!last?.usage) return undefined;
  const model = modelPrices(prices ?? (await loadPriceTable()), last);
  if (!model?.prices) return undefined;
  const { accounting, cacheReadTokens, cacheWriteTokens } = last.usage;
  const calibrated = (tokens: number): number => Math.ceil(tokens * model.tokenFactor);
  const tokensBefore = calibrated(change.tokensBefore);
  const tokensAfter = calibrated(change.tokensAfter);
  const { perRequest } = estimateSaving(
    { tokensBefore, tokensAfter, keptPrefixTokens: tokensAfter, cost: 0 },
    {
      prices: model.prices,
      accounting,
      cache: cacheReadTokens + cacheWriteTokens > 0 ? 'warm' : 'none',
    },
  );
  return perRequest;
}
