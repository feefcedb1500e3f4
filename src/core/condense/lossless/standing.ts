import { copyWithoutSpareCapacity } from '../../keptList';
import { listContents } from '../../messages/content';
import type { ApiMessage } from '../../messages/types';
import type { LineCache } from './knownLines';
import { copyToLargerArray, type LineId } from '../lines/lineIds';
import type { TextLines } from '../lines/lines';
import { ProcessedItems } from './settled';
import type { Slice } from '../../slice';

const CHARS_PER_EVENT_LOOP_TURN = 300_000;

/** Counts the lines that the model can read in a view. */
export class ViewLineCounts {
  private readonly countedMessages = new ProcessedItems<ApiMessage>();
  private readonly textsByMessage: (readonly TextLines[])[] = [];
  /** How often each line is in the view, by line ID. */
  private countsById = new Int32Array(1_024);
  /** By line ID; 1 if a cut relies on the line. */
  private isNeededById = new Uint8Array(1_024);
  /** True if a line that a cut relies on has disappeared since the last reset. */
  hasLostNeededLines = false;
  /** Lines that have left some text; other texts may still contain them. */
  readonly movedLineIds = new Set<LineId>();

  constructor(private readonly lineCache: LineCache) {}

  /** @param collectsMoved whether to record the lines that have left a text */
  updateLineCounts(view: readonly ApiMessage[], collectsMoved = false): void {
    const changedMessages: { readonly at: number; readonly texts: readonly TextLines[] }[] = [];
    for (const messageIndex of this.countedMessages.listUnprocessedIndexes(view)) {
      const texts = copyWithoutSpareCapacity(
        listContents(view[messageIndex] as ApiMessage).map((content) => this.lineCache.getLines(content)),
      );
      changedMessages.push({ at: messageIndex, texts });
    }
    // Counts new lines before removing old ones, so that a moved line is never missing. No `await`
    // may come between.
    for (const { texts } of changedMessages) for (const lines of texts) this.countLines(lines, 1);
    for (const { at: messageIndex, texts } of changedMessages) {
      if (collectsMoved) this.recordLinesThatLeftText(this.textsByMessage[messageIndex] ?? [], texts);
      for (const lines of this.textsByMessage[messageIndex] ?? []) this.countLines(lines, -1);
      this.textsByMessage[messageIndex] = texts;
    }
    for (const texts of this.textsByMessage.splice(view.length)) for (const lines of texts) this.countLines(lines, -1);
    this.countedMessages.markProcessed(view);
  }

  /** Yields between parts, because a long conversation would block the thread. */
  *countViewLines(view: readonly ApiMessage[]): Generator<undefined, void> {
    let chars = 0;
    for (const [at, message] of view.entries()) {
      if (this.countedMessages.isProcessed(view, at)) continue;
      for (const content of listContents(message)) {
        this.lineCache.getLines(content);
        chars += content.text.length;
        if (chars < CHARS_PER_EVENT_LOOP_TURN) continue;
        chars = 0;
        yield;
      }
    }
  }

  private recordLinesThatLeftText(textsBefore: readonly TextLines[], textsAfter: readonly TextLines[]): void {
    const remainingIds = new Set(textsAfter.flatMap(listLineIds));
    for (const id of textsBefore.flatMap(listLineIds)) if (!remainingIds.has(id)) this.movedLineIds.add(id);
  }

  isLineInView(id: LineId): boolean {
    return (this.countsById[id] ?? 0) > 0;
  }

  recordLineNeededByCut(id: LineId): void {
    this.growCounts();
    this.isNeededById[id] = 1;
  }

  private countLines(lines: TextLines, times: 1 | -1): void {
    this.growCounts();
    for (let line = 0; line < lines.count; line++) {
      const id = lines.getIdIncludingBlankLines(line);
      this.countsById[id] = (this.countsById[id] as number) + times;
      if (this.countsById[id] === 0 && this.isNeededById[id] === 1) this.hasLostNeededLines = true;
    }
  }

  private growCounts(): void {
    const { count } = this.lineCache.ids;
    if (count <= this.countsById.length) return;
    this.countsById = copyToLargerArray(this.countsById, 2 * count);
    const grownNeededTable = new Uint8Array(2 * count);
    grownNeededTable.set(this.isNeededById);
    this.isNeededById = grownNeededTable;
  }
}

const listLineIds = (lines: TextLines): LineId[] =>
  Array.from({ length: lines.count }, (_, line) => lines.getIdIncludingBlankLines(line));

export interface SharedLineRange extends Slice {
  readonly lines: number;
}

/** Finds ranges of lines that another text also contains. Blank lines alone are not a range. */
export function findSharedLineRanges(text: string, otherLines: ReadonlySet<string>): SharedLineRange[] {
  const sharedRanges: SharedLineRange[] = [];
  let start = -1;
  let lineCount = 0;
  let hasText = false;
  const closeRange = (end: number): void => {
    // Keep both characters of a CRLF.
    if (start >= 0 && hasText)
      sharedRanges.push({ start, end: text[end - 1] === '\r' ? end - 1 : end, lines: lineCount });
    start = -1;
    lineCount = 0;
    hasText = false;
  };
  let lineStart = 0;
  for (;;) {
    const newline = text.indexOf('\n', lineStart);
    const end = newline < 0 ? text.length : newline;
    const line = text.slice(lineStart, end);
    if (line.trim() === '' || otherLines.has(line)) {
      if (start < 0) start = lineStart;
      hasText ||= line.trim() !== '';
      lineCount++;
    } else {
      closeRange(lineStart - 1);
    }
    if (newline < 0) break;
    lineStart = newline + 1;
  }
  closeRange(text.length);
  return sharedRanges;
}

export const splitToLineSet = (text: string): Set<string> => new Set(text.split('\n'));
