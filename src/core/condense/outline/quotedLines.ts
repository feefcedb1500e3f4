import type { ToolExchange } from '../../messages/exchanges';
import { makeFileKey } from '../../messages/filePath';
import { getToolRule, type ToolTable } from '../../messages/tools';
import { listTouchedPaths } from '../../messages/filesTouched';

/** Trimmed lines that edits quoted or inserted, by {@link makeFileKey}. */
export type QuotedLinesByFile = ReadonlyMap<string, ReadonlySet<string>>;

/** Braces and blank lines do not identify a place in a file. */
const MIN_QUOTED_CHARS = 6;

export function collectQuotedLines(exchanges: readonly ToolExchange[], tools: ToolTable): QuotedLinesByFile {
  const linesByFile = new Map<string, Set<string>>();
  for (const exchange of exchanges) {
    if (getToolRule(tools, exchange)?.kind !== 'edit') continue;
    for (const path of listTouchedPaths(tools, exchange)) {
      const lines = linesByFile.get(makeFileKey(path)) ?? new Set<string>();
      linesByFile.set(makeFileKey(path), lines);
      for (const line of exchange.parameters.flatMap(({ text }) => text.split('\n'))) {
        addLongEnoughLine(lines, line);
        if (/^[+-]/.test(line)) addLongEnoughLine(lines, line.slice(1));
      }
    }
  }
  return linesByFile;
}

function addLongEnoughLine(lines: Set<string>, line: string): void {
  const trimmedLine = line.trim();
  if (trimmedLine.length >= MIN_QUOTED_CHARS) lines.add(trimmedLine);
}
