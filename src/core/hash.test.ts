import { createHash } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { blockHash } from './condense/edits/edits';
import { hashSteps, hashText } from './hash';
import { LargeTexts } from './largeTexts';
import { messageKey } from './messages/messageKey';
import { inOneGo } from './pace';

describe('hashText', () => {
  it('is the sha256 of the UTF-8 bytes', () => {
    expect(hashText('häß 🎉')).toBe(createHash('sha256').update('häß 🎉', 'utf8').digest('hex'));
  });

  it('tells lone surrogates from each other and from U+FFFD', () => {
    const texts = ['a\ud800', 'a\udc00', 'a\ufffd', 'a', '\ud800a', '\u0000json:"\\ud800"', '\ud800'];
    expect(new Set(texts.map(hashText)).size).toBe(texts.length);
  });

  it.each(['a', '🎉é', '\ud83d a', '\n'])('is the same for megabytes of %j, whether in one go or in steps', (piece) => {
    const text = piece.repeat(1_000_000 / piece.length);
    const expected = (of: string): string => {
      const bytes = of.isWellFormed()
        ? Buffer.from(of)
        : Buffer.concat([Buffer.from([0xff]), Buffer.from(of, 'utf16le')]);
      return createHash('sha256').update(bytes).digest('hex');
    };
    expect(inOneGo(hashSteps(text))).toBe(expected(text));
    // One that was not hashed in steps before.
    expect(hashText(text + piece)).toBe(expected(text + piece));
  });

  it('of JSON that was made for it keeps no megabytes in memory', () => {
    const set = vi.spyOn(LargeTexts.prototype, 'set');
    const block = { type: 'text', text: 'x'.repeat(1_000_000) };
    messageKey({ role: 'user', content: [block] });
    blockHash(block);
    expect(set).not.toHaveBeenCalled();
    hashText(block.text);
    expect(set).toHaveBeenCalledOnce();
    set.mockRestore();
  });
});
