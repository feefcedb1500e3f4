import { beforeEach, describe, expect, it } from 'vitest';
import { fake } from '../../test/support/vscode';
import { formatCondensationMessage, formatPreviewMessage, type CondensationFigures } from './condensationWords';

const words = (changes: Partial<CondensationFigures> = {}): string =>
  formatCondensationMessage({
    provider: 'Smart',
    tokensBefore: 2_000,
    tokensAfter: 1_000,
    cost: 0,
    title: 'Mend it',
    ...changes,
  });

beforeEach(() => {
  fake.reset();
});

describe('the sentence about a condensation', () => {
  it.each([
    [{}, 'Condensed “Mend it” with Smart: 2,000 → 1,000 tokens (−50%).'],
    [{ title: undefined }, 'Condensed with Smart: 2,000 → 1,000 tokens (−50%).'],
    [{ targetTokens: 1_000 }, 'Condensed “Mend it” with Smart: 2,000 → 1,000 tokens (−50%).'],
    [
      { targetTokens: 999 },
      'Condensed “Mend it” with Smart: 2,000 → 1,000 tokens (−50%); your target of 999 was missed.',
    ],
    [{ cost: 0.03 }, 'Condensed “Mend it” with Smart: 2,000 → 1,000 tokens (−50%); cost $0.03.'],
    [{ cost: undefined }, 'Condensed “Mend it” with Smart: 2,000 → 1,000 tokens (−50%); cost unknown.'],
    [
      { isSmall: true },
      'Condensed “Mend it” with Smart: 2,000 → 1,000 tokens (−50%). “Condense With…” lists what removes more.',
    ],
    [
      { isSmall: true, notes: ['small'] },
      'Condensed “Mend it” with Smart: 2,000 → 1,000 tokens (−50%). “Condense With…” lists what removes more.',
    ],
    [{ notes: ['a'] }, 'Condensed “Mend it” with Smart: 2,000 → 1,000 tokens (−50%); notes in Details.'],
    [{ notes: ['a', 'b'] }, 'Condensed “Mend it” with Smart: 2,000 → 1,000 tokens (−50%); notes in Details.'],
    [
      { title: 'Mend [this](command:evil).' },
      'Condensed “Mend [this] (command:evil).” with Smart: 2,000 → 1,000 tokens (−50%).',
    ],
  ])('is worded correctly for %o', (changes, sentence) => {
    fake.settings['contextCondenser.manual.targetPercent'] = 40;
    expect(words(changes)).toBe(sentence);
  });

  it('does not mention a missed target that the user did not set', () => {
    expect(words({ targetTokens: 999 })).toBe('Condensed “Mend it” with Smart: 2,000 → 1,000 tokens (−50%).');
  });

  it('says for a preview that nothing was applied', () => {
    fake.settings['contextCondenser.manual.targetPercent'] = 40;
    const preview = { provider: 'Lossless', tokensBefore: 2_000, tokensAfter: 1_000 };
    expect(formatPreviewMessage(preview)).toBe(
      'Preview of condensing with Lossless: 2,000 → 1,000 tokens (−50%). Nothing was applied.',
    );
    expect(formatPreviewMessage({ ...preview, targetTokens: 999 })).toContain(
      '(−50%); your target of 999 was missed. ',
    );
  });
});
