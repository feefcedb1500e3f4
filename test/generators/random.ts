/** Generates random numbers from a seed (mulberry32). */
export class Random {
  private state: number;

  constructor(seed: number) {
    this.state = seed | 0;
  }

  /** Returns a number from 0 to 1, exclusive. */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixedState = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixedState = (mixedState + Math.imul(mixedState ^ (mixedState >>> 7), 61 | mixedState)) ^ mixedState;
    return ((mixedState ^ (mixedState >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Returns an integer from 0 to the limit, exclusive. */
  int(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  /** Returns an integer in the inclusive range. */
  between(low: number, high: number): number {
    return low + this.int(high - low + 1);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(list: readonly T[]): T {
    const item = list[this.int(list.length)];
    if (item === undefined) throw new Error('nothing to pick from');
    return item;
  }

  /** Picks a key with a probability proportional to its weight. */
  weighted<T extends string>(weights: Readonly<Record<T, number>>): T {
    const entries = Object.entries<number>(weights) as [T, number][];
    let remainingWeight = this.next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [key, weight] of entries) {
      remainingWeight -= weight;
      if (remainingWeight < 0) return key;
    }
    return entries[entries.length - 1]![0];
  }

  /**
   * Creates a separate generator for a part, so that a change in one part doesn't affect the
   * others.
   */
  fork(): Random {
    return new Random(this.int(2 ** 31));
  }
}
