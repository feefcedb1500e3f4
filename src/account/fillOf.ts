/** How full the window is in which a stored conversation goes on. */
import { loadPriceTable, type PriceTable } from '../api/prices';
import type { Conversation } from '../conversations/types';
import { type FillLevel, fillLevel } from '../core/account/fillLevel';
import { lastRequestIn } from '../core/account/recordedRequest';
import type { MessageCounter } from '../core/tokens/messageCounter';
import { modelPrices } from './models';

/**
 * By the agent's own record of its last request and the window of the model that answered it; else by our count.
 * @param activeFrom of a conversation that was read with its whole history: the first message that the agent would send next
 */
export function fillOf(
  conversation: Conversation,
  counter: MessageCounter,
  prices: PriceTable,
  activeFrom = 0,
): FillLevel {
  const { messages, recorded, lastRequest, request } = conversation;
  const last = lastRequest ?? (recorded && lastRequestIn(recorded, messages.length));
  const model = last?.model ?? (typeof request?.['model'] === 'string' ? request['model'] : undefined);
  const facts = modelPrices(prices, { model, seller: last?.seller });
  const declared = [request?.['system'], request?.['tools']]
    .filter((value) => value !== undefined)
    .reduce<number>((sum, value) => sum + counter.json(value), 0);
  const fill = fillLevel(
    messages.slice(activeFrom),
    { tokenFactor: facts?.tokenFactor ?? 1, window: facts?.contextWindow },
    last,
    counter,
    declared,
  );
  return model === undefined ? fill : { ...fill, model };
}

export type FillOf = (conversation: Conversation, counter: MessageCounter) => FillLevel;

/** {@link getFillLevel} with the price table that ships with the product. */
export async function loadFillOf(): Promise<FillOf> {
  const table = await loadPriceTable();
  // Searching the table takes as long as reading a small session, and an index asks for the same few models. A window has no date.
  const known = new Map<string, ReturnType<PriceTable['lookup']>>();
  const prices: PriceTable = {
    lookup: (model) => {
      const key = JSON.stringify(model);
      if (!known.has(key)) known.set(key, table.lookup(model));
      return known.get(key);
    },
  };
  return (conversation, counter) => fillOf(conversation, counter, prices);
}
