import { UsageError } from './args';
import { hashView } from '../core/condense/ledger/ledger';
import { findLedgerByView, openLedger, type LedgerFile } from '../storage/ledgerStore';
import type { CliSession } from './session';

/**
 * Finds the ledger of a conversation, or the one from which a condensed view was made.
 * @throws UsageError if there is none
 */
export async function readSessionLedger({ args, conversation, store }: CliSession): Promise<LedgerFile> {
  const ledgerOfView = await findLedgerByView(store, hashView(conversation.messages));
  if (ledgerOfView) return ledgerOfView;
  const ledger = await openLedger(store, conversation);
  if (ledger.ledger.condensations.length > 0) return ledger;
  throw new UsageError(
    `No condensation of ${args.file} was found in ${store}. Condense it first, or name another --store.`,
  );
}
