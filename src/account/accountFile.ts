/** The account as files that other programs read. */
import { groupAccount, addUp, type AccountRow, type Grouping, type SessionAccount } from '../core/account/account';
import { estimatedWords, unreadWords } from '../core/account/words';

/**
 * The account as one JSON document: the total, the lines of a grouping, and each session. Costs are US dollars.
 * @param unread why other sessions could not be read, one reason for each
 */
export function accountJson(
  sessions: readonly SessionAccount[],
  grouping: Grouping,
  unread: readonly string[] = [],
): string {
  const { unread: missing, estimated, ...total } = addUp(sessions, unread);
  // What is missing stands first.
  const whole = {
    total: { unread: missing, estimated, ...total },
    by: grouping,
    rows: groupAccount(sessions, grouping),
    sessions,
  };
  return `${JSON.stringify(whole)}\n`;
}

const COLUMNS = [
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

/** Of sessions, also where they stand in their tree, and what they cost with all below them. */
const TREE_COLUMNS = ['above', 'relation', 'treeSessions', 'treeRequests', 'treeCost'] as const;

/**
 * The lines of a grouping as CSV (RFC 4180). `unpriced` requests are not in the cost; `replayedCost` is the least that its part may be.
 * Where sessions could not be read, or are estimated, first lines without figures say how many and why.
 * @param unread why other sessions could not be read, one reason for each
 */
export function accountCsv(
  sessions: readonly SessionAccount[],
  grouping: Grouping,
  unread: readonly string[] = [],
): string {
  const [, ...others] = COLUMNS;
  const isTree = grouping === 'session';
  const cellsOf = ({ tree, ...row }: AccountRow): readonly (string | number)[] => [
    ...COLUMNS.map((column) => row[column]),
    ...(isTree
      ? [tree?.above ?? '', tree?.relation ?? '', tree?.sessions ?? 0, tree?.requests ?? 0, tree?.cost ?? 0]
      : []),
  ];
  const total = addUp(sessions, unread);
  const apart = (key: string, words: string): readonly (string | number)[] => [
    ...COLUMNS.map((column) => (column === 'key' ? key : column === 'label' ? words : 0)),
    ...(isTree ? ['', '', 0, 0, 0] : []),
  ];
  const lines = [
    ...(unread.length > 0 ? [apart('(not read)', unreadWords(total))] : []),
    ...(total.estimated.length > 0 ? [apart('(estimated)', estimatedWords(total))] : []),
    ...groupAccount(sessions, grouping).map(cellsOf),
  ].map((cells) => cells.map(csvCell).join(','));
  const head = [grouping, ...others, ...(isTree ? TREE_COLUMNS : [])].join(',');
  return `${[head, ...lines].join('\r\n')}\r\n`;
}

/** A title may begin like a formula, which programs for tables would run. */
function csvCell(value: string | number): string {
  if (typeof value === 'number') return String(Number(value.toFixed(6)));
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
