/** The originals behind markers' references, out of the ledgers. */
import { expandReference, referencesOf, type ReferencedContent } from '../core/condense/edits/references';
import { editsShownBy, type Ledger } from '../core/condense/ledger/ledger';
import type { ReferenceId } from '../core/messages/markers';
import { findByReference, openLedger, type LedgerFile } from '../storage/ledgerStore';
import type { OriginalTask, ReferencesTask } from './tasks';
import type { ListedReference, OriginalResult } from './taskResults';

/** The original of a reference, whatever has become of the file that names it. @throws Error where it is damaged */
export async function findOriginal({ reference, stores }: OriginalTask): Promise<OriginalResult> {
  const id = reference as ReferenceId;
  for (const store of stores) {
    const ledger = await findByReference(store, id);
    const content = ledger && allReferences(ledger.ledger).get(id);
    if (ledger && content) return { text: await readText(ledger, content) };
  }
  return { text: undefined };
}

const allReferences = ({ condensations }: Ledger): Map<ReferenceId, ReferencedContent> =>
  referencesOf(condensations.flatMap(({ edits }) => edits));

async function readText(ledger: LedgerFile, content: ReferencedContent): Promise<string> {
  const original = await ledger.original(content.before);
  return expandReference(content, () => original);
}

/** How much of an original a list shows, in UTF-16 units. */
const WORDS = 120;

/** The originals of a conversation's last condensation, in the order of the messages. */
export async function listReferences({ conversation, store }: ReferencesTask): Promise<readonly ListedReference[]> {
  const ledger = await openLedger(store, { id: conversation });
  const last = ledger.ledger.condensations.findLast(({ id }) => !ledger.ledger.undone.has(id));
  if (!last) return [];
  const contents = [...referencesOf(editsShownBy(ledger.ledger, last.id)).values()];
  const listed: ListedReference[] = [];
  for (const content of contents.toSorted((a, b) => a.place.message - b.place.message || a.start - b.start)) {
    const text = await readText(ledger, content);
    const words = text
      .slice(0, 10 * WORDS)
      .replace(/\s+/g, ' ')
      .trim()
      .slice(0, WORDS)
      .toWellFormed();
    listed.push({ reference: content.reference, message: content.place.message, length: text.length, words });
  }
  return listed;
}
