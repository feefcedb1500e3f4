import { resolve } from 'node:path';
import { renderMessagesJson, readSourceText } from '../conversations/rawText';
import { restoreMessagesBeforeEdits } from '../core/condense/edits/applyEdits';
import { expandReference, collectReferences, type ReferencedContent } from '../core/condense/edits/references';
import { getEditsAfterCondensation, hashView } from '../core/condense/ledger/ledger';
import type { ReferenceId } from '../core/messages/markers';
import type { ApiMessage } from '../core/messages/types';
import { findLedgerByReference, type LedgerFile } from '../storage/ledgerStore';
import { UsageError } from './args';
import { EXIT_CODE, type ExitCode } from './io';
import { readSessionLedger } from './readSessionLedger';
import { checkOutputFile, writeOutputFile } from './output';
import type { CliSession } from './session';

/**
 * Prints the originals of the given references; without references, the whole original conversation
 * of a view.
 */
export async function runExpandCommand(session: CliSession): Promise<ExitCode> {
  const { args, io, conversation, store } = session;
  const text =
    args.references.length > 0
      ? await expandReferences(store, args.references)
      : renderMessagesJson(
          conversation,
          await restoreOriginalMessages(session, await readSessionLedger(session)),
          readSourceText(resolve(args.file)),
        );
  if (args.out === undefined) (io.data ?? io.stdout)(text);
  else {
    const outputFile = await checkOutputFile(args.out, io, args.file);
    await writeOutputFile(outputFile, text);
    io.stderr(`Written: ${outputFile}\n`);
  }
  return EXIT_CODE.done;
}

/**
 * Returns the original messages of a condensed view. Any other conversation is returned unchanged.
 */
export async function restoreOriginalMessages(
  { conversation }: CliSession,
  ledger: LedgerFile,
): Promise<readonly ApiMessage[]> {
  const { messages } = conversation;
  const hash = hashView(messages);
  const latestCondensation = ledger.ledger.condensations.findLast((condensation) => condensation.viewHash === hash);
  if (!latestCondensation) return messages;
  const edits = getEditsAfterCondensation(ledger.ledger, latestCondensation.id);
  const originals = await ledger.originals(edits.map(({ before }) => before));
  return restoreMessagesBeforeEdits(messages, edits, (before) => originals.get(before));
}

/**
 * The file may be a continued view or a copy, so search the whole store.
 * @throws UsageError for an unknown reference
 */
async function expandReferences(store: string, ids: readonly string[]): Promise<string> {
  const originalTexts: string[] = [];
  let ledger: LedgerFile | undefined;
  for (const reference of ids as readonly ReferenceId[]) {
    // References in one command usually belong to one conversation.
    if (!ledger || !findReferencedContent(ledger, reference)) ledger = await findLedgerByReference(store, reference);
    const content = ledger && findReferencedContent(ledger, reference);
    if (!ledger || !content)
      throw new UsageError(
        `Reference ${reference} was not found in ${store}. Check it, or name another --store. A reference is what follows "ref" in a marker, such as 3fa9c1.`,
      );
    const original = await ledger.original(content.before);
    originalTexts.push(expandReference(content, () => original));
  }
  return originalTexts.join('\n');
}

const findReferencedContent = ({ ledger }: LedgerFile, id: ReferenceId): ReferencedContent | undefined =>
  collectReferences(ledger.condensations.flatMap(({ edits }) => edits)).get(id);
