/**
 * The cell that an arrow key leads to in rows that wrap; undefined for a key that leads nowhere.
 * @param tops where each cell begins, in pixels from above: cells of one row have the same.
 */
export function neighbour(key: string, at: number, tops: readonly number[]): number | undefined {
  const last = tops.length - 1;
  const row = Math.max(1, tops.filter((top) => top === tops[0]).length);
  switch (key) {
    case 'ArrowRight':
      return Math.min(last, at + 1);
    case 'ArrowLeft':
      return Math.max(0, at - 1);
    case 'ArrowDown':
      return at + row > last ? at : at + row;
    case 'ArrowUp':
      return at < row ? at : at - row;
    case 'Home':
      return 0;
    case 'End':
      return last;
    default:
      return undefined;
  }
}
