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
  const out = args.out === undefined ? undefined : await checkOutputFile(args.out, io, args.file);
  const ledger = await readSessionLedger(session);
  const original = await restoreOriginalMessages(session, ledger);
  const last = getActiveCondensations(ledger.ledger).at(-1);
  const entry = createUndoEntry(ledger.ledger);
  if (last && entry) await ledger.append(entry, new Map());
  const { messages } = applyEdits(original, getActiveEdits(ledger.ledger));
  if (out !== undefined)
    await writeOutputFile(
      out,
      renderMessagesJson(conversation, messages, readSourceText(resolve(args.file))),
      UNDONE_WITHOUT_FILE_NOTE,
    );
  const undone = last && {
    id: last.id,
    provider: last.provider,
    ...(last.configName !== undefined && { configName: last.configName }),
    edits: last.edits.length,
    tokensBefore: calibrate(last.tokensBefore),
    tokensAfter: calibrate(last.tokensAfter),
  };
  const remaining = getActiveCondensations(ledger.ledger).length;
  if (args.json) {
    io.stdout(`${JSON.stringify({ undone: undone ?? null, condensationsLeft: remaining })}\n`);
  } else {
    io.stdout(
      undone
        ? `Undone: ${formatProviderName(manager.getProviderDisplayName(undone.provider), undone.configName)}, ${undone.edits === 1 ? '1 edit' : `${formatTokens(undone.edits)} edits`}, ${formatTokens(undone.tokensAfter)} → ${formatTokens(undone.tokensBefore)} tokens.\n`
        : 'There is nothing left to undo.\n',
    );
  }
  if (out !== undefined) (args.json ? io.stderr : io.stdout)(`Written: ${out}\n`);
  return undone ? EXIT_CODE.done : EXIT_CODE.nothingToGain;
}
