import { join } from 'node:path';
import { renderAccountCsv, renderAccountJson } from '../account/accountFile';
import { accountStores, type StoresAccount } from '../account/accountStores';
import {
  GROUPINGS,
  groupAccount,
  makeOverview,
  sessionsSince,
  addUp,
  type AccountRow,
  type Grouping,
} from '../core/account/account';
import { renderAccountPage } from '../pages/accountPage';
import { PART_KINDS, PART_WORDS } from '../core/account/parts';
import {
  COMPACTION_WORDS,
  formatMoney,
  periodWords,
  estimatedWords,
  replayedWords,
  sentOftenWords,
  treeWords,
  uncomposedWords,
  unreadWords,
} from '../core/account/words';
import { formatTokens } from '../core/format';
import { localDay, startOfDays } from '../core/localDay';
import { formatShare } from '../core/percent';
import { plural } from '../core/plural';
import { maskValue } from '../core/secrets/maskMessages';
import { loadTokenCounter } from '../storage/assets';
import { OWN } from '../storage/ownFiles';
import { parseOptions, positiveInteger, UsageError } from './args';
import { accountLine } from './accountLine';
import { findChoice, whatIfCommand, whatIfOfAll } from './whatIf';
import { belongsTo, outFile, ownFile, ownStore, writeWhole } from './output';
import { EXIT, type CliIo, type ExitCode } from './io';

/** Longer tables belong in a file. */
const SHOWN_ROWS = 20;

/** Days of sessions read for the line. */
const LINE_DAYS = 2;

/** `account`: cost and composition of all agents' sessions on this machine. */
export async function accountCommand(argv: readonly string[], io: CliIo): Promise<ExitCode> {
  const { by, days, json, csv, out, store, files, line, session, ...asked } = parseValues(argv);
  if (asked.with !== undefined && files.length > 0)
    return whatIfCommand(files, asked.with, { window: asked.window, json }, io);
  // The current block started yesterday at the earliest, unless blocks follow each other without a
  // pause.
  const wanted = line ? LINE_DAYS : days;
  const since = wanted === undefined ? undefined : startOfDays(wanted, io.now().getTime());
  const { platform, env, homedir } = io;
  const folder = await ownStore(store, io);
  const cache = await ownFile('--store', join(folder, 'account.json'), OWN.account);
  const whatIfCache = await ownFile('--store', join(folder, 'whatIf.json'), OWN.whatIf);
  const file = out === undefined ? undefined : await outFile(out, io);
  const all = await accountStores(
    {
      find: { platform, env, homedir },
      cache,
      ...(since !== undefined && { since }),
    },
    () => loadTokenCounter(io.assets),
    (done, of) => {
      io.signal.throwIfAborted();
      io.showProgress?.(`${done} of ${of} sessions`);
    },
  );
  if (line) {
    io.stdout(`${accountLine(all.sessions, { now: io.now().getTime(), cwd: process.cwd(), session })}\n`);
    return EXIT.done;
  }
  const sinceDay = since === undefined ? undefined : localDay(since);
  // Secrets in titles, commands and paths are masked, since pipes and files may be shared.
  const account = {
    ...all,
    sessions: maskValue(sessionsSince(all.sessions, sinceDay)),
    problems: maskValue(all.problems),
  };
  const unread = account.problems.map(({ reason }) => reason);
  const whatIf =
    asked.with === undefined
      ? undefined
      : await whatIfOfAll(all.sessions, asked.with, { period: periodWords(days), sinceDay, cache: whatIfCache }, io);
  for (const { path, reason } of account.problems) io.stderr(`Left out: ${path}: ${reason}\n`);
  const data = renderData();
  if (file === undefined) {
    io.stdout(data ?? whatIf?.words ?? formatAccount(account, by, periodWords(days)));
    return EXIT.done;
  }
  for (const { path } of all.sessions) {
    if (await belongsTo(path, file))
      throw new UsageError("--out names an agent's session, which is never overwritten. Nothing was written.");
  }
  await writeWhole(
    file,
    data ?? renderAccountPage(makeOverview(account.sessions, undefined, unread), { version: io.version, days, whatIf }),
  );
  io.stderr(`Written: ${file}\n`);
  return EXIT.done;

  /** Machine-readable output, if requested. */
  function renderData(): string | undefined {
    if (json && whatIf) return `${JSON.stringify({ with: asked.with, ...whatIf.sum })}\n`;
    if (json) return renderAccountJson(account.sessions, by, unread);
    return csv ? renderAccountCsv(account.sessions, by, unread) : undefined;
  }
}

