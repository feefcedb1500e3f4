import { basename } from 'node:path';
import { loadFillLevelReader } from '../account/fillLevel';
import { hashView } from '../core/condense/ledger/ledger';
import { findReportedCondensation, renderReportPage, type ReportedCondensation } from '../pages/reportPage';
import { listProviderNames } from '../core/condense/report/report';
import { findLedgerByView, openLedger } from '../storage/ledgerStore';
import { UsageError } from './args';
import { restoreOriginalMessages } from './expand';
import { EXIT_CODE, type ExitCode } from './io';
import { checkOutputFile, writeOutputFile } from './output';
import { makeCondensationRequest, type CliSession } from './session';

/** Describes the condensation stored for the file; without one, what the provider would do. */
export async function runReportCommand(session: CliSession): Promise<ExitCode> {
  const { args, io, counter, calibrate, conversation } = session;
  if (args.out === undefined)
    throw new UsageError('report needs --out with the file of the page, such as report.html.');
  const outputFile = await checkOutputFile(args.out, io, args.file);
  const reportSubject = (await readStoredReportSubject(session)) ?? (await createPreviewReportSubject(session));
  const fill = (await loadFillLevelReader())(conversation, counter);
  const page = renderReportPage(
    { title: conversation.title || basename(args.file), format: conversation.format, fill, ...reportSubject },
    { counter, calibrate, withoutContent: args.withoutContent, version: io.version },
  );
  await writeOutputFile(outputFile, page);
  if (reportSubject.at === undefined) io.stderr('The conversation has not been condensed: the report is a preview.\n');
  io.stderr(`Written: ${outputFile}\n`);
  return EXIT_CODE.done;
}

type ReportSubject = Omit<ReportedCondensation, 'title' | 'format'>;

async function readStoredReportSubject(session: CliSession): Promise<ReportSubject | undefined> {
  const { conversation, store, manager } = session;
  const ledgerOfView = await findLedgerByView(store, hashView(conversation.messages));
  const ledger = ledgerOfView ?? (await openLedger(store, conversation));
  const condensation = findReportedCondensation(ledger.ledger, (id) => manager.getProviderDisplayName(id));
  return condensation && { ...condensation, original: await restoreOriginalMessages(session, ledger) };
}

async function createPreviewReportSubject(session: CliSession): Promise<ReportSubject> {
  const { args, conversation, manager } = session;
  const provider = manager.getProvider(args.provider);
  const outcome = await manager.condense(await makeCondensationRequest(session, provider));
  if (outcome.kind === 'cancelled') throw new Error('cancelled');
  const { steps, cost, notes } = outcome;
  const reason = outcome.kind === 'unchanged' ? [outcome.detail] : [];
  return {
    original: conversation.messages,
    edits: outcome.kind === 'condensed' ? outcome.edits : [],
    steps,
    providerName: listProviderNames(outcome, (id) => manager.getProviderDisplayName(id)),
    cost,
    notes: [...reason, ...notes],
  };
}
