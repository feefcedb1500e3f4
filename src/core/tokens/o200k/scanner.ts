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
 * Cuts UTF-8 text into pieces. The first alternative of the o200k pattern that matches wins:
 *
 *   1 [^\r\n\p{L}\p{N}]? [Lu Lt Lm Lo M]* [Ll Lm Lo M]+ ('s|'t|'re|'ve|'m|'ll|'d in any case)?
 *   2 [^\r\n\p{L}\p{N}]? [Lu Lt Lm Lo M]+ [Ll Lm Lo M]* (the same)?
 *   3 \p{N}{1,3}
 *   4 ' '? [^\s\p{L}\p{N}]+ [\r\n/]*
 *   5 \s* [\r\n]+
 *   6 \s+ (?!\S)
 *   7 \s+
 *
 * Even in long runs, each byte is looked at a few times at most.
 */
export class PieceScanner {
  readonly #classes: Uint8Array;

  constructor(classes: Uint8Array) {
    this.#classes = classes;
  }

  /** @param bytes well-formed UTF-8 followed by BYTE_AFTER_TEXT_END */
  findPieceEnd(bytes: Uint8Array, start: number): number {
    let offset = start;
    let state = 0;
    do state = NEXT_SCANNER_STATE[state + (KIND_BY_BYTE[bytes[offset++] as number] as number)] as number;
    while (state < PIECE_ENDS_BEFORE_BYTE);
    if (state === PIECE_ENDS_BEFORE_BYTE) return offset - 1;
    return state === PIECE_ENDED_EARLIER ? offset - 2 : this.#findEndOfAnyPiece(bytes, start);
  }

  #findEndOfAnyPiece(bytes: Uint8Array, start: number): number {
    const charClass = this.#getClass(bytes, start);
    // A mark is part of the word it starts; as a prefix it would end at the same place.
    if ((charClass & CLASS_WORD) !== 0) return this.#findWordEnd(bytes, start);
    if (charClass === CLASS_NUMBER) return this.#findNumberEnd(bytes, start);
    if (charClass === CLASS_NEWLINE) return this.#findSpaceEnd(bytes, start);
    // Anything else may precede a word.
    const firstByte = bytes[start] as number;
    const secondStart = start + getUtf8Width(firstByte);
    const nextClass = this.#getClass(bytes, secondStart);
    if ((nextClass & CLASS_WORD) !== 0) return this.#findWordEnd(bytes, secondStart);
    if (charClass === CLASS_OTHER || (nextClass === CLASS_OTHER && firstByte === BLANK))
      return this.#findSymbolsEnd(bytes, secondStart);
    return this.#findSpaceEnd(bytes, start);
  }

  /** Alternatives 1 and 2 without the prefix, at a letter or mark. */
  #findWordEnd(bytes: Uint8Array, start: number): number {
    let offset = start;
    let caselessEnd = start;
    let charClass = this.#getClass(bytes, offset);
    while ((charClass & (CLASS_UPPER | CLASS_CASELESS | CLASS_MARK)) !== 0) {
      offset += getUtf8Width(bytes[offset] as number);
      if (charClass !== CLASS_UPPER) caselessEnd = offset;
      charClass = this.#getClass(bytes, offset);
    }
    if (charClass === CLASS_LOWER) {
      do {
        offset += getUtf8Width(bytes[offset] as number);
        charClass = this.#getClass(bytes, offset);
      } while ((charClass & (CLASS_LOWER | CLASS_CASELESS | CLASS_MARK)) !== 0);
    } else if (caselessEnd !== start) {
      // Alternative 1 takes precedence: it gives back trailing capitals if a caseless letter can
      // end the word.
      offset = caselessEnd;
    }
    return bytes[offset] === APOSTROPHE ? findContractionEnd(bytes, offset) : offset;
  }

  #findNumberEnd(bytes: Uint8Array, start: number): number {
    let offset = start;
    for (let digitCount = 0; digitCount < 3 && this.#getClass(bytes, offset) === CLASS_NUMBER; digitCount++) {
      offset += getUtf8Width(bytes[offset] as number);
    }
    return offset;
  }

  #findSymbolsEnd(bytes: Uint8Array, from: number): number {
    let offset = from;
    while ((this.#getClass(bytes, offset) & (CLASS_OTHER | CLASS_MARK)) !== 0)
      offset += getUtf8Width(bytes[offset] as number);
    while (bytes[offset] === LINE_FEED || bytes[offset] === CARRIAGE_RETURN || bytes[offset] === SLASH) offset++;
    return offset;
  }

  #findSpaceEnd(bytes: Uint8Array, start: number): number {
    let offset = start;
    let lastBlankStart = start;
    let newlineEnd = start;
    let charClass = this.#getClass(bytes, offset);
    while ((charClass & (CLASS_SPACE | CLASS_NEWLINE)) !== 0) {
      lastBlankStart = offset;
      offset += getUtf8Width(bytes[offset] as number);
      if (charClass === CLASS_NEWLINE) newlineEnd = offset;
      charClass = this.#getClass(bytes, offset);
    }
    if (newlineEnd !== start) return newlineEnd;
    // The last space belongs to the visible character after it, unless it is the only one.
    return charClass === CLASS_END || lastBlankStart === start ? offset : lastBlankStart;
  }

  #getClass(bytes: Uint8Array, offset: number): number {
    const firstByte = bytes[offset] as number;
    return firstByte < 0x80 ? (this.#classes[firstByte] as number) : this.#getClassOfWideChar(bytes, offset, firstByte);
  }

  #getClassOfWideChar(bytes: Uint8Array, offset: number, firstByte: number): number {
    const secondBits = (bytes[offset + 1] as number) & 0x3f;
    if (firstByte < 0xe0) return this.#classes[((firstByte & 0x1f) << 6) | secondBits] as number;
    const thirdBits = (bytes[offset + 2] as number) & 0x3f;
    if (firstByte < 0xf0) return this.#classes[((firstByte & 0x0f) << 12) | (secondBits << 6) | thirdBits] as number;
    if (firstByte > 0xf4) return CLASS_END;
    const fourthBits = (bytes[offset + 3] as number) & 0x3f;
    return this.#classes[((firstByte & 0x07) << 18) | (secondBits << 12) | (thirdBits << 6) | fourthBits] as number;
  }
}

function getUtf8Width(first: number): number {
  return first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/** Returns `offset` if there is no contraction. */
function findContractionEnd(bytes: Uint8Array, offset: number): number {
  const firstLetter = (bytes[offset + 1] as number) | 0x20; // lower case
  if (firstLetter === 0x73 || firstLetter === 0x74 || firstLetter === 0x6d || firstLetter === 0x64) return offset + 2; // s t m d
  const secondLetter = (bytes[offset + 2] as number) | 0x20;
  if (secondLetter === 0x65 && (firstLetter === 0x72 || firstLetter === 0x76)) return offset + 3; // re ve
  return firstLetter === 0x6c && secondLetter === 0x6c ? offset + 3 : offset; // ll
}
