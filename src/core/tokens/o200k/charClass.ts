/**
 * Character classes of the o200k pattern, one bit each, so that a set is tested with one AND.
 * scripts/ranks.mjs uses the same bits.
 */
export const UPPER = 1; // \p{Lu} \p{Lt}
export const LOWER = 2; // \p{Ll}
export const CASELESS = 4; // \p{Lm} \p{Lo}
export const MARK = 8; // \p{M}
export const NUMBER = 16; // \p{N}
export const NEWLINE = 32; // \r \n
export const SPACE = 64; // the rest of JavaScript's \s, U+FEFF included
export const OTHER = 128; // everything else: punctuation, symbols, control characters, unassigned code points
export const END = 0;

export const WORD = UPPER | LOWER | CASELESS | MARK;

const CODE_POINTS = 0x110000;

/**
 * Unfolds class ranges to one byte of class bits per code point.
 * @param ranges first code point << 8 | class bits, ascending; a range ends where the next one begins
 */
export function expandClasses(ranges: Uint32Array): Uint8Array {
  const classes = new Uint8Array(CODE_POINTS);
  let last = 0;
  let from = 0;
  for (const range of ranges) {
    classes.fill(last, from, range >>> 8);
    from = range >>> 8;
    last = range & 0xff;
  }
  return classes.fill(last, from);
}
