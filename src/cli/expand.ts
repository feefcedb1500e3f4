import { restoreOriginal } from '../core/condense/edits/applyEdits';
import { expandReference, referencesOf } from '../core/condense/edits/references';
import { editsShownBy, viewHash } from '../core/condense/ledger/ledger';
import type { ReferenceId } from '../core/messages/markers';
import type { ApiMessage } from '../core/messages/types';
import type { LedgerFile } from '../storage/ledgerStore';
import { UsageError } from './args';
import { EXIT, type ExitCode } from './io';
import { ledgerOf } from './ledgerOf';
import { messagesJson, outFile, writeWhole } from './output';
import type { Session } from './session';

/** `expand`: the originals of references, or the whole original conversation of a view. */
export async function expand(session: Session): Promise<ExitCode> {
  const { args, io, conversation } = session;
  const known = await ledgerOf(session);
  const text =
    args.references.length > 0
      ? await expandReferences(known.ledger, args.references)
      : messagesJson(conversation, await originalMessages(session, known.ledger));
  if (args.out === undefined) io.stdout(text);
  else {
    const out = await outFile(args.out, args.file);
    await writeWhole(out, text);
    io.stderr(`Written: ${out}\n`);
  }
  return EXIT.done;
}

/** The original of a view; a conversation that is no view is its own. */
export async function originalMessages({ conversation }: Session, ledger: LedgerFile): Promise<readonly ApiMessage[]> {
  const { messages } = conversation;
  const hash = viewHash(messages);
  const made = ledger.ledger.condensations.findLast((condensation) => condensation.viewHash === hash);
  if (!made) return messages;
  const edits = editsShownBy(ledger.ledger, made.id);
  const originals = await ledger.originals(edits.map(({ before }) => before));
  return restoreOriginal(messages, edits, (before) => originals.get(before));
}

/** @throws UsageError for a reference that the ledger doesn't have. */
async function expandReferences(ledger: LedgerFile, ids: readonly string[]): Promise<string> {
  const references = referencesOf(ledger.ledger.condensations.flatMap(({ edits }) => edits));
  const texts: string[] = [];
  for (const id of ids) {
    const content = references.get(id as ReferenceId);
    if (!content) throw new UsageError(`No reference ${id} is known for this conversation (${references.size} are).`);
    const original = await ledger.original(content.before);
    texts.push(expandReference(content, () => original));
  }
  return texts.join('\n');
}
