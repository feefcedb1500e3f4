import { resolve } from 'node:path';
import { restoreOriginalCallJson } from '../conversations/rawText';
import { EXPORT_TARGETS, exportConversation, type ExportTarget } from '../conversations/export';
import { applyEdits } from '../core/condense/edits/applyEdits';
import { getActiveEdits } from '../core/condense/ledger/ledger';
import type { ApiMessage } from '../core/messages/types';
import { UsageError } from './args';
import { restoreOriginalMessages } from './expand';
import { EXIT_CODE, type ExitCode } from './io';
import { readSessionLedger } from './readSessionLedger';
import { checkOutputFile, writeOutputFile } from './output';
import type { CliSession } from './session';

/** Writes the conversation in another format. Says on stderr what that format can't represent. */
export async function runExportCommand(session: CliSession): Promise<ExitCode> {
  const { args, io, conversation, counter } = session;
  const target = parseExportTarget(args.to);
  const outputFile = args.out === undefined ? undefined : await checkOutputFile(args.out, io, args.file);
  const messages = args.condensed ? await getCondensedMessages(session) : conversation.messages;
  const exportedConversation = exportConversation({ ...conversation, messages }, target, counter);
  const { notes } = exportedConversation;
  const text = restoreOriginalCallJson(exportedConversation, resolve(args.file));
  for (const note of notes) io.stderr(`Note: ${note}\n`);
  if (outputFile === undefined) (io.data ?? io.stdout)(text);
  else {
    await writeOutputFile(outputFile, text);
    io.stderr(`Written: ${outputFile}\n`);
  }
  return EXIT_CODE.done;
}

/** @throws UsageError */
function parseExportTarget(name: string | undefined): ExportTarget {
  const target = EXPORT_TARGETS.find((each) => each === name);
  if (target !== undefined) return target;
  throw new UsageError(
    `export needs --to with one of ${EXPORT_TARGETS.join(', ')}${name === undefined ? '' : `, not "${name}"`}.`,
  );
}

/** @throws UsageError if the conversation isn't condensed */
async function getCondensedMessages(session: CliSession): Promise<readonly ApiMessage[]> {
  const ledger = await readSessionLedger(session);
  const original = await restoreOriginalMessages(session, ledger);
  return applyEdits(original, getActiveEdits(ledger.ledger)).messages;
}
