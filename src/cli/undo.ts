import { resolve } from 'node:path';
import { renderMessagesJson, readSourceText } from '../conversations/rawText';
import { applyEdits } from '../core/condense/edits/applyEdits';
import { getActiveCondensations, getActiveEdits, createUndoEntry } from '../core/condense/ledger/ledger';
import { formatTokens } from '../core/format';
import { formatProviderName } from '../core/condense/types';
import { restoreOriginalMessages } from './expand';
import { EXIT_CODE, type ExitCode } from './io';
import { readSessionLedger } from './readSessionLedger';
import { checkOutputFile, writeOutputFile } from './output';
import type { CliSession } from './session';

const UNDONE_WITHOUT_FILE_NOTE = 'The file was not written, but the condensation was undone.';

/** Reverts the last condensation; `--out` receives the resulting conversation. */
export async function runUndoCommand(session: CliSession): Promise<ExitCode> {
  const { args, io, conversation, manager, calibrate } = session;
  const outputFile = args.out === undefined ? undefined : await checkOutputFile(args.out, io, args.file);
  const ledger = await readSessionLedger(session);
  const originalMessages = await restoreOriginalMessages(session, ledger);
  const lastCondensation = getActiveCondensations(ledger.ledger).at(-1);
  const undoEntry = createUndoEntry(ledger.ledger);
  if (lastCondensation && undoEntry) await ledger.append(undoEntry, new Map());
  const { messages } = applyEdits(originalMessages, getActiveEdits(ledger.ledger));
  if (outputFile !== undefined)
    await writeOutputFile(
      outputFile,
      renderMessagesJson(conversation, messages, readSourceText(resolve(args.file))),
      UNDONE_WITHOUT_FILE_NOTE,
    );
  const undoneCondensation = lastCondensation && {
    id: lastCondensation.id,
    provider: lastCondensation.provider,
    ...(lastCondensation.configName !== undefined && { configName: lastCondensation.configName }),
    edits: lastCondensation.edits.length,
    tokensBefore: calibrate(lastCondensation.tokensBefore),
    tokensAfter: calibrate(lastCondensation.tokensAfter),
  };
  const remainingCount = getActiveCondensations(ledger.ledger).length;
  if (args.json) {
    io.stdout(`${JSON.stringify({ undone: undoneCondensation ?? null, condensationsLeft: remainingCount })}\n`);
  } else {
    io.stdout(
      undoneCondensation
        ? `Undone: ${formatProviderName(manager.getProviderDisplayName(undoneCondensation.provider), undoneCondensation.configName)}, ${undoneCondensation.edits === 1 ? '1 edit' : `${formatTokens(undoneCondensation.edits)} edits`}, ${formatTokens(undoneCondensation.tokensAfter)} → ${formatTokens(undoneCondensation.tokensBefore)} tokens.\n`
        : 'There is nothing left to undo.\n',
    );
  }
  if (outputFile !== undefined) (args.json ? io.stderr : io.stdout)(`Written: ${outputFile}\n`);
  return undoneCondensation ? EXIT_CODE.done : EXIT_CODE.nothingToGain;
}
