import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SharedLineTables } from './lineTables';

describe('slices of the shared tables of line ends', () => {
  it('do not overlap and contain only zeros when allocated', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 3_000 }), { maxLength: 30 }), (counts) => {
        const tables = new SharedLineTables();
        const rooms = counts.map((count) => ({ count, ...tables.allocateSlice(count) }));
        for (const [index, { table, start, count }] of rooms.entries()) {
          expect(table.subarray(start, start + count).every((value) => value === 0)).toBe(true);
          table.fill(index + 1, start, start + count);
        }
        for (const [index, { table, start, count }] of rooms.entries()) {
          expect(start + count).toBeLessThanOrEqual(table.length);
          expect(table.subarray(start, start + count).every((value) => value === index + 1)).toBe(true);
        }
      }),
    );
  });

  it('are in the same table for short texts', () => {
    const tables = new SharedLineTables();
    expect(tables.allocateSlice(20).table).toBe(tables.allocateSlice(20).table);
    expect(tables.allocateSlice(20_000).table).toHaveLength(20_000);
  });
});
