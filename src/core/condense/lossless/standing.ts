import { keptList } from '../../keptList';
import { listContents } from '../../messages/content';
import type { ApiMessage } from '../../messages/types';
import type { KnownLines } from './knownLines';
import { longer, type LineId } from '../lines/lineIds';
import type { Lines } from '../lines/lines';
import { Settled } from './settled';
import type { Slice } from '../../slice';

/** The lines that a model can read in a view. Kept up to date at the price of what changes. */
export class StandingLines {
  private readonly seen = new Settled<ApiMessage>();
  /** By message. */
  private readonly texts: (readonly Lines[])[] = [];
  /** How often each line stands, by id. */
  private counts = new Int32Array(1_024);
  /** By id, 1 for the lines that something promises. */
  private promised = new Uint8Array(1_024);
  /** Whether a promised line has gone since this was last set to false. */
  hasLost = false;
  /** Lines that have gone from a text in which they stood, until this is cleared; they may stand in others. */
  readonly moved = new Set<LineId>();

  constructor(private readonly known: KnownLines) {}

  /**
   * Brings it to the view as it now stands; how results are to be read must have been learnt.
   * @param collectsMoved whether to note which lines have gone from their texts
   */
  update(view: readonly ApiMessage[], collectsMoved = false): void {
    const changed: { readonly at: number; readonly texts: readonly Lines[] }[] = [];
    for (const at of this.seen.open(view)) {
      const texts = keptList(listContents(view[at] as ApiMessage).map((content) => this.known.linesOf(content)));
      changed.push({ at, texts });
    }
    // New lines are counted before old ones are taken away, so that a line that only moved is never missing; no `await`
    // may come between.
    for (const { texts } of changed) for (const lines of texts) this.count(lines, 1);
    for (const { at, texts } of changed) {
      if (collectsMoved) this.collectMoved(this.texts[at] ?? [], texts);
      for (const lines of this.texts[at] ?? []) this.count(lines, -1);
      this.texts[at] = texts;
    }
    for (const texts of this.texts.splice(view.length)) for (const lines of texts) this.count(lines, -1);
    this.seen.settle(view);
  }

  private collectMoved(before: readonly Lines[], after: readonly Lines[]): void {
    const left = new Set(after.flatMap(idsOf));
    for (const id of before.flatMap(idsOf)) if (!left.has(id)) this.moved.add(id);
  }

  has(id: LineId): boolean {
    return (this.counts[id] ?? 0) > 0;
  }

  /** Tells that a line must not go unnoticed. */
  promise(id: LineId): void {
    this.grow();
    this.promised[id] = 1;
  }

  private count(lines: Lines, times: 1 | -1): void {
    this.grow();
    for (let line = 0; line < lines.count; line++) {
      const id = lines.textId(line);
      this.counts[id] = (this.counts[id] as number) + times;
      if (this.counts[id] === 0 && this.promised[id] === 1) this.hasLost = true;
    }
  }

  private grow(): void {
    const { count } = this.known.ids;
    if (count <= this.counts.length) return;
    this.counts = longer(this.counts, 2 * count);
    const promised = new Uint8Array(2 * count);
    promised.set(this.promised);
    this.promised = promised;
  }
}

const idsOf = (lines: Lines): LineId[] => Array.from({ length: lines.count }, (_, line) => lines.textId(line));

/** A run of lines in a text, without the newline behind the last one. */
export interface LineRun extends Slice {
  readonly lines: number;
}

/** The longest runs of lines that all stand in another text, too. Blank lines alone make no run. */
export function standingRuns(text: string, standing: ReadonlySet<string>): LineRun[] {
  const runs: LineRun[] = [];
  let start = -1;
  let lines = 0;
  let hasText = false;
  const close = (end: number): void => {
    // A line's end may be two characters; both stay.
    if (start >= 0 && hasText) runs.push({ start, end: text[end - 1] === '\r' ? end - 1 : end, lines });
    start = -1;
    lines = 0;
    hasText = false;
  };
  let at = 0;
  for (;;) {
    const newline = text.indexOf('\n', at);
    const end = newline < 0 ? text.length : newline;
    const line = text.slice(at, end);
    if (line.trim() === '' || standing.has(line)) {
      if (start < 0) start = at;
      hasText ||= line.trim() !== '';
      lines++;
    } else {
      close(at - 1);
    }
    if (newline < 0) break;
    at = newline + 1;
  }
  close(text.length);
  return runs;
}

/** The different lines of a text, without their ends. */
export const linesOf = (text: string): Set<string> => new Set(text.split('\n'));
