import { listOriginalExchanges } from '../conversationMemory';
import { getContentPlace, type PlacedContent, type ToolExchange } from '../../messages/exchanges';
import { makeFileKey } from '../../messages/filePath';
import { DEFAULT_TOOLS, type ToolTable } from '../../messages/tools';
import type { CutRequest } from '../draft/cuts';
import type { Draft } from '../draft/draft';
import type { MechanicalStep } from '../draft/steps';
import { findFileReads, createTurnCounter, type FileRead } from './fileAge';
import { markLinesToKeep, type OutlinedFileLine, type FileReadWithKeptLines, type OutlineRules } from './fileLines';
import { collectQuotedLines } from './quotedLines';

export interface OutlineOptions extends OutlineRules {
  /** A read is outlined if its file was neither read nor edited for this many turns. */
  readonly coldTurns: number;
  /** Shorter reads stay unchanged. */
  readonly minimumTokens: number;
  /** o200k tokens of the draft at which to stop; undefined for no limit. */
  readonly targetTokens?: number | undefined;
  /** False for content that the pass does not select or that it protects. */
  readonly mayTouch: (content: PlacedContent, exchange: ToolExchange) => boolean;
  readonly tools?: ToolTable;
}

/** Reduces old file reads to declarations and quoted lines, oldest first. */
export const createOutlineStep = (name: string, options: OutlineOptions): MechanicalStep => ({
  name,
  run(draft) {
    const { tools = DEFAULT_TOOLS, targetTokens = -1, coldTurns } = options;
    const reads = findFileReads(draft.exchanges, tools, createTurnCounter(draft.messages));
    const coldReads = reads.filter(({ turns }) => turns >= coldTurns);
    if (coldReads.length === 0) return;
    // Uses the original, because another pass may have cut an edit's parameters.
    const quotedLinesByFile = collectQuotedLines(listOriginalExchanges(draft.original), tools);
    for (const read of coldReads) {
      const quotedLineSets = read.paths
        .map((path) => quotedLinesByFile.get(makeFileKey(path)))
        .filter((set) => set !== undefined);
      const isQuoted = (line: string): boolean => quotedLineSets.some((set) => set.has(line));
      for (const content of read.exchange.results) {
        if (draft.tokens <= targetTokens) return;
        if (content.message <= draft.task) continue;
        if (!options.mayTouch(content, read.exchange)) continue;
        if (draft.counter.countText(content.text) < options.minimumTokens) continue;
        outlineRead(name, draft, markLinesToKeep(content, read.paths[0], isQuoted, options), read);
      }
    }
  },
});

function outlineRead(
  name: string,
  draft: Draft,
  { content, lines, isKept }: FileReadWithKeptLines,
  { turns }: FileRead,
): void {
  // Markers need not name the file, because the call does.
  const requests = findRemovedLineRanges(isKept, lines).map(({ start, end, range }): CutRequest => ({
    start: content.start + start,
    end: content.start + end,
    marker: range,
  }));
  if (requests.length === 0) return;
  draft.cutText(name, getContentPlace(content), requests, {
    contentType: content.type,
    operation: 'outline',
    reason: `the file was neither read nor edited for ${turns} turns`,
    strict: false,
  });
}

/** Fewer lines are not worth a marker. */
const MIN_REMOVED_LINES = 4;

function findRemovedLineRanges(
  isKept: readonly boolean[],
  lines: readonly OutlinedFileLine[],
): { start: number; end: number; range: string }[] {
  const removedRanges: { start: number; end: number; range: string }[] = [];
  for (let lineIndex = 0; lineIndex < lines.length; lineIndex++) {
    const firstLine = lines[lineIndex];
    if (isKept[lineIndex] !== false || !firstLine) continue;
    const firstRemovedIndex = lineIndex;
    while (lineIndex + 1 < lines.length && isKept[lineIndex + 1] === false) lineIndex++;
    const lastLine = lines[lineIndex] ?? firstLine;
    const count = lineIndex - firstRemovedIndex + 1;
    if (count < MIN_REMOVED_LINES) continue;
    const isNumbered = firstLine.number !== undefined && lastLine.number === firstLine.number + count - 1;
    const range = isNumbered ? `lines ${firstLine.number}-${lastLine.number}` : `${count} lines`;
    removedRanges.push({ start: firstLine.start, end: lastLine.end, range });
  }
  return removedRanges;
}
