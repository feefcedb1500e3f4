/** An agent's later requests for content that a condensation removed: presence in a view is not use, so use is watched. */
import { isRecall, type ToolExchange } from '../../messages/exchanges';
import { listFileChanges } from '../../messages/fileChanges';
import { listFileParts } from '../../messages/fileParts';
import { isSameFile } from '../../messages/filePath';
import { ruleFor, type ToolTable } from '../../messages/tools';
import type { Slice } from '../../slice';
import { placeKey, type Edit } from '../edits/edits';
import { linesIn, MIN_LINE } from '../lines/shownLines';

/** Turns behind a condensation that are watched. */
export const WATCHED_TURNS = 20;

/** An agent's use, after a condensation, of the content that it removed. */
export interface UseAfter {
  /** Turns that were watched, up to {@link WATCHED_TURNS}. */
  readonly turns: number;
  /** Reads of files that showed lines again which had been taken out. */
  readonly rereads: number;
  /** Calls of the recall tool that gave something back. */
  readonly recalls: number;
  /** Edits that failed in files of which lines had been taken out. */
  readonly failedEdits: number;
  /** As many reads of what was shown before and failed edits would be expected by the turns before any condensation. */
  readonly expected: number;
}

export const NO_USE: UseAfter = { turns: 0, rereads: 0, recalls: 0, failedEdits: 0, expected: 0 };

export const usesIn = ({ rereads, recalls, failedEdits }: UseAfter): number => rereads + recalls + failedEdits;

/** Fewer say nothing. */
const MIN_USES = 5;
/** So many times what is expected is too much. */
const TIMES_EXPECTED = 2;

/** Whether so much was asked for again that the condensation cost more than it was to. */
export const isTooMuchUse = (use: UseAfter): boolean =>
  usesIn(use) >= MIN_USES && usesIn(use) > TIMES_EXPECTED * use.expected;

/** A read that shows fewer known lines happens to show them: a search finds a line here and there. */
const SHOWN_AGAIN = 3;

/** Lines of files, whatever spelling of its path a file goes by. */
export class LinesByFile {
  private readonly byName = new Map<string, { readonly path: string; readonly lines: Set<string> }[]>();

  add(path: string, line: string): void {
    if (line.length < MIN_LINE) return;
    const name = nameOf(path);
    let known = this.of(path);
    if (!known) this.byName.set(name, [...(this.byName.get(name) ?? []), { path, lines: (known = new Set()) }]);
    known.add(line);
  }

  /** Takes out the lines that others have, too. */
  without(others: LinesByFile): LinesByFile {
    const rest = new LinesByFile();
    for (const files of this.byName.values())
      for (const { path, lines } of files)
        for (const line of lines) if (!others.of(path)?.has(line)) rest.add(path, line);
    return rest;
  }

  /** The lines of a file; undefined where there are none. */
  of(path: string): Set<string> | undefined {
    return this.byName.get(nameOf(path))?.find((file) => isSameFile(file.path, path))?.lines;
  }
}

const nameOf = (path: string): string => (path.split(/[\\/]/).at(-1) ?? '').toLowerCase();

/** A call that asks for known content again; undefined for others. */
export function useBy(
  exchange: ToolExchange,
  tools: ToolTable,
  known: LinesByFile,
): keyof Pick<UseAfter, 'rereads' | 'recalls' | 'failedEdits'> | undefined {
  if (exchange.isDisplay) return undefined;
  const kind = ruleFor(tools, exchange)?.kind;
  if (exchange.isError) {
    const isKnown = listFileChanges(tools, exchange).some(({ path }) => known.of(path) !== undefined);
    return isKnown && kind !== 'command' ? 'failedEdits' : undefined;
  }
  if (isRecall(exchange)) return 'recalls';
  if (kind !== 'read' && kind !== 'command' && kind !== 'search') return undefined;
  const again = new Set<string>();
  for (const { path, line } of linesShownBy(exchange, tools, 'results')) {
    if (known.of(path)?.has(line)) again.add(line);
    if (again.size >= SHOWN_AGAIN) return 'rereads';
  }
  return undefined;
}

interface FileLine extends Slice {
  readonly path: string;
  readonly line: string;
  readonly content: ToolExchange['results'][number];
}

/** The lines of files that a call shows; offsets are those of the string that holds the content. */
function* linesShownBy(exchange: ToolExchange, tools: ToolTable, where: 'results' | 'all'): Generator<FileLine> {
  for (const content of where === 'all' ? [...exchange.parameters, ...exchange.results] : exchange.results) {
    for (const { path, start, end, head } of listFileParts(tools, exchange, content)) {
      const from = content.start + start;
      for (const line of linesIn(content.text.slice(start, end), head === 'diff'))
        yield { path, line: line.text, start: from + line.start, end: from + line.end, content };
    }
  }
}

/** Adds the lines of files that a call shows, wherever it shows them. */
export function addShown(lines: LinesByFile, exchange: ToolExchange, tools: ToolTable): void {
  for (const { path, line } of linesShownBy(exchange, tools, 'all')) lines.add(path, line);
}

/**
 * Sorts the lines that a call shows by what edits left of them.
 * @param removed gets those that stand in the reference store only.
 * @param standing gets the others.
 */
export function sortShown(
  exchange: ToolExchange,
  tools: ToolTable,
  edits: EditsByPlace,
  { removed, standing }: { readonly removed: LinesByFile; readonly standing: LinesByFile },
): void {
  for (const { path, line, start, end, content } of linesShownBy(exchange, tools, 'all')) {
    const isSummarized = edits.summaries.some((range) => content.message >= range.start && content.message < range.end);
    const isCut = edits.cuts.get(placeKey(content))?.some((cut) => cut.start < end && cut.end > start) === true;
    (isSummarized || isCut ? removed : standing).add(path, line);
  }
}

export interface EditsByPlace {
  /** Content that stands in the reference store only, by the place it was cut from. */
  readonly cuts: ReadonlyMap<string, readonly Slice[]>;
  /** Ranges of messages. */
  readonly summaries: readonly Slice[];
}

/** @param edits those that a view shows. */
export function editsByPlace(edits: readonly Edit[]): EditsByPlace {
  const cuts = new Map<string, readonly Slice[]>();
  const summaries: Slice[] = [];
  for (const edit of edits) {
    if (edit.kind === 'summary') summaries.push(edit);
    if (edit.kind === 'cut')
      cuts.set(
        placeKey(edit.place),
        edit.cuts.filter(({ recoverable }) => recoverable),
      );
  }
  return { cuts, summaries };
}
