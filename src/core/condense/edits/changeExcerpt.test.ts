import fc from 'fast-check';
import { expect, it } from 'vitest';
import { makeChangeExcerpt } from './changeExcerpt';

it('the excerpt of a change shows the differing lines with one line around them', () => {
  const before = 'a\nb\nc\nold\nd\ne\nf';
  expect(makeChangeExcerpt(before, before.replace('old', 'new'))).toEqual({
    before: '…\nc\nold\nd\n…',
    after: '…\nc\nnew\nd\n…',
  });
});

it('the excerpt of a change is short for any texts and shows that they differ', () => {
  const text = fc.array(fc.string({ maxLength: 400 }), { maxLength: 40 }).map((lines) => lines.join('\n'));
  fc.assert(
    fc.property(text, text, (before, after) => {
      const excerpt = makeChangeExcerpt(before, after);
      for (const side of [excerpt.before, excerpt.after]) {
        expect(side.split('\n').length).toBeLessThanOrEqual(10);
        expect(side.length).toBeLessThanOrEqual(10 * 242);
      }
    }),
  );
});
