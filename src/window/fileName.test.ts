import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toFileName, toTabName } from './fileName';

describe("a conversation's title as a name", () => {
  it.each([
    ['And now once more.', 'And now once more'],
    ['Put these in order.:', 'Put these in order'],
    ['Wait…', 'Wait'],
    ['...', '...'],
  ])('“%s” becomes “%s” on a tab', (title, name) => {
    expect(toTabName(title)).toBe(name);
  });

  it.each([
    ['And now once more.', 'And now once more'],
    ['src/a.ts: why "x" <y>?', 'src a.ts why x y'],
    ['..', 'other'],
    ['NUL', 'other'],
    ['.env', 'env'],
  ])('“%s” becomes “%s” on disk', (title, name) => {
    expect(toFileName(title, 'other')).toBe(name);
  });

  it('is valid on every system, whatever the title', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (title) => {
        const name = toFileName(title, 'other');
        expect(name).not.toMatch(/[<>:"/\\|?*\p{Cc}]|[. ]$|^\.|^$/u);
        expect(name.length).toBeLessThanOrEqual(60);
        expect(name.isWellFormed()).toBe(true);
      }),
    );
  });
});
