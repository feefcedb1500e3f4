import {
  groupAccountInRows,
  sumSessionAccounts,
  type AccountRow,
  type Grouping,
  type SessionAccount,
} from '../core/account/account';
import { describeEstimatedSessions, describeUnreadSessions } from '../core/account/words';

/**
 * Costs are in US dollars.
 * @param unread why each unreadable session could not be read
 */
export function renderAccountJson(
  sessions: readonly SessionAccount[],
  grouping: Grouping,
  unread: readonly string[] = [],
): string {
  const { unread: missing, estimated, ...total } = sumSessionAccounts(sessions, unread);
  const document = {
    total: { unread: missing, estimated, ...total },
    by: grouping,
    rows: groupAccountInRows(sessions, grouping),
    sessions,
  };
  return `${JSON.stringify(document)}\n`;
}

const CSV_COLUMNS = [
  'key',
  'label',
  'sessions',
  'requests',
  'replayed',
  'fresh',
  'cacheWrite',
  'cacheRead',
  'output',
  'cost',
  'unpriced',
  'replayedCost',
] as const satisfies readonly (keyof AccountRow)[];

const CSV_SESSION_TREE_COLUMNS = ['above', 'relation', 'treeSessions', 'treeRequests', 'treeCost'] as const;

/**
 * Renders CSV (RFC 4180). The first rows say how many sessions are unread or estimated, and why.
 * The cost excludes the `unpriced` requests. `replayedCost` is the estimated part of the cost.
 * @param unreadSessions the reason for each unreadable session
 */
export function renderAccountCsv(
  sessions: readonly SessionAccount[],
  grouping: Grouping,
  unreadSessions: readonly string[] = [],
): string {
  const [, ...columnsAfterKey] = CSV_COLUMNS;
  const isTree = grouping === 'session';
  const makeCells = ({ tree, ...row }: AccountRow): readonly (string | number)[] => [
    ...CSV_COLUMNS.map((column) => row[column]),
    ...(isTree
      ? [tree?.above ?? '', tree?.relation ?? '', tree?.sessions ?? 0, tree?.requests ?? 0, tree?.cost ?? 0]
      : []),
  ];
  const accountTotal = sumSessionAccounts(sessions, unreadSessions);
  const makeExtraRow = (key: string, words: string): readonly (string | number)[] => [
    ...CSV_COLUMNS.map((column) => (column === 'key' ? key : column === 'label' ? words : 0)),
    ...(isTree ? ['', '', 0, 0, 0] : []),
  ];
  const dataLines = [
    ...(unreadSessions.length > 0 ? [makeExtraRow('(not read)', describeUnreadSessions(accountTotal))] : []),
    ...(accountTotal.estimated.length > 0
      ? [makeExtraRow('(estimated)', describeEstimatedSessions(accountTotal))]
      : []),
    ...groupAccountInRows(sessions, grouping).map(makeCells),
  ].map((cells) => cells.map(renderCsvCell).join(','));
  const headerLine = [grouping, ...columnsAfterKey, ...(isTree ? CSV_SESSION_TREE_COLUMNS : [])].join(',');
  return `${[headerLine, ...dataLines].join('\r\n')}\r\n`;
}

/** Escapes leading characters that spreadsheets would run as a formula. */
function renderCsvCell(value: string | number): string {
  if (typeof value === 'number') return String(Number(value.toFixed(6)));
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
