/** Lets a step skip items that it has processed without effect. Items are compared by identity. */
export class ProcessedItems<T extends object> {
  private items: (T | undefined)[] = [];

  /** Items stay unprocessed until {@link markProcessed}, in case the work fails. */
  listUnprocessedIndexes(list: readonly T[]): number[] {
    const unprocessedIndexes: number[] = [];
    for (let index = 0; index < list.length; index++)
      if (list[index] !== this.items[index]) unprocessedIndexes.push(index);
    for (const index of unprocessedIndexes) this.items[index] = undefined;
    return unprocessedIndexes;
  }

  isProcessed(list: readonly T[], at: number): boolean {
    return list[at] === this.items[at];
  }

  /** @param acted positions to check again, because something was changed there */
  markProcessed(list: readonly T[], acted: Iterable<number> = []): void {
    this.items = list.slice();
    for (const index of acted) this.items[index] = undefined;
  }
}

const EMPTY_KEYS: readonly string[] = [];

export interface GroupWithKey<T> {
  readonly key: string;
  readonly items: readonly T[];
  readonly indexes: readonly number[];
  /** Index in `items` of the first unprocessed item; `items.length` if items were only removed. */
  readonly firstUnprocessed: number;
}

export class ProcessedGroups<T extends object> {
  private readonly processedItems = new ProcessedItems<T>();
  private readonly keysByItem: (readonly string[])[] = [];
  private readonly indexesByKey = new Map<string, number[]>();

  /** @param getKeys must return each key only once */
  constructor(private readonly getKeys: (item: T) => readonly string[]) {}

  /**
   * Skips groups that have not changed since they were last processed without effect.
   * @param processGroup yields the index of each item that it tried, or undefined if it did nothing
   */
  forEachUnprocessedGroup(
    list: readonly T[],
    processGroup: (group: GroupWithKey<T>) => Iterable<number | undefined>,
  ): void {
    const handledIndexes: number[] = [];
    for (const group of this.listChangedGroups(list)) {
      for (const index of processGroup(group)) {
        if (index !== undefined) handledIndexes.push(group.indexes[index] as number);
      }
    }
    this.markProcessed(list, handledIndexes);
  }

  listChangedGroups(list: readonly T[]): GroupWithKey<T>[] {
    const unprocessedIndexes = this.processedItems.listUnprocessedIndexes(list);
    const changedKeys = new Set<string>();
    for (let itemIndex = this.keysByItem.length - 1; itemIndex >= list.length; itemIndex--)
      this.removeFromGroups(itemIndex, changedKeys);
    this.keysByItem.length = Math.min(this.keysByItem.length, list.length);
    for (const itemIndex of unprocessedIndexes) {
      this.removeFromGroups(itemIndex, changedKeys);
      this.addToGroups(itemIndex, this.getKeys(list[itemIndex] as T), changedKeys);
    }
    const unprocessedIndexSet = new Set(unprocessedIndexes);
    return [...changedKeys]
      .map((key) => ({ key, indexes: this.getIndexesOfGroup(key) }))
      .filter(({ indexes }) => indexes.length > 0)
      .sort((a, b) => Number(a.indexes[0]) - Number(b.indexes[0]) || (a.key < b.key ? -1 : 1))
      .map(({ key, indexes }) => {
        const firstUnprocessed = indexes.findIndex((at) => unprocessedIndexSet.has(at));
        const items = indexes.map((at) => list[at] as T);
        return {
          key,
          items,
          indexes: [...indexes],
          firstUnprocessed: firstUnprocessed < 0 ? items.length : firstUnprocessed,
        };
      });
  }

  getIndexesOfGroup(key: string): readonly number[] {
    return this.indexesByKey.get(key) ?? [];
  }

  markProcessed(list: readonly T[], acted: readonly number[]): void {
    this.processedItems.markProcessed(list, acted);
  }

  private removeFromGroups(itemIndex: number, changedKeys: Set<string>): void {
    for (const key of this.keysByItem[itemIndex] ?? []) {
      const indexes = this.indexesByKey.get(key) ?? [];
      indexes.splice(indexes.lastIndexOf(itemIndex), 1);
      if (indexes.length === 0) this.indexesByKey.delete(key);
      changedKeys.add(key);
    }
  }

  private addToGroups(itemIndex: number, keys: readonly string[], changedKeys: Set<string>): void {
    this.keysByItem[itemIndex] = keys.length === 0 ? EMPTY_KEYS : keys;
    for (const key of keys) {
      const indexes = this.indexesByKey.get(key);
      if (indexes) indexes.splice(indexes.findLastIndex((other) => other < itemIndex) + 1, 0, itemIndex);
      else this.indexesByKey.set(key, [itemIndex]);
      changedKeys.add(key);
    }
  }
}
