/** Counts how often an agent asks again for content that a condensation removed. */
import { isRecallExchange, type ToolExchange } from '../../messages/exchanges';
import { listFileChanges } from '../../messages/fileChanges';
import { listFileParts } from '../../messages/fileParts';
import { isSameFile } from '../../messages/filePath';
import { getToolRule, type ToolTable } from '../../messages/tools';
import type { Slice } from '../../slice';
import { makePlaceKey, type Edit } from '../edits/edits';
import { splitIntoFileLines, MIN_LINE_CHARS } from '../lines/shownLines';

export const TURNS_WATCHED_AFTER_CONDENSATION = 20;

export interface UseAfterCondensation {
  readonly turns: number;
  /** File reads that showed removed lines again. */
  readonly rereads: number;
  readonly recalls: number;
  /** Counts failed edits in files from which lines were removed. */
  readonly failedEdits: number;
  /**
   * Number of uses to expect without condensing, estimated from the turns before any condensation.
   */
  readonly expected: number;
}

export const ZERO_USE_AFTER_CONDENSATION: UseAfterCondensation = {
  turns: 0,
  rereads: 0,
  recalls: 0,
  failedEdits: 0,
  expected: 0,
};

export const countUsesOfRemoved = ({ rereads, recalls, failedEdits }: UseAfterCondensation): number =>
  rereads + recalls + failedEdits;

/** Fewer requests for removed content can be due to chance. */
const MIN_EXCESSIVE_USES = 5;
const EXCESS_FACTOR = 2;

export const isUseExcessive = (use: UseAfterCondensation): boolean =>
  countUsesOfRemoved(use) >= MIN_EXCESSIVE_USES && countUsesOfRemoved(use) > EXCESS_FACTOR * use.expected;

/** A read or search may show fewer known lines by chance. */
const MIN_REREAD_LINES = 3;

/** Treats all spellings of a path as one file. */
export class LinesByFile {
  private readonly filesByName = new Map<string, { readonly path: string; readonly lines: Set<string> }[]>();

  addLine(path: string, line: string): void {
    if (line.length < MIN_LINE_CHARS) return;
    const name = getFileName(path);
    let linesOfFile = this.findLines(path);
    if (!linesOfFile)
      this.filesByName.set(name, [...(this.filesByName.get(name) ?? []), { path, lines: (linesOfFile = new Set()) }]);
    linesOfFile.add(line);
  }

  copyWithoutLines(excludedLines: LinesByFile): LinesByFile {
    const remainingLines = new LinesByFile();
    for (const files of this.filesByName.values())
      for (const { path, lines } of files)
        for (const line of lines) if (!excludedLines.findLines(path)?.has(line)) remainingLines.addLine(path, line);
    return remainingLines;
  }

  findLines(path: string): Set<string> | undefined {
    return this.filesByName.get(getFileName(path))?.find((file) => isSameFile(file.path, path))?.lines;
  }
}

const getFileName = (path: string): string => (path.split(/[\\/]/).at(-1) ?? '').toLowerCase();

export function classifyUseOfRemoved(
  exchange: ToolExchange,
  tools: ToolTable,
  removedLines: LinesByFile,
): keyof Pick<UseAfterCondensation, 'rereads' | 'recalls' | 'failedEdits'> | undefined {
  if (exchange.isDisplay) return undefined;
  const kind = getToolRule(tools, exchange)?.kind;
  if (exchange.isError) {
    const isFileCondensed = listFileChanges(tools, exchange).some(
      ({ path }) => removedLines.findLines(path) !== undefined,
    );
    return isFileCondensed && kind !== 'command' ? 'failedEdits' : undefined;
  }
  if (isRecallExchange(exchange)) return 'recalls';
  if (kind !== 'read' && kind !== 'command' && kind !== 'search') return undefined;
  const rereadLines = new Set<string>();
  for (const { path, line } of findShownLines(exchange, tools, 'results')) {
    if (removedLines.findLines(path)?.has(line)) rereadLines.add(line);
    if (rereadLines.size >= MIN_REREAD_LINES) return 'rereads';
  }
  return undefined;
}

interface FileLineSlice extends Slice {
  readonly path: string;
  readonly line: string;
  readonly content: ToolExchange['results'][number];
}

/** Offsets refer to the string that contains the content. */
function* findShownLines(
  exchange: ToolExchange,
  tools: ToolTable,
  source: 'results' | 'all',
): Generator<FileLineSlice> {
  for (const content of source === 'all' ? [...exchange.parameters, ...exchange.results] : exchange.results) {
    for (const { path, start, end, linePrefix } of listFileParts(tools, exchange, content)) {
      const partStart = content.start + start;
      for (const line of splitIntoFileLines(content.text.slice(start, end), linePrefix === 'diff'))
        yield { path, line: line.text, start: partStart + line.start, end: partStart + line.end, content };
    }
  }
}

export function addShownLines(lines: LinesByFile, exchange: ToolExchange, tools: ToolTable): void {
  for (const { path, line } of findShownLines(exchange, tools, 'all')) lines.addLine(path, line);
}

/** Adds lines to `removed` if only the reference store has them, otherwise to `remaining`. */
export function splitIntoShownLines(
  exchange: ToolExchange,
  tools: ToolTable,
  edits: EditsByPlace,
  {
    removed: removedLines,
    remaining: remainingLines,
  }: { readonly removed: LinesByFile; readonly remaining: LinesByFile },
): void {
  for (const { path, line, start, end, content } of findShownLines(exchange, tools, 'all')) {
    const isSummarized = edits.summaries.some((range) => content.message >= range.start && content.message < range.end);
    const isCut = edits.cuts.get(makePlaceKey(content))?.some((cut) => cut.start < end && cut.end > start) === true;
    (isSummarized || isCut ? removedLines : remainingLines).addLine(path, line);
  }
}

export interface EditsByPlace {
  /** Slices whose text is only in the reference store, by {@link makePlaceKey}. */
  readonly cuts: ReadonlyMap<string, readonly Slice[]>;
  readonly summaries: readonly Slice[];
}

export function groupEditsByPlace(edits: readonly Edit[]): EditsByPlace {
  const cuts = new Map<string, readonly Slice[]>();
  const summaries: Slice[] = [];
  for (const edit of edits) {
    if (edit.kind === 'summary') summaries.push(edit);
    if (edit.kind === 'cut')
      cuts.set(
        makePlaceKey(edit.place),
        edit.cuts.filter(({ recoverable }) => recoverable),
      );
  }
  return { cuts, summaries };
}
