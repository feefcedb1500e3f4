import { describe, expect, it } from 'vitest';
import { formatCondensation, formatPreview, type CondensationFigures } from './condensationWords';

const words = (changes: Partial<CondensationFigures> = {}): string =>
  formatCondensation({
    provider: 'Smart',
    tokensBefore: 2_000,
    tokensAfter: 1_000,
    cost: 0,
    title: 'Mend it',
    ...changes,
  });

describe('the sentence about a condensation', () => {
  it.each([
    [{}, 'Condensed “Mend it” with Smart: 2,000 → 1,000 tokens (−50%).'],
    [{ title: undefined }, 'Condensed with Smart: 2,000 → 1,000 tokens (−50%).'],
    [{ targetTokens: 1_000 }, 'Condensed “Mend it” with Smart: 2,000 → 1,000 tokens (−50%).'],
    [{ targetTokens: 999 }, 'Condensed “Mend it” with Smart: 2,000 → 1,000 tokens (−50%); target 999.'],
    [{ cost: 0.03 }, 'Condensed “Mend it” with Smart: 2,000 → 1,000 tokens (−50%); cost $0.03.'],
    [{ cost: undefined }, 'Condensed “Mend it” with Smart: 2,000 → 1,000 tokens (−50%); cost unknown.'],
    [{ notes: ['a'] }, 'Condensed “Mend it” with Smart: 2,000 → 1,000 tokens (−50%); 1 note in Details.'],
    [{ notes: ['a', 'b'] }, 'Condensed “Mend it” with Smart: 2,000 → 1,000 tokens (−50%); 2 notes in Details.'],
    [
      { title: 'Mend [this](command:evil).' },
      'Condensed “Mend [this] (command:evil).” with Smart: 2,000 → 1,000 tokens (−50%).',
    ],
  ])('is right for %o', (changes, sentence) => {
    expect(words(changes)).toBe(sentence);
  });

  it('says for a preview that nothing was applied', () => {
    const preview = { provider: 'Lossless', tokensBefore: 2_000, tokensAfter: 1_000 };
    expect(formatPreview(preview)).toBe(
      'Preview of condensing with Lossless: 2,000 → 1,000 tokens (−50%). Nothing was applied.',
    );
    expect(formatPreview({ ...preview, targetTokens: 999 })).toContain('(−50%); target 999. ');
  });
});
