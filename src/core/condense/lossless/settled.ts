/**
 * Items of a list that a step has looked at in vain. A conversation that grows gives the very same items at the same places
 * again, and these need no second look: to find the others costs a comparison of pointers for each item.
 */
export class Settled<T extends object> {
  private items: (T | undefined)[] = [];

  /**
   * The places of a list whose items are not settled, in order. They stay unsettled until {@link settle}: the work may
   * fail.
   */
  open(list: readonly T[]): number[] {
    const open: number[] = [];
    for (let at = 0; at < list.length; at++) if (list[at] !== this.items[at]) open.push(at);
    for (const at of open) this.items[at] = undefined;
    return open;
  }

  /**
   * Settles a list.
   * @param acted the places where something was done: if that is taken back, they need another look.
   */
  settle(list: readonly T[], acted: Iterable<number> = []): void {
    this.items = list.slice();
    for (const at of acted) this.items[at] = undefined;
  }
}

/** Most items have none: one list for all of them. */
const NO_KEYS: readonly string[] = [];

/** Items of a list that belong together, in the order of the list. */
export interface Group<T> {
  readonly key: string;
  readonly items: readonly T[];
  /** Where in the list they are. */
  readonly places: readonly number[];
  /** The first item that is not settled; behind the last one where only others have gone. */
  readonly firstOpen: number;
}

/** The items of a list by what they share, as the list changes. */
export class Groups<T extends object> {
  private readonly settled = new Settled<T>();
  private readonly keys: (readonly string[])[] = [];
  private readonly places = new Map<string, number[]>();

  /** @param keysOf names the groups that an item belongs to, each once. */
  constructor(private readonly keysOf: (item: T) => readonly string[]) {}

  /**
   * Does a step's work on each group that has changed since the work on it was in vain.
   * @param work gives for each item that it tried the item's index in the group, or undefined where it was in vain.
   */
  each(list: readonly T[], work: (group: Group<T>) => Iterable<number | undefined>): void {
    const acted: number[] = [];
    for (const group of this.changed(list)) {
      for (const index of work(group)) {
        if (index !== undefined) acted.push(group.places[index] as number);
      }
    }
    this.settle(list, acted);
  }

  /** The groups of a list that have changed since they were settled, in the order of their first items. */
  changed(list: readonly T[]): Group<T>[] {
    const open = this.settled.open(list);
    const changed = new Set<string>();
    for (let at = this.keys.length - 1; at >= list.length; at--) this.leave(at, changed);
    this.keys.length = Math.min(this.keys.length, list.length);
    for (const at of open) {
      this.leave(at, changed);
      this.enter(at, this.keysOf(list[at] as T), changed);
    }
    const isOpen = new Set(open);
    return [...changed]
      .map((key) => ({ key, places: this.placesOf(key) }))
      .filter(({ places }) => places.length > 0)
      .sort((a, b) => Number(a.places[0]) - Number(b.places[0]) || (a.key < b.key ? -1 : 1))
      .map(({ key, places }) => {
        const firstOpen = places.findIndex((at) => isOpen.has(at));
        const items = places.map((at) => list[at] as T);
        return { key, items, places: [...places], firstOpen: firstOpen < 0 ? items.length : firstOpen };
      });
  }

  /** Where in the list the items of a group are. */
  placesOf(key: string): readonly number[] {
    return this.places.get(key) ?? [];
  }

  /** @param acted the places in the list where something was done. */
  settle(list: readonly T[], acted: readonly number[]): void {
    this.settled.settle(list, acted);
  }

  private leave(at: number, changed: Set<string>): void {
    for (const key of this.keys[at] ?? []) {
      const places = this.places.get(key) ?? [];
      places.splice(places.lastIndexOf(at), 1);
      if (places.length === 0) this.places.delete(key);
      changed.add(key);
    }
  }

  private enter(at: number, keys: readonly string[], changed: Set<string>): void {
    this.keys[at] = keys.length === 0 ? NO_KEYS : keys;
    for (const key of keys) {
      const places = this.places.get(key);
      if (places) places.splice(places.findLastIndex((other) => other < at) + 1, 0, at);
      else this.places.set(key, [at]);
      changed.add(key);
    }
  }
}
