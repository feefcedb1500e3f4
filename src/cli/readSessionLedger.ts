import { UsageError } from './args';
import { hashView } from '../core/condense/ledger/ledger';
import { findLedgerByView, openLedger, type LedgerFile } from '../storage/ledgerStore';
import type { CliSession } from './session';

export interface ConversationLedger {
  readonly ledger: LedgerFile;
  /** True if the file is a view written by `condense --out`. */
  readonly isView: boolean;
}

/**
 * Finds the ledger of a conversation, or of a view that was made from one.
 * @throws UsageError if there is none
 */
export async function readSessionLedger({ args, conversation, store }: CliSession): Promise<ConversationLedger> {
  const ofView = await findLedgerByView(store, hashView(conversation.messages));
  if (ofView) return { ledger: ofView, isView: true };
  const ledger = await openLedger(store, conversation);
  if (ledger.ledger.condensations.length > 0) return { ledger, isView: false };
  throw new UsageError(
    `No condensation of ${args.file} was found in ${store}. Condense it first, or name another --store.`,
  );
}
