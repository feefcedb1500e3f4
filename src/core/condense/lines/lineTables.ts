export interface TableSlice {
  readonly table: Int32Array;
  readonly at: number;
}

const SHARED_TABLE_SIZE = 4_096;
const MAX_SHARED_REQUEST = SHARED_TABLE_SIZE / 4;

/** Packs many short texts into shared tables, because each table costs 200 bytes more. */
export class LineTables {
  private latest: TableSlice = { table: new Int32Array(0), at: 0 };

  takeSlice(count: number): TableSlice {
    if (count > MAX_SHARED_REQUEST) return { table: new Int32Array(count), at: 0 };
    const { table, at } = this.latest;
    const room = at + count <= table.length ? this.latest : { table: new Int32Array(SHARED_TABLE_SIZE), at: 0 };
    this.latest = { table: room.table, at: room.at + count };
    return room;
  }
}
