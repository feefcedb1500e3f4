import { createHash, hash } from 'node:crypto';

/** SHA-256 in hex. */
export type Hash = string & { readonly __hash: unique symbol };

/** Put before UTF-16 data. This byte never occurs in UTF-8, so no UTF-8 text has the same hash. */
const NOT_UTF8_MARK = Uint8Array.of(0xff);

/**
 * UTF-8 would replace every lone surrogate by U+FFFD, so this hashes texts with lone surrogates as
 * UTF-16.
 */
export function hashText(text: string): Hash {
  // The one-shot function creates no object, which would cost more than hashing.
  const hex = text.isWellFormed()
    ? hash('sha256', text)
    : createHash('sha256').update(NOT_UTF8_MARK).update(text, 'utf16le').digest('hex');
  return hex as Hash;
}
