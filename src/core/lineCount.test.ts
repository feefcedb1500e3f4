import { describe, expect, it } from 'vitest';
import { countLines, countLinesIn } from './lineCount';

describe('the lines of a text', () => {
  it.each(['', 'a', '\n', 'a\n\nb\r\n', 'x\n'.repeat(200_000), '\n'.repeat(300_000), 'y'.repeat(300_000)])(
    'are counted correctly in texts of any size',
    (text) => {
      expect(countLines(text)).toBe(text.split('\n').length);
      for (const [start, end] of [
        [0, text.length],
        [3, text.length - 3],
        [1, 150_000],
        [10, 12],
      ] as const) {
        const slice = { start: Math.min(start, text.length), end: Math.max(0, Math.min(end, text.length)) };
        if (slice.end < slice.start) continue;
        expect(countLinesIn(text, slice)).toBe(text.slice(slice.start, slice.end).split('\n').length);
      }
    },
  );
});
