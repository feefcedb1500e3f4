import { join } from 'node:path';
import { renderAccountCsv, renderAccountJson } from '../account/accountFile';
import { computeAccountOfStores, type StoresAccount } from '../account/accountStores';
import {
  GROUPINGS,
  groupAccountInRows,
  makeAccountOverview,
  dropUsageBefore,
  sumSessionAccounts,
  type AccountRow,
  type Grouping,
} from '../core/account/account';
import { renderAccountPage } from '../pages/accountPage';
import { PART_KINDS, PART_LABELS } from '../core/account/parts';
import {
  describeCompactions,
  formatAccountCost,
  describePeriod,
  describeEstimatedSessions,
  describeReplayedRequests,
  describeTokensSentOften,
  describeSessionTree,
  describeSessionsWithoutParts,
  describeUnreadSessions,
} from '../core/account/words';
import { formatTokens } from '../core/format';
import { formatLocalDay, getPeriodStartMs } from '../core/localDay';
import { formatShare } from '../core/percent';
import { formatPlural } from '../core/plural';
import { maskValue } from '../core/secrets/maskMessages';
import { loadTokenCounter } from '../storage/assets';
import { OWN_FILE_KINDS } from '../storage/ownFiles';
import { parseOptions, parsePositiveInteger, UsageError } from './args';
import { formatAccountLine } from './accountLine';
import { parseWhatIfChoice, runWhatIfCommand, computeWhatIfForSessions } from './whatIf';
import { isStoredInFile, checkOutputFile, checkWritableOwnFile, checkStoreFolder, writeOutputFile } from './output';
import { EXIT_CODE, type CliIo, type ExitCode } from './io';

const MAX_SHOWN_ROWS = 20;

/** Number of days, including today, whose sessions are read for the status line. */
const ACCOUNT_LINE_DAYS = 2;

export async function runAccountCommand(argv: readonly string[], io: CliIo): Promise<ExitCode> {
  const { by, days, json, csv, out, store, files, line, session, ...whatIfOptions } = parseAccountOptions(argv);
  if (whatIfOptions.with !== undefined && files.length > 0)
    return runWhatIfCommand(files, whatIfOptions.with, { window: whatIfOptions.window, json }, io);
  // The current 5-hour block started yesterday at the earliest, unless blocks follow each other
  // without a pause.
  const periodDays = line ? ACCOUNT_LINE_DAYS : days;
  const sinceMs = periodDays === undefined ? undefined : getPeriodStartMs(periodDays, io.now().getTime());
  const { platform, env, homedir } = io;
  const folder = await checkStoreFolder(store, io);
  const cacheFile = await checkWritableOwnFile('--store', join(folder, 'account.json'), OWN_FILE_KINDS.account);
  const whatIfCacheFile = await checkWritableOwnFile('--store', join(folder, 'whatIf.json'), OWN_FILE_KINDS.whatIf);
  const outputFile = out === undefined ? undefined : await checkOutputFile(out, io);
  const storesAccount = await computeAccountOfStores(
    {
      find: { platform, env, homedir },
      cache: cacheFile,
      ...(sinceMs !== undefined && { since: sinceMs }),
    },
    () => loadTokenCounter(io.assets),
    (done, total) => {
      io.signal.throwIfAborted();
      io.showProgress?.(`${done} of ${total} sessions`);
    },
  );
  if (line) {
    io.stdout(
      `${formatAccountLine(storesAccount.sessions, { now: io.now().getTime(), cwd: process.cwd(), session })}\n`,
    );
    return EXIT_CODE.done;
  }
  const sinceDay = sinceMs === undefined ? undefined : formatLocalDay(sinceMs);
  // Mask secrets in titles, commands and paths, because pipes and files may be shared.
  const account = {
    ...storesAccount,
    sessions: maskValue(dropUsageBefore(storesAccount.sessions, sinceDay)),
    problems: maskValue(storesAccount.problems),
  };
  const unreadReasons = account.problems.map(({ reason }) => reason);
  const whatIf =
    whatIfOptions.with === undefined
      ? undefined
      : await computeWhatIfForSessions(
          storesAccount.sessions,
          whatIfOptions.with,
          { period: describePeriod(days), sinceDay, cache: whatIfCacheFile },
          io,
        );
  for (const { path, reason } of account.problems) io.stderr(`Left out: ${path}: ${reason}\n`);
  const machineReadableText = renderMachineReadable();
  if (outputFile === undefined) {
    io.stdout(machineReadableText ?? whatIf?.lines ?? formatAccountText(account, by, describePeriod(days)));
    return EXIT_CODE.done;
  }
  for (const { path } of storesAccount.sessions) {
    if (await isStoredInFile(path, outputFile))
      throw new UsageError("--out names an agent's session, which is never overwritten. Nothing was written.");
  }
  await writeOutputFile(
    outputFile,
    machineReadableText ??
      renderAccountPage(makeAccountOverview(account.sessions, undefined, unreadReasons), {
        version: io.version,
        days,
        whatIf,
      }),
  );
  io.stderr(`Written: ${outputFile}\n`);
  return EXIT_CODE.done;

  function renderMachineReadable(): string | undefined {
    if (json && whatIf) return `${JSON.stringify({ with: whatIfOptions.with, ...whatIf.sum })}\n`;
    if (json) return renderAccountJson(account.sessions, by, unreadReasons);
    return csv ? renderAccountCsv(account.sessions, by, unreadReasons) : undefined;
  }
}

