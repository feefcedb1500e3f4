import { loadPriceTable, type PriceTable } from '../api/prices';
import type { Conversation } from '../conversations/types';
import type { AgentName } from '../core/agents';
import { findGiveBackTarget } from '../core/agents/giveBackTarget';
import { findLastAnswer } from '../core/account/recordedRequest';
import { estimateCondensationSaving } from '../core/cost/saving';
import { findModelPrices } from './models';

/**
 * Computes the US dollars that each later request saves, assuming the model and cache use of the
 * last recorded request.
 * @param change o200k tokens of the messages
 * @returns undefined without a recorded request or a known price, or if the agent can't continue
 *   with the condensed conversation
 */
export async function computeSavingPerRequest(
  { recorded, lastRequest }: Conversation,
  file: { readonly path: string; readonly agent?: AgentName | undefined },
  change: { readonly tokensBefore: number; readonly tokensAfter: number },
  prices?: PriceTable,
): Promise<number | undefined> {
  if (findGiveBackTarget(file.path, file.agent) === undefined) return undefined;
  const lastRecordedRequest = lastRequest ?? (recorded && findLastAnswer(recorded));
  if (!lastRecordedRequest?.usage) return undefined;
  const model = findModelPrices(prices ?? (await loadPriceTable()), lastRecordedRequest);
  if (!model?.prices) return undefined;
  const { accounting, cacheReadTokens, cacheWriteTokens } = lastRecordedRequest.usage;
  const calibrate = (tokens: number): number => Math.ceil(tokens * model.tokenFactor);
  const tokensBefore = calibrate(change.tokensBefore);
  const tokensAfter = calibrate(change.tokensAfter);
  const { perRequest } = estimateCondensationSaving(
    { tokensBefore, tokensAfter, keptPrefixTokens: tokensAfter, cost: 0 },
    {
      prices: model.prices,
      accounting,
      cache: cacheReadTokens + cacheWriteTokens > 0 ? 'warm' : 'none',
    },
  );
  return perRequest;
}
