import { randomUUID } from 'node:crypto';
import type { CondensationOutcome } from '../core/condense';
import { hashView, type CondensationId } from '../core/condense/ledger/ledger';
import type { ApiMessage } from '../core/messages/types';
import { openLedger, collectOriginals, type LedgerFile } from './ledgerStore';

export interface RecordedConversation {
  readonly id: string;
  readonly title: string;
  readonly format: string;
  readonly messages: readonly ApiMessage[];
}

/**
 * Records a condensation. Call this before showing or writing the view, which must not exist
 * without its originals.
 * @throws StorageError
 */
export async function recordCondensation(
  store: string,
  conversation: RecordedConversation,
  path: string,
  outcome: CondensationOutcome & { readonly kind: 'condensed' },
  now: Date,
): Promise<LedgerFile> {
  const { id, title, format } = conversation;
  const ledger = await openLedger(store, { id, title, format, path });
  const { provider, configNames = {}, edits, steps, tokensBefore, tokensAfter, cost, view } = outcome;
  await ledger.append(
    {
      type: 'condensed',
      condensation: {
        id: randomUUID() as string as CondensationId,
        at: now.toISOString(),
        provider,
        configName: configNames[provider],
        base: 'original',
        edits,
        steps,
        tokensBefore,
        tokensAfter,
        cost,
        viewHash: hashView(view),
      },
    },
    collectOriginals(conversation.messages, edits),
  );
  await ledger.holdFolder();
  return ledger;
}
