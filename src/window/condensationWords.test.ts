import { describe, expect, it } from 'vitest';
import { condensationWords, previewWords, type CondensationFigures } from './condensationWords';

const words = (changes: Partial<CondensationFigures> = {}): string =>
  condensationWords({
    provider: 'Smart',
    tokensBefore: 2_000,
    tokensAfter: 1_000,
    cost: 0,
    timeMs: 5,
    notes: [],
    ...changes,
  });

describe('the words of a condensation', () => {
  it('tell what came of it, its cost and its time', () => {
    expect(words()).toBe('Context condensed using Smart: 2,000 → 1,000 tokens (-50%). Cost: $0. Time: 5 ms.');
  });

  it('tell what each later request costs less, where that is known and something', () => {
    expect(words({ savedPerRequest: 0.0123 })).toBe(`${words()} Each later request costs $0.01 less.`);
    expect(words({ savedPerRequest: 0 })).toBe(words());
  });

  it('end with what a person should know: a missed target, a note, or where the notes are', () => {
    expect(words({ targetTokens: 1_000 })).toBe(words());
    expect(words({ targetTokens: 999, notes: ['a', 'b'] })).toBe(
      `${words()} This is still above the target of 50% (999 tokens).`,
    );
    expect(words({ notes: ['it is done.'] })).toBe(`${words()} Note: it is done.`);
    expect(words({ notes: ['a', 'b'] })).toBe(`${words()} 2 notes are in Details.`);
  });

  it('name the conversation, in which nothing becomes a link', () => {
    expect(words({ title: 'Mend [this](command:evil).' })).toBe(
      `${words()} Conversation: “Mend [this] (command:evil).”`,
    );
  });

  it('of a preview say that nothing was applied', () => {
    const preview = { provider: 'Lossless', tokensBefore: 2_000, tokensAfter: 1_000, notes: [] };
    const said = 'Preview; nothing was applied. Condensing with Lossless: 2,000 → 1,000 tokens (-50%).';
    expect(previewWords(preview)).toBe(said);
    expect(previewWords({ ...preview, targetTokens: 999 })).toBe(
      `${said} This would still be above the target of 50% (999 tokens).`,
    );
  });
});
