import { countUsesOfRemoved } from '../../core/condense/ledger/use';
import type { HistoryEntry } from './entries';

export type HistoryFormat = 'json' | 'csv';

type CsvCell = string | number | undefined;

/** Names and values of columns. Tokens are o200k tokens, times milliseconds, costs US dollars. */
const CSV_COLUMNS: readonly (readonly [string, (entry: HistoryEntry) => CsvCell])[] = [
  ['at', ({ at }) => at],
  ['title', ({ title }) => title],
  ['conversation', ({ conversation }) => conversation],
  ['place', ({ place }) => place],
  ['path', ({ path }) => path],
  ['provider', ({ provider }) => provider],
  ['preset', ({ preset }) => preset],
  ['passes', ({ passes }) => passes.map(({ name }) => name).join(', ')],
  ['tokensBefore', ({ tokensBefore }) => tokensBefore],
  ['tokensAfter', ({ tokensAfter }) => tokensAfter],
  ['timeMs', ({ timeMs }) => timeMs],
  ['cost', ({ cost }) => cost],
  ['turnsWatched', ({ use }) => use?.turns],
  ['askedForAgain', ({ use }) => use && countUsesOfRemoved(use)],
  ['readAgain', ({ rereads }) => rereads],
  ['savedPerRequest', ({ savedPerRequest }) => savedPerRequest],
  ['isFallback', ({ isFallback }) => String(isFallback)],
  ['state', ({ state }) => state],
];

/** Returns the file's text, which ends with a newline. */
export const renderHistory = (entries: readonly HistoryEntry[], format: HistoryFormat): string =>
  format === 'json' ? `${JSON.stringify({ version: 1, entries }, undefined, 2)}\n` : renderHistoryCsv(entries);

/** Renders CSV according to RFC 4180. */
function renderHistoryCsv(entries: readonly HistoryEntry[]): string {
  const lines = [
    CSV_COLUMNS.map(([name]) => name),
    ...entries.map((entry) => CSV_COLUMNS.map(([, getValue]) => renderCsvCell(getValue(entry)))),
  ];
  return lines.map((cells) => `${cells.join(',')}\r\n`).join('');
}

/**
 * A spreadsheet would run text that begins like a formula, so an apostrophe is put before it
 * (OWASP, "CSV Injection").
 */
function renderCsvCell(value: CsvCell): string {
  if (typeof value !== 'string') return String(value ?? '');
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
