/** Lets a step skip items that it has processed without effect. Items are compared by identity. */
export class ProcessedItems<T extends object> {
  private items: (T | undefined)[] = [];

  /** Items stay unprocessed until {@link markProcessed}, in case the work fails. */
  listUnprocessedIndexes(list: readonly T[]): number[] {
    const openIndexes: number[] = [];
    for (let at = 0; at < list.length; at++) if (list[at] !== this.items[at]) openIndexes.push(at);
    for (const at of openIndexes) this.items[at] = undefined;
    return openIndexes;
  }

  isProcessed(list: readonly T[], at: number): boolean {
    return list[at] === this.items[at];
  }

  /** @param acted positions to check again, because something was changed there */
  markProcessed(list: readonly T[], acted: Iterable<number> = []): void {
    this.items = list.slice();
    for (const at of acted) this.items[at] = undefined;
  }
}

const EMPTY_KEYS: readonly string[] = [];

export interface GroupWithKey<T> {
  readonly key: string;
  readonly items: readonly T[];
  readonly places: readonly number[];
  /** Index of the first unprocessed item; after the last item if the group has only lost some. */
  readonly firstOpen: number;
}

export class ProcessedGroups<T extends object> {
  private readonly stable = new ProcessedItems<T>();
  private readonly keys: (readonly string[])[] = [];
  private readonly places = new Map<string, number[]>();

  /** @param getKeys must return each key only once */
  constructor(private readonly getKeys: (item: T) => readonly string[]) {}

  /**
   * Skips groups that have not changed since they were last processed without effect.
   * @param processGroup yields the group index of each item that it tried, or undefined if it did nothing
   */
  forEachUnprocessedGroup(
    list: readonly T[],
    processGroup: (group: GroupWithKey<T>) => Iterable<number | undefined>,
  ): void {
    const acted: number[] = [];
    for (const group of this.listChangedGroups(list)) {
      for (const index of processGroup(group)) {
        if (index !== undefined) acted.push(group.places[index] as number);
      }
    }
    this.markProcessed(list, acted);
  }

  listChangedGroups(list: readonly T[]): GroupWithKey<T>[] {
    const openIndexes = this.stable.listUnprocessedIndexes(list);
    const changed = new Set<string>();
    for (let at = this.keys.length - 1; at >= list.length; at--) this.removeFromGroups(at, changed);
    this.keys.length = Math.min(this.keys.length, list.length);
    for (const itemIndex of openIndexes) {
      this.removeFromGroups(itemIndex, changed);
      this.addToGroups(itemIndex, this.getKeys(list[itemIndex] as T), changed);
    }
    const openIndexSet = new Set(openIndexes);
    return [...changed]
      .map((key) => ({ key, places: this.getIndexesOfGroup(key) }))
      .filter(({ places }) => places.length > 0)
      .sort((a, b) => Number(a.places[0]) - Number(b.places[0]) || (a.key < b.key ? -1 : 1))
      .map(({ key, places }) => {
        const firstOpen = places.findIndex((at) => openIndexSet.has(at));
        const items = places.map((at) => list[at] as T);
        return { key, items, places: [...places], firstOpen: firstOpen < 0 ? items.length : firstOpen };
      });
  }

  getIndexesOfGroup(key: string): readonly number[] {
    return this.places.get(key) ?? [];
  }

  markProcessed(list: readonly T[], acted: readonly number[]): void {
    this.stable.markProcessed(list, acted);
  }

  private removeFromGroups(itemIndex: number, changed: Set<string>): void {
    for (const key of this.keys[itemIndex] ?? []) {
      const places = this.places.get(key) ?? [];
      places.splice(places.lastIndexOf(itemIndex), 1);
      if (places.length === 0) this.places.delete(key);
      changed.add(key);
    }
  }

  private addToGroups(itemIndex: number, keys: readonly string[], changed: Set<string>): void {
    this.keys[itemIndex] = keys.length === 0 ? EMPTY_KEYS : keys;
    for (const key of keys) {
      const places = this.places.get(key);
      if (places) places.splice(places.findLastIndex((other) => other < itemIndex) + 1, 0, itemIndex);
      else this.places.set(key, [itemIndex]);
      changed.add(key);
    }
  }
}
