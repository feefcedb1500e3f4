/** The account as files that other programs read. */
import { groupAccount, totalOf, type AccountRow, type Grouping, type SessionAccount } from '../core/account/account';

/** The account as one JSON document: the total, the lines of a grouping, and each session. Costs are US dollars. */
export const accountJson = (sessions: readonly SessionAccount[], grouping: Grouping): string =>
  `${JSON.stringify({ total: totalOf(sessions), by: grouping, rows: groupAccount(sessions, grouping), sessions })}\n`;

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

/** The lines of a grouping as CSV (RFC 4180). `unpriced` requests are not in the cost; `replayedCost` is the least that its part may be. */
export function accountCsv(sessions: readonly SessionAccount[], grouping: Grouping): string {
  const [, ...others] = COLUMNS;
  const lines = groupAccount(sessions, grouping).map((row) => COLUMNS.map((column) => csvCell(row[column])).join(','));
  return `${[[grouping, ...others].join(','), ...lines].join('\r\n')}\r\n`;
}

/** A title may begin like a formula, which programs for tables would run. */
function csvCell(value: string | number): string {
  if (typeof value === 'number') return String(Number(value.toFixed(6)));
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
