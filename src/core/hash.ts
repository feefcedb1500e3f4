import { createHash, hash } from 'node:crypto';
import { LARGE_TEXT, LargeTexts, slicesOf } from './largeTexts';
import type { Steps } from './pace';

/** A sha256 in hexadecimal. */
export type Hash = string & { readonly __hash: unique symbol };

/** No UTF-8 text holds this byte, so that no text can have the hash of another. */
const NOT_UTF8 = Uint8Array.of(0xff);

/** A large text is asked for again and again: where it is cut, where that is checked, and where it is kept. */
const known = new LargeTexts<Hash>();

/** Hash of a text. UTF-8 would map every lone surrogate to U+FFFD; a text with such is hashed in its UTF-16 units. */
export function hashText(text: string): Hash {
  if (text.length < LARGE_TEXT) return hashOnce(text);
  const before = known.get(text);
  if (before !== undefined) return before;
  const hash = hashOnce(text);
  known.set(text, hash);
  return hash;
}

/** The same in steps; {@link hashText} then has it at once. */
export function* hashSteps(text: string): Steps<Hash> {
  if (text.length < LARGE_TEXT) return hashOnce(text);
  const before = known.get(text);
  if (before !== undefined) return before;
  let isWellFormed = true;
  for (const slice of slicesOf(text)) {
    isWellFormed &&= slice.isWellFormed();
    yield;
  }
  const whole = createHash('sha256');
  if (!isWellFormed) whole.update(NOT_UTF8);
  for (const slice of slicesOf(text)) {
    whole.update(slice, isWellFormed ? 'utf8' : 'utf16le');
    yield;
  }
  const hash = whole.digest('hex') as Hash;
  known.set(text, hash);
  return hash;
}

/** The same of a text that was made to be hashed, and is not kept in memory for it. */
export function hashOnce(text: string): Hash {
  // At once: an object for each of many short texts costs more than their hashing.
  const hex = text.isWellFormed()
    ? hash('sha256', text)
    : createHash('sha256').update(NOT_UTF8).update(text, 'utf16le').digest('hex');
  return hex as Hash;
}

/** Hash of a text without lone surrogates that is made piece by piece. */
export function* hashPieces(pieces: Iterable<string>): Steps<Hash> {
  const whole = createHash('sha256');
  for (const piece of pieces) {
    whole.update(piece);
    yield;
  }
  return whole.digest('hex') as Hash;
}
