import { contentsOf } from '../../messages/content';
import type { ApiMessage } from '../../messages/types';
import type { Pace } from '../pace';
import type { KnownLines } from './knownLines';
import { longer, NOTHING, type LineId } from './lineIds';
import type { Lines } from './lines';

/** The lines that a model can read in a view. Kept up to date at the price of what changes. */
export class StandingLines {
  /** How often each line stands, by id. */
  private counts = new Int32Array(1_024);
  private readonly shown: { message: ApiMessage; texts: readonly Lines[] }[] = [];

  constructor(private readonly known: KnownLines) {}

  /** Brings it to the view as it now stands; how results are to be read must have been learnt. */
  async update(view: readonly ApiMessage[], pace: Pace): Promise<void> {
    for (let index = 0; index < view.length; index++) {
      const message = view[index] as ApiMessage;
      const before = this.shown[index];
      if (before?.message === message) continue;
      const texts = contentsOf(message).map((content) => this.known.linesOf(content));
      for (const lines of texts) this.add(lines, 1);
      for (const lines of before?.texts ?? []) this.add(lines, -1);
      this.shown[index] = { message, texts };
      await pace.breathe();
    }
    for (const { texts } of this.shown.splice(view.length)) for (const lines of texts) this.add(lines, -1);
  }

  has(id: LineId): boolean {
    return id !== NOTHING && (this.counts[id] ?? 0) > 0;
  }

  private add(lines: Lines, times: 1 | -1): void {
    const { ids } = this.known;
    if (ids.count > this.counts.length) this.counts = longer(this.counts, 2 * ids.count);
    for (let line = 0; line < lines.count; line++) {
      const id = lines.id(line);
      if (id !== NOTHING) this.counts[id] = (this.counts[id] as number) + times;
    }
  }
}
