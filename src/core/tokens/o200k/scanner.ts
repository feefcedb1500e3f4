import { PIECE_ENDS_BEFORE_BYTE, PIECE_ENDED_EARLIER, KIND_BY_BYTE, NEXT_SCANNER_STATE } from './asciiPieces';
import {
  CLASS_CASELESS,
  CLASS_END,
  CLASS_LOWER,
  CLASS_MARK,
  CLASS_NEWLINE,
  CLASS_NUMBER,
  CLASS_OTHER,
  CLASS_SPACE,
  CLASS_UPPER,
  CLASS_WORD,
} from './charClass';

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const BLANK = 0x20;
const APOSTROPHE = 0x27;
const SLASH = 0x2f;

/**
 * Cuts UTF-8 text into the pieces of the o200k pattern. The pattern is a list of alternatives, the first that matches
 * wins:
 *
 *   1  [^\r\n\p{L}\p{N}]? [Lu Lt Lm Lo M]* [Ll Lm Lo M]+  ('s|'t|'re|'ve|'m|'ll|'d in any case)?
 *   2  [^\r\n\p{L}\p{N}]? [Lu Lt Lm Lo M]+ [Ll Lm Lo M]*  (the same)?
 *   3  \p{N}{1,3}
 *   4  ' '? [^\s\p{L}\p{N}]+ [\r\n/]*
 *   5  \s* [\r\n]+
 *   6  \s+ (?!\S)
 *   7  \s+
 *
 * However long a run, each of its bytes is looked at a few times at most.
 */
export class PieceScanner {
  readonly #classes: Uint8Array;

  constructor(classes: Uint8Array) {
    this.#classes = classes;
  }

  /** @param bytes well-formed UTF-8 followed by BYTE_AFTER_TEXT_END */
  findPieceEnd(bytes: Uint8Array, start: number): number {
    let at = start;
    let state = 0;
    do state = NEXT_SCANNER_STATE[state + (KIND_BY_BYTE[bytes[at++] as number] as number)] as number;
    while (state < PIECE_ENDS_BEFORE_BYTE);
    if (state === PIECE_ENDS_BEFORE_BYTE) return at - 1;
    return state === PIECE_ENDED_EARLIER ? at - 2 : this.#general(bytes, start);
  }

  #general(bytes: Uint8Array, start: number): number {
    const kind = this.#classAt(bytes, start);
    // A mark is part of the word it starts; as a prefix it would end at the same place.
    if ((kind & CLASS_WORD) !== 0) return this.#word(bytes, start);
    if (kind === CLASS_NUMBER) return this.#number(bytes, start);
    if (kind === CLASS_NEWLINE) return this.#space(bytes, start);
    // Anything else may precede a word.
    const first = bytes[start] as number;
    const second = start + getUtf8Width(first);
    const next = this.#classAt(bytes, second);
    if ((next & CLASS_WORD) !== 0) return this.#word(bytes, second);
    if (kind === CLASS_OTHER || (next === CLASS_OTHER && first === BLANK)) return this.#others(bytes, second);
    return this.#space(bytes, start);
  }

  /** Alternatives 1 and 2 without the prefix, at a letter or mark. */
  #word(bytes: Uint8Array, start: number): number {
    let at = start;
    let afterCaseless = start;
    let kind = this.#classAt(bytes, at);
    while ((kind & (CLASS_UPPER | CLASS_CASELESS | CLASS_MARK)) !== 0) {
      at += getUtf8Width(bytes[at] as number);
      if (kind !== CLASS_UPPER) afterCaseless = at;
      kind = this.#classAt(bytes, at);
    }
    if (kind === CLASS_LOWER) {
      do {
        at += getUtf8Width(bytes[at] as number);
        kind = this.#classAt(bytes, at);
      } while ((kind & (CLASS_LOWER | CLASS_CASELESS | CLASS_MARK)) !== 0);
    } else if (afterCaseless !== start) {
      // Alternative 1 takes precedence: it gives back trailing capitals if a caseless letter can
      // end the word.
      at = afterCaseless;
    }
    return bytes[at] === APOSTROPHE ? findContractionEnd(bytes, at) : at;
  }

  #number(bytes: Uint8Array, start: number): number {
    let at = start;
    for (let digits = 0; digits < 3 && this.#classAt(bytes, at) === CLASS_NUMBER; digits++) {
      at += getUtf8Width(bytes[at] as number);
    }
    return at;
  }

  #others(bytes: Uint8Array, from: number): number {
    let at = from;
    while ((this.#classAt(bytes, at) & (CLASS_OTHER | CLASS_MARK)) !== 0) at += getUtf8Width(bytes[at] as number);
    while (bytes[at] === LINE_FEED || bytes[at] === CARRIAGE_RETURN || bytes[at] === SLASH) at++;
    return at;
  }

  #space(bytes: Uint8Array, start: number): number {
    let at = start;
    let last = start;
    let afterNewline = start;
    let kind = this.#classAt(bytes, at);
    while ((kind & (CLASS_SPACE | CLASS_NEWLINE)) !== 0) {
      last = at;
      at += getUtf8Width(bytes[at] as number);
      if (kind === CLASS_NEWLINE) afterNewline = at;
      kind = this.#classAt(bytes, at);
    }
    if (afterNewline !== start) return afterNewline;
    // The last space belongs to the visible character after it, unless it is the only one.
    return kind === CLASS_END || last === start ? at : last;
  }

  #classAt(bytes: Uint8Array, at: number): number {
    const first = bytes[at] as number;
    return first < 0x80 ? (this.#classes[first] as number) : this.#wideClassAt(bytes, at, first);
  }

  #wideClassAt(bytes: Uint8Array, at: number, first: number): number {
    const second = (bytes[at + 1] as number) & 0x3f;
    if (first < 0xe0) return this.#classes[((first & 0x1f) << 6) | second] as number;
    const third = (bytes[at + 2] as number) & 0x3f;
    if (first < 0xf0) return this.#classes[((first & 0x0f) << 12) | (second << 6) | third] as number;
    if (first > 0xf4) return CLASS_END;
    const fourth = (bytes[at + 3] as number) & 0x3f;
    return this.#classes[((first & 0x07) << 18) | (second << 12) | (third << 6) | fourth] as number;
  }
}

function getUtf8Width(first: number): number {
  return first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/** Returns `at` if there is no contraction. */
function findContractionEnd(bytes: Uint8Array, at: number): number {
  const one = (bytes[at + 1] as number) | 0x20; // lower case
  if (one === 0x73 || one === 0x74 || one === 0x6d || one === 0x64) return at + 2; // s t m d
  const two = (bytes[at + 2] as number) | 0x20;
  if (two === 0x65 && (one === 0x72 || one === 0x76)) return at + 3; // re ve
  return one === 0x6c && two === 0x6c ? at + 3 : at; // ll
}
