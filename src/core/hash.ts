import { createHash } from 'node:crypto';

/** A sha256 in hexadecimal. */
export type Hash = string & { readonly __hash: unique symbol };

/**
 * Hash of a text. UTF-8 would map every lone surrogate to U+FFFD and so give two texts one hash; such a text is hashed
 * in its JSON form, which escapes them.
 */
export function hashText(text: string): Hash {
  const bytes = text.isWellFormed() ? text : `\u0000json:${JSON.stringify(text)}`;
  return createHash('sha256').update(bytes, 'utf8').digest('hex') as Hash;
}