function parseAccountOptions(argv: readonly string[]) {
  const { values: options, positionals: files } = parseOptions(argv, ['account']);
  const { by, days, ...values } = { ...options, files };
  if (!isGrouping(by)) throw new UsageError(`--by must be one of ${GROUPINGS.join(', ')}, not "${by}".`);
  if (values.json && values.csv) throw new UsageError("--json and --csv can't be combined: use one of them.");
  if (values.files.length > 1 || (values.files.length === 1 && values.with === undefined)) {
    throw new UsageError(
      'A file is only for --with, which then replays that one session: account <file> --with file-aware.',
    );
  }
  if (values.files.length === 1 && (values.out !== undefined || values.csv || days !== undefined))
    throw new UsageError('For one session, --with prints text or --json; --out, --csv and --days do not apply.');
  if (
    values.line &&
    (values.json || values.csv || values.out !== undefined || days !== undefined || values.with !== undefined)
  )
    throw new UsageError('--line prints one line: --json, --csv, --out, --days and --with do not apply.');
  if (values.session !== undefined && !values.line)
    throw new UsageError('--session is for --line: account --line --session <id>.');
  if (values.window !== undefined && values.files.length === 0)
    throw new UsageError('--window is for one session: account <file> --with file-aware --window 200000.');
  if (values.with !== undefined && values.csv)
    throw new UsageError('--with prints one line of figures: use --json, not --csv.');
  // Reject an invalid choice before any session is read.
  if (values.with !== undefined) parseWhatIfChoice(values.with);
  return {
    ...values,
    window: parsePositiveInteger('--window', values.window),
    by,
    days: parsePositiveInteger('--days', days),
  };
}

const isGrouping = (text: string): text is Grouping => (GROUPINGS as readonly string[]).includes(text);

function formatAccountText({ sessions, problems }: StoresAccount, by: Grouping, period: string): string {
  const total = sumSessionAccounts(
    sessions,
    problems.map(({ reason }) => reason),
  );
  const unreadText = describeUnreadSessions(total);
  const remarks = [describeEstimatedSessions(total), unreadText].filter((words) => words !== '');
  if (total.requests === 0)
    return `${period}: no requests in the sessions that agents have stored here${unreadText === '' ? '' : `; ${unreadText}`}. docs/formats.md lists where they are searched for.\n`;
  const rows = groupAccountInRows(sessions, by);
  const sentTokens = PART_KINDS.reduce((sum, kind) => sum + total.parts[kind], 0);
  const { compactions } = total;
  const lines = [
    `${period}: ${formatPlural(total.sessions, 'session')}, ${formatPlural(total.requests, 'request')}: ${[formatAccountCost(total), ...remarks].join('; ')}`,
    ` - Input: ${formatTokens(total.fresh)} tokens not cached, ${formatTokens(total.cacheWrite)} written to caches, ${formatTokens(total.cacheRead)} read from them; output: ${formatTokens(total.output)}`,
    ...(total.replayed > 0
      ? [` - ${formatPlural(total.replayed, 'request')} ${describeReplayedRequests(total.replayed, total)}.`]
      : []),
    ...(compactions.count > 0 ? [` - ${describeCompactions(compactions)}`] : []),
    '',
    `By ${by}`,
    ...rows.slice(0, MAX_SHOWN_ROWS).map(formatAccountRow),
    ...(rows.length > MAX_SHOWN_ROWS ? [` - ${rows.length - MAX_SHOWN_ROWS} more: --csv has them all`] : []),
    '',
    'What the requests contained (shares of all tokens sent)',
    ...PART_KINDS.filter((kind) => total.parts[kind] > 0)
      .sort((a, b) => total.parts[b] - total.parts[a])
      .map((kind) => ` - ${PART_LABELS[kind]}: ${formatShare(total.parts[kind], sentTokens, 1)}`),
    ...(sentTokens > 0 ? [describeTokensSentOften(total.sentOften, sentTokens)] : []),
    ...(total.uncomposed > 0 ? [describeSessionsWithoutParts(total)] : []),
    ...formatTitledSection(
      'Files read again and again',
      total.files.map(
        ({ path, reads, tokens, session }) =>
          ` - ${path}: ${formatPlural(reads, 'read')}, ${formatTokens(tokens)} tokens (${session})`,
      ),
    ),
    ...formatTitledSection(
      'Results that were never used again',
      total.unused.map(
        ({ tool, what, tokens, sent: times, session }) =>
          ` - ${[tool, what].join(' ').trim()}: ${formatTokens(tokens)} tokens, sent ${formatPlural(times, 'time')} (${session})`,
      ),
    ),
  ];
  return `${lines.join('\n')}\n`;
}

/** Indents a session below the session that started it or from which it was forked. */
function formatAccountRow(row: AccountRow): string {
  const treeText = describeSessionTree(row);
  const indent = '  '.repeat(row.tree?.depth ?? 0);
  return `${indent} - ${row.label}: ${formatPlural(row.requests, 'request')}, ${formatAccountCost(row)}${treeText === '' ? '' : `; ${treeText}`}`;
}

const formatTitledSection = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : ['', title, ...lines];
