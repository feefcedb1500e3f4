export type Cell = string | number;

/** Formats a plain-text table; the first column is aligned left, the others right. */
export function table(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const cells = [head, ...rows.map((row) => row.map(String))];
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ')
      .trimEnd();
  const [first = [], ...others] = cells;
  return [line(first), widths.map((width) => '-'.repeat(width)).join('  '), ...others.map(line)].join('\n');
}

export function formatMarkdownTable(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const row = (cells: readonly Cell[]): string => `| ${cells.join(' | ')} |`;
  return [row(head), row(head.map((_, at) => (at === 0 ? '---' : '--:'))), ...rows.map(row)].join('\n');
}

export const percent = (share: number, digits = 1): string =>
  Number.isNaN(share) ? '–' : `${(share * 100).toFixed(digits)} %`;
export const millis = (ms: number): string => `${ms.toFixed(ms < 10 ? 1 : 0)} ms`;
export const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
