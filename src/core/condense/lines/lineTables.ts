/** A place for integers: as many as were asked for, from `at` on. */
export interface Room {
  readonly table: Int32Array;
  readonly at: number;
}

/** Tables this long are shared. */
const SHARED = 4_096;
/** What takes more of one gets a table of its own. */
const MAX_SHARE = SHARED / 4;

/**
 * Gives short texts room in tables that they share: a table of its own costs each 200 bytes beside its integers, and
 * most texts are a few lines. A table goes once none of its texts is there any more.
 */
export class LineTables {
  private latest: Room = { table: new Int32Array(0), at: 0 };

  /** Room for some integers, all 0. */
  take(count: number): Room {
    if (count > MAX_SHARE) return { table: new Int32Array(count), at: 0 };
    const { table, at } = this.latest;
    const room = at + count <= table.length ? this.latest : { table: new Int32Array(SHARED), at: 0 };
    this.latest = { table: room.table, at: room.at + count };
    return room;
  }
}
