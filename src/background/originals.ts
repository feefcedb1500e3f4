import { expandReference, collectReferences, type ReferencedContent } from '../core/condense/edits/references';
import { getEditsAfterCondensation, type Ledger } from '../core/condense/ledger/ledger';
import type { ReferenceId } from '../core/messages/markers';
import { findLedgerByReference, openLedger, type LedgerFile } from '../storage/ledgerStore';
import type { OriginalTask, ReferencesTask } from './tasks';
import type { ListedReference, OriginalResult } from './taskResults';

/**
 * Finds the original of a reference in the ledgers, without the agent's file.
 * @throws Error if the original is damaged
 */
export async function findReferencedOriginal({ reference, stores }: OriginalTask): Promise<OriginalResult> {
  const referenceId = reference as ReferenceId;
  for (const store of stores) {
    const ledger = await findLedgerByReference(store, referenceId);
    const content = ledger && listAllReferences(ledger.ledger).get(referenceId);
    if (ledger && content) return { text: await readOriginalText(ledger, content) };
  }
  return { text: undefined };
}

const listAllReferences = ({ condensations }: Ledger): Map<ReferenceId, ReferencedContent> =>
  collectReferences(condensations.flatMap(({ edits }) => edits));

async function readOriginalText(ledger: LedgerFile, content: ReferencedContent): Promise<string> {
  const original = await ledger.original(content.before);
  return expandReference(content, () => original);
}

const MAX_PREVIEW_CHARS = 120;

export async function listReferences({ conversation, store }: ReferencesTask): Promise<readonly ListedReference[]> {
  const ledger = await openLedger(store, { id: conversation });
  const lastCondensation = ledger.ledger.condensations.findLast(({ id }) => !ledger.ledger.undone.has(id));
  if (!lastCondensation) return [];
  const contents = [...collectReferences(getEditsAfterCondensation(ledger.ledger, lastCondensation.id)).values()];
  const listedReferences: ListedReference[] = [];
  for (const content of contents.toSorted((a, b) => a.place.message - b.place.message || a.start - b.start)) {
    const text = await readOriginalText(ledger, content);
    const beginning = text
      .slice(0, 10 * MAX_PREVIEW_CHARS)
      .replace(/\s+/g, ' ')
      .trim()
      .slice(0, MAX_PREVIEW_CHARS)
      .toWellFormed();
    listedReferences.push({
      reference: content.reference,
      message: content.place.message,
      length: text.length,
      words: beginning,
    });
  }
  return listedReferences;
}
