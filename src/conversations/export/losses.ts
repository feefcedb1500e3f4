import { plural } from '../../core/plural';

/** Counts content that could not be exported, by its kind: each kind becomes one sentence. */
export class Losses {
  private readonly counts = new Map<string, number>();

  /** @param what a noun for one of them, and what became of it: `['image', 'left out: …']` */
  add(noun: string, outcome: string, count = 1): void {
    const key = JSON.stringify([noun, outcome]);
    if (count > 0) this.counts.set(key, (this.counts.get(key) ?? 0) + count);
  }

  /** In the order in which they were met. */
  notes(): string[] {
    return [...this.counts].map(([key, count]) => {
      const [noun = '', outcome = ''] = JSON.parse(key) as string[];
      return `${plural(count, noun)}: ${outcome}.`;
    });
  }
}
