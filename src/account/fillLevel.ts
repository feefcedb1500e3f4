import { loadPriceTable, type PriceTable } from '../api/prices';
import type { Conversation } from '../conversations/types';
import { type FillLevel, computeFillLevel } from '../core/account/fillLevel';
import { findLastRequestInHistory } from '../core/account/recordedRequest';
import type { ApiMessage } from '../core/messages/types';
import type { MessageCounter } from '../core/tokens/messageCounter';
import { findModelPrices } from './models';

/**
 * Computes how full a stored conversation's window is, from the agent's last recorded request or
 * else from our own count.
 * @param activeFrom index of the first message that the agent would still send
 */
export function getFillLevel(
  conversation: Conversation,
  counter: MessageCounter,
  prices: PriceTable,
  activeFrom = 0,
): FillLevel {
  const { messages, recorded, lastRequest, request } = conversation;
  const lastRecordedRequest = lastRequest ?? (recorded && findLastRequestInHistory(recorded, messages.length));
  // A session that was given back (written condensed for its agent) has answers, but no request of
  // its own yet.
  const names = [request?.['model'], messages.findLast(isModelAnswer)?.['model']];
  const model = lastRecordedRequest?.model ?? names.find((name) => typeof name === 'string');
  const modelFacts = findModelPrices(prices, { model, seller: lastRecordedRequest?.seller });
  const declaredParts = [request?.['system'], request?.['tools']]
    .filter((value) => value !== undefined)
    .reduce<number>((sum, value) => sum + counter.countJson(value), 0);
  const fillLevel = computeFillLevel(
    messages.slice(activeFrom),
    { tokenFactor: modelFacts?.tokenFactor ?? 1, window: modelFacts?.contextWindow },
    lastRecordedRequest,
    counter,
    declaredParts,
  );
  const { tokenFactor = 1 } = modelFacts ?? {};
  return { ...fillLevel, ...(model !== undefined && { model }), ...(tokenFactor !== 1 && { tokenFactor }) };
}

const isModelAnswer = ({ role, model }: ApiMessage): boolean =>
  role === 'assistant' && typeof model === 'string' && model !== '<synthetic>';

export type FillLevelReader = (conversation: Conversation, counter: MessageCounter) => FillLevel;

export async function loadFillLevelReader(): Promise<FillLevelReader> {
  const table = await loadPriceTable();
  // Caches lookups, because each takes as long as reading a small session.
  const pricesByModel = new Map<string, ReturnType<PriceTable['lookup']>>();
  const prices: PriceTable = {
    lookup: (model) => {
      const key = JSON.stringify(model);
      if (!pricesByModel.has(key)) pricesByModel.set(key, table.lookup(model));
      return pricesByModel.get(key);
    },
  };
  return (conversation, counter) => getFillLevel(conversation, counter, prices);
}
