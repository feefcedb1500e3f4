import { resolve } from 'node:path';
import { MessageCounter } from '../../core/tokens/messageCounter';
import { recallOriginals, type RecallableConversation } from '../../live/recall';
import { loadTokenCounter } from '../../storage/assets';
import { getDefaultStore } from '../../storage/home';
import { listLedgers, openLedger } from '../../storage/ledgerStore';
import type { CliIo } from '../io';
import type { RecallResult } from '../../gateway/recall';
import type { RecallHandler } from './server';

/** Environment variable with the URL, including the secret, of the gateway that `run` started. */
export const RECALL_ADDRESS_VARIABLE = 'CONTEXT_CONDENSER_RECALL';

export function recallFromGateway(address: string, version: string): RecallHandler {
  return async (query) => {
    const gatewayResponse = await fetch(address, {
      method: 'POST',
      body: JSON.stringify(query),
      headers: { 'content-type': 'application/json', 'user-agent': `context-condenser/${version}` },
    });
    const { text = 'Nothing was recalled: the gateway gave no answer.', ...rest } =
      (await gatewayResponse.json()) as Partial<RecallResult>;
    return { text, ...rest };
  };
}

/**
 * Finds references in all ledgers, last used first. Searches text only in the last used ledger with
 * a condensation, because an agent must not see other conversations.
 */
export async function recallFromStores(stores: readonly string[], io: CliIo): Promise<RecallHandler> {
  const storeFolders = (stores.length > 0 ? stores : [getDefaultStore(io)]).map((store) => resolve(store));
  const counter = new MessageCounter(await loadTokenCounter(io.assets));
  return async (query) => {
    const isSearch = (query.references ?? []).length === 0;
    const conversations = await listStoredConversations(storeFolders, isSearch ? 1 : MAX_SEARCHED_LEDGERS);
    return recallOriginals(conversations, query, counter);
  };
}

const MAX_SEARCHED_LEDGERS = 200;

async function listStoredConversations(
  roots: readonly string[],
  maxConversations: number,
): Promise<RecallableConversation[]> {
  const ledgersByRoot = await Promise.all(
    roots.map(async (root) => (await listLedgers(root)).map((ledger) => ({ ...ledger, root }))),
  );
  const conversations: RecallableConversation[] = [];
  for (const { about, root } of ledgersByRoot.flat().toSorted((a, b) => b.lastUsed - a.lastUsed)) {
    const ledger = await openLedger(root, about);
    if (ledger.ledger.condensations.length === 0) continue;
    conversations.push({ ledger: ledger.ledger, messages: [], originals: (hashes) => ledger.originals(hashes) });
    if (conversations.length >= maxConversations) break;
  }
  return conversations;
}
