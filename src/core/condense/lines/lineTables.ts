export interface LineTableSlice {
  readonly table: Int32Array;
  readonly start: number;
}

const SHARED_TABLE_SIZE = 4_096;
const MAX_SHARED_SLICE_SIZE = SHARED_TABLE_SIZE / 4;

/** Packs many short texts into shared tables, because each table costs 200 bytes more. */
export class SharedLineTables {
  private latestSlice: LineTableSlice = { table: new Int32Array(0), start: 0 };

  allocateSlice(count: number): LineTableSlice {
    if (count > MAX_SHARED_SLICE_SIZE) return { table: new Int32Array(count), start: 0 };
    const { table, start } = this.latestSlice;
    const freeSlice =
      start + count <= table.length ? this.latestSlice : { table: new Int32Array(SHARED_TABLE_SIZE), start: 0 };
    this.latestSlice = { table: freeSlice.table, start: freeSlice.start + count };
    return freeSlice;
  }
}
