import { resolve } from 'node:path';
import { renderMessagesJson, readSourceText } from '../conversations/rawText';
import type { CondensationOutcome } from '../core/condense';
import { applyEdits } from '../core/condense/edits/applyEdits';
import { formatOutcomeReport } from '../core/condense/report/report';
import { NO_TARGET_TEXT } from '../core/condense/trigger/condition';
import { recordCondensation } from '../storage/recordCondensation';
import { computeOutcomeFigures } from './figures';
import { EXIT_CODE, type ExitCode } from './io';
import { checkOutputFile, writeOutputFile } from './output';
import { makeCondensationRequest, type CliSession } from './session';

/** Ignores earlier condensations and writes only the ledger and `--out`. */
export async function runCondenseCommand(session: CliSession): Promise<ExitCode> {
  const { args, io, conversation, manager } = session;
  const provider = manager.getProvider(args.provider);
  const outputFile = args.out === undefined ? undefined : await checkOutputFile(args.out, io, args.file);
  const request = await makeCondensationRequest(session, provider);
  const outcome = await manager.condense(request);
  if (outcome.kind === 'condensed') {
    await recordCondensation(session.store, conversation, resolve(args.file), outcome, io.now());
    if (outputFile !== undefined) {
      const { origins } = applyEdits(conversation.messages, outcome.edits);
      await writeOutputFile(
        outputFile,
        renderMessagesJson(conversation, outcome.view, readSourceText(resolve(args.file)), origins),
        'The file was not written, but the condensation is kept in the store.',
      );
    }
  }
  printOutcome(session, outcome, request.targetTokens, outputFile);
  return getExitCode(outcome);
}

function printOutcome(
  session: CliSession,
  outcome: CondensationOutcome,
  targetTokens: number | undefined,
  outputFile: string | undefined,
): void {
  const { args, io, manager, calibrate } = session;
  if (args.json) {
    io.stdout(`${JSON.stringify(computeOutcomeFigures(session, outcome))}\n`);
  } else {
    io.stdout(
      `${formatOutcomeReport(outcome, (id) => manager.getProviderDisplayName(id), { calibrate, ...(targetTokens !== undefined && { targetTokens }) })}\n`,
    );
  }
  const isTargetNeeded = outcome.steps.some(
    (step) => step.outcome.kind === 'skipped' && step.outcome.reason.includes(NO_TARGET_TEXT),
  );
  if (isTargetNeeded) io.stderr('Note: --target-tokens <n> sets a target; steps that work toward one were skipped.\n');
  if (outputFile === undefined) {
    if (outcome.kind === 'condensed' && !args.json) io.stdout('Kept in the store; --out <file> writes the result.\n');
    return;
  }
  const writeStatus = args.json ? io.stderr : io.stdout;
  writeStatus(outcome.kind === 'condensed' ? `Written: ${outputFile}\n` : `Not written: ${outputFile}\n`);
}

function getExitCode(outcome: CondensationOutcome): ExitCode {
  switch (outcome.kind) {
    case 'condensed':
      return EXIT_CODE.done;
    case 'unchanged':
      return EXIT_CODE.nothingToGain;
    case 'cancelled':
      return EXIT_CODE.cancelled;
    case 'refused':
    case 'failed':
      return EXIT_CODE.failed;
  }
}
