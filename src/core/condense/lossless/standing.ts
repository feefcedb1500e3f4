import { contentsOf } from '../../messages/content';
import type { ApiMessage, Path } from '../../messages/types';
import { NOTHING, type Numbers } from './lines';
import type { PrefixHint } from './prefixes';
import { linesOfContent } from './sources';

/** The lines that a model can read in a view, by hash. Kept up to date at the price of what changes. */
export class StandingLines {
  private readonly counts = new Map<number, number>();
  private readonly known: { message: ApiMessage; hashes: readonly Numbers[] }[] = [];

  /** Brings it to the view as it now stands. */
  update(view: readonly ApiMessage[], hints: ReadonlyMap<Path, PrefixHint>): void {
    for (const [index, message] of view.entries()) {
      const known = this.known[index];
      if (known?.message === message) continue;
      const hashes = contentsOf(message).map(
        (content) => linesOfContent(content, hints.get(content.path) ?? 'other').hashes,
      );
      for (const list of hashes) this.add(list, 1);
      if (known) for (const list of known.hashes) this.add(list, -1);
      this.known[index] = { message, hashes };
    }
  }

  has(hash: number): boolean {
    return hash !== NOTHING && (this.counts.get(hash) ?? 0) > 0;
  }

  private add(hashes: Numbers, times: 1 | -1): void {
    for (const hash of hashes) this.counts.set(hash, (this.counts.get(hash) ?? 0) + times);
  }
}
