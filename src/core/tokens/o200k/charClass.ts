/**
 * Character classes of the o200k pattern, one bit each, so that a set is tested with one AND.
 * scripts/ranks.mjs uses the same bits.
 */
export const CLASS_UPPER = 1; // \p{Lu} \p{Lt}
export const CLASS_LOWER = 2; // \p{Ll}
export const CLASS_CASELESS = 4; // \p{Lm} \p{Lo}
export const CLASS_MARK = 8; // \p{M}
export const CLASS_NUMBER = 16; // \p{N}
export const CLASS_NEWLINE = 32; // \r \n
export const CLASS_SPACE = 64; // the other characters of JavaScript's \s, including U+FEFF
export const CLASS_OTHER = 128; // everything else: punctuation, symbols, control characters, unassigned code points
export const CLASS_END = 0;

export const CLASS_WORD = CLASS_UPPER | CLASS_LOWER | CLASS_CASELESS | CLASS_MARK;

const CODE_POINT_COUNT = 0x110000;

/**
 * @param ranges first code point << 8 | class bits, ascending; a range ends where the next one
 * starts
 */
export function expandCharClasses(ranges: Uint32Array): Uint8Array {
  const classes = new Uint8Array(CODE_POINT_COUNT);
  let rangeClass = 0;
  let rangeStart = 0;
  for (const range of ranges) {
    classes.fill(rangeClass, rangeStart, range >>> 8);
    rangeStart = range >>> 8;
    rangeClass = range & 0xff;
  }
  return classes.fill(rangeClass, rangeStart);
}