function parseValues(argv: readonly string[]) {
  const { values: given, positionals: files } = parseOptions(argv, ['account']);
  const { by, days, ...values } = { ...given, files };
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
  // Fails before reading anything.
  if (values.with !== undefined) findChoice(values.with);
  return {
    ...values,
    window: positiveInteger('--window', values.window),
    by,
    days: positiveInteger('--days', days),
  };
}

const isGrouping = (text: string): text is Grouping => (GROUPINGS as readonly string[]).includes(text);

function formatAccount({ sessions, problems }: StoresAccount, by: Grouping, period: string): string {
  const total = addUp(
    sessions,
    problems.map(({ reason }) => reason),
  );
  const unread = unreadWords(total);
  const apart = [estimatedWords(total), unread].filter((words) => words !== '');
  if (total.requests === 0)
    return `${period}: no requests in the sessions that agents have stored here${unread === '' ? '' : `; ${unread}`}. docs/formats.md lists where they are searched for.\n`;
  const rows = groupAccount(sessions, by);
  const sent = PART_KINDS.reduce((sum, kind) => sum + total.parts[kind], 0);
  const { compactions } = total;
  const lines = [
    `${period}: ${plural(total.sessions, 'session')}, ${plural(total.requests, 'request')}: ${[formatMoney(total), ...apart].join('; ')}`,
    ` - Input: ${formatTokens(total.fresh)} tokens fresh, ${formatTokens(total.cacheWrite)} written to caches, ${formatTokens(total.cacheRead)} read from them; output: ${formatTokens(total.output)}`,
    ...(total.replayed > 0 ? [` - ${plural(total.replayed, 'request')} ${replayedWords(total.replayed, total)}.`] : []),
    ...(compactions.count > 0 ? [` - ${COMPACTION_WORDS(compactions)}`] : []),
    '',
    `By ${by}`,
    ...rows.slice(0, SHOWN_ROWS).map(formatRow),
    ...(rows.length > SHOWN_ROWS ? [` - ${rows.length - SHOWN_ROWS} more: --csv has them all`] : []),
    '',
    'What the requests contained (shares of all tokens sent)',
    ...PART_KINDS.filter((kind) => total.parts[kind] > 0)
      .sort((a, b) => total.parts[b] - total.parts[a])
      .map((kind) => ` - ${PART_WORDS[kind]}: ${formatShare(total.parts[kind], sent, 1)}`),
    ...(sent > 0 ? [sentOftenWords(total.sentOften, sent)] : []),
    ...(total.uncomposed > 0 ? [uncomposedWords(total)] : []),
    ...section(
      'Files read again and again',
      total.files.map(
        ({ path, reads, tokens, session }) =>
          ` - ${path}: ${plural(reads, 'read')}, ${formatTokens(tokens)} tokens (${session})`,
      ),
    ),
    ...section(
      'Results that were never used again',
      total.unused.map(
        ({ tool, what, tokens, sent: times, session }) =>
          ` - ${[tool, what].join(' ').trim()}: ${formatTokens(tokens)} tokens, sent ${plural(times, 'time')} (${session})`,
      ),
    ),
  ];
  return `${lines.join('\n')}\n`;
}

/** Sessions are indented below the session that started or was forked to them. */
function formatRow(row: AccountRow): string {
  const below = treeWords(row);
  const indent = '  '.repeat(row.tree?.depth ?? 0);
  return `${indent} - ${row.label}: ${plural(row.requests, 'request')}, ${formatMoney(row)}${below === '' ? '' : `; ${below}`}`;
}

const section = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : ['', title, ...lines];
