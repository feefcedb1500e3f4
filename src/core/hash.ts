import { createHash, hash } from 'node:crypto';

/** A sha256 in hexadecimal. */
export type Hash = string & { readonly __hash: unique symbol };

/** No UTF-8 text holds this byte, so that no text can have the hash of another. */
const NOT_UTF8 = Uint8Array.of(0xff);

/** Hash of a text. UTF-8 would map every lone surrogate to U+FFFD; a text with such is hashed in its UTF-16 units. */
export function hashText(text: string): Hash {
  // At once: an object for each of many short texts costs more than their hashing.
  const hex = text.isWellFormed()
    ? hash('sha256', text)
    : createHash('sha256').update(NOT_UTF8).update(text, 'utf16le').digest('hex');
  return hex as Hash;
}
