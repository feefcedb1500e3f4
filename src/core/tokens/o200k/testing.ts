/** Compares with js-tiktoken as the reference, and creates seeded random texts. */
import { expect } from 'vitest';
import { Tiktoken } from 'js-tiktoken/lite';
import o200k from 'js-tiktoken/ranks/o200k_base';
import { loadRanks } from '../../../../scripts/ranks.mjs';
import { isLong } from '../../../../test/support/long';
import { hashText } from '../../hash';
import type { TokenCounter } from '../types';
import { BYTE_AFTER_TEXT_END, allocateTextBytes, type TextBytes } from './bytes';

/** The table that the extension ships with. */
export const rankTableBytes = loadRanks();

let referenceCounter: Tiktoken | undefined;

/** Returns js-tiktoken's count, with special tokens as ordinary text. */
export function countWithReference(text: string): number {
  return (referenceCounter ??= new Tiktoken(o200k)).encode(text, [], []).length;
}

/**
 * js-tiktoken takes fifteen times as long, so it runs only in `npm run test:long`, or if the digest
 * of our counts has changed.
 * @param knownDigest digest of js-tiktoken's counts
 */
export function expectReferenceCounts(counter: TokenCounter, texts: readonly string[], knownDigest: string): void {
  const counts = texts.map((text) => counter.count(text));
  const digest = hashText(JSON.stringify([texts, counts]));
  if (digest === knownDigest && !isLong) return;
  for (const [index, text] of texts.entries())
    if (counts[index] !== countWithReference(text))
      expect(counts[index], JSON.stringify(text).slice(0, 200)).toBe(countWithReference(text));
  // The texts differ, or V8 has another Unicode version.
  if (digest !== knownDigest)
    process.emitWarning(`All ${texts.length} counts are js-tiktoken's; their digest is ${digest}, not ${knownDigest}.`);
}

/** Returns js-tiktoken's pieces. */
export function splitWithReference(text: string): string[] {
  return text.match(new RegExp(o200k.pat_str, 'gu')) ?? [];
}

/** Returns the text as UTF-8 with the end byte, and its length in bytes. */
export function encodeText(text: string): TextBytes & { readonly length: number } {
  const bytes = new TextEncoder().encode(text);
  const buffer = allocateTextBytes(bytes.length);
  buffer.bytes.set(bytes);
  buffer.bytes.fill(BYTE_AFTER_TEXT_END, bytes.length);
  return { ...buffer, length: bytes.length };
}

/** Returns a source of integers below a limit, determined by the seed (mulberry32). */
export function createRandom(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  };
}

/** Characters that together reach every branch of the pattern. */
const TEXT_PARTS = [
  ...['a', 'the', 'Hello', 'ABC', 'iPhone', 'getURLFor', 'Z', 'é', 'É', 'ß', 'ǅ', 'ʰ', 'ª', 'Ж', 'ж', 'Ωmega', 'ﬁ'],
  ...['漢', '字漢字', 'あ', 'ア', '한국어', 'ا', 'م', 'ש', 'ก', 'ไ', 'क', '्', 'ष', 'ி', '\u0301', '\u20dd', '\ufe0f'],
  ...["'s", "'S", "'t", "'re", "'Re", "'vE", "'LL", "'l", "'m", "'D", "'x", "'", "''", '’s', "'ſ", "'r", "'v"],
  ...['0', '12', '345', '6789', '٣', '½', 'Ⅷ', '²', '𝟘', '߀', ' 1', '1a', 'a1'],
  ...[' ', '  ', '    ', '\t', '\t\t', '\n', '\r\n', '\n\n', ' \n', '\n ', '\r', '\v', '\f', '\u00a0', '\u3000'],
  ...['\u2028', '\u2029', '\ufeff', '\u0085', '\u180e', '\u200b', '\u200d', '\u1680', '\u2009'],
  ...[
    '.',
    ',',
    '!',
    '...',
    '/',
    '//',
    '/\n',
    '-',
    '--',
    '_',
    '(',
    ')',
    '{',
    '}',
    '=>',
    '"',
    '#',
    '@',
    '\\',
    '\0',
    '\x7f',
  ],
  ...['😀', '👩‍👩‍👧‍👦', '👍🏽', '🇩🇪', '🏴󠁧󠁢󠁥󠁮󠁧󠁿', '𐐀', '𐐨', '𠀀', '🯅', '\ud83d', '\ude00', '\ude00\ud83d', '\ud800'],
  ...[
    '<|endoftext|>',
    '<|endofprompt|>',
    '<|',
    '|>',
    '￿',
    '\ufffd',
    '\u{10ffff}',
    '\u{e0001}',
    '\ue000',
    '€',
    '…',
    '—',
  ],
];

/** Creates a random text of ordinary and difficult parts, single code units, and short runs. */
export function makeRandomText(random: (limit: number) => number): string {
  let text = '';
  for (let partsLeft = 1 + random(8); partsLeft > 0; partsLeft--) {
    const kind = random(12);
    if (kind < 8) text += TEXT_PARTS[random(TEXT_PARTS.length)] ?? '';
    else if (kind === 8) text += String.fromCharCode(32 + random(95));
    else if (kind === 9) text += String.fromCharCode(random(0x10000));
    else if (kind === 10) text += String.fromCodePoint(random(0x110000));
    else text += (TEXT_PARTS[random(TEXT_PARTS.length)] ?? '').repeat(1 + random(5));
  }
  return text;
}
