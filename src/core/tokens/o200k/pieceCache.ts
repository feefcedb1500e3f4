import {
  hashLongPiece,
  hashShortPiece,
  areBytesEqual,
  MAX_SHORT_BYTES,
  readFirst4Bytes,
  readMiddle4Bytes,
  readLast4Bytes,
  type TextBytes,
} from './bytes';

/** Requires `length` >= 2. */
export type CountPieceTokens = (text: TextBytes, start: number, length: number) => number;

/** Longer pieces are not cached. */
const MAX_CACHED_PIECE_BYTES = 56;

const BITS_OF_SHORT_PIECE_INDEX = 16; // 65,536 short pieces, 16 bytes each
const BITS_OF_LONG_PIECE_INDEX = 13; // 8,192 long pieces, 64 bytes each
const BITS_OF_CACHED_TOKEN_COUNT = 8; // the last word of an entry: length in the high bits, tokens in the low bits; 0 if the entry is empty
const CACHED_TOKEN_COUNT_MASK = (1 << BITS_OF_CACHED_TOKEN_COUNT) - 1;
const INDEX_OF_LENGTH_IN_LONG_ENTRY = 1; // a long entry: hash, length and tokens, then the bytes
const INDEX_OF_BYTES_IN_LONG_ENTRY = 2;

/**
 * Two fixed arrays make the cache exact and bounded, without strings. A new piece replaces the one
 * in its hash slot.
 */
export class PieceTokenCache {
  readonly #shortEntries = new Int32Array(4 << BITS_OF_SHORT_PIECE_INDEX);
  readonly #longEntries = new Int32Array(16 << BITS_OF_LONG_PIECE_INDEX);
  readonly #longEntriesView = new DataView(this.#longEntries.buffer);
  readonly #countPiece: CountPieceTokens;

  constructor(countPiece: CountPieceTokens) {
    this.#countPiece = countPiece;
  }

  /** Requires `length` >= 2. */
  countTokens(text: TextBytes, start: number, length: number): number {
    if (length > MAX_SHORT_BYTES) return this.#countLongPiece(text, start, length);
    const view = text.view;
    const firstBytes = readFirst4Bytes(view, start, length);
    const middleBytes = readMiddle4Bytes(view, start, length);
    const lastBytes = readLast4Bytes(view, start, length);
    const entryStart =
      (hashShortPiece(firstBytes, middleBytes, lastBytes, length) >>> (32 - BITS_OF_SHORT_PIECE_INDEX)) << 2;
    const entries = this.#shortEntries;
    const lengthAndTokens = entries[entryStart + 3] as number;
    if (
      entries[entryStart] === firstBytes &&
      entries[entryStart + 1] === middleBytes &&
      entries[entryStart + 2] === lastBytes &&
      lengthAndTokens >>> BITS_OF_CACHED_TOKEN_COUNT === length
    )
      return lengthAndTokens & CACHED_TOKEN_COUNT_MASK;
    const tokens = this.#countPiece(text, start, length);
    entries[entryStart] = firstBytes;
    entries[entryStart + 1] = middleBytes;
    entries[entryStart + 2] = lastBytes;
    entries[entryStart + 3] = (length << BITS_OF_CACHED_TOKEN_COUNT) | tokens;
    return tokens;
  }

  #countLongPiece(text: TextBytes, start: number, length: number): number {
    if (length > MAX_CACHED_PIECE_BYTES) return this.#countPiece(text, start, length);
    const hash = hashLongPiece(text.view, start, length);
    const entryStart = (hash >>> (32 - BITS_OF_LONG_PIECE_INDEX)) << 4;
    const entries = this.#longEntries;
    const lengthAndTokens = entries[entryStart + INDEX_OF_LENGTH_IN_LONG_ENTRY] as number;
    if (
      entries[entryStart] === hash &&
      lengthAndTokens >>> BITS_OF_CACHED_TOKEN_COUNT === length &&
      areBytesEqual(this.#longEntriesView, (entryStart + INDEX_OF_BYTES_IN_LONG_ENTRY) * 4, text.view, start, length)
    )
      return lengthAndTokens & CACHED_TOKEN_COUNT_MASK;
    const tokens = this.#countPiece(text, start, length);
    entries[entryStart] = hash;
    entries[entryStart + INDEX_OF_LENGTH_IN_LONG_ENTRY] = (length << BITS_OF_CACHED_TOKEN_COUNT) | tokens;
    new Uint8Array(entries.buffer, (entryStart + INDEX_OF_BYTES_IN_LONG_ENTRY) * 4, MAX_CACHED_PIECE_BYTES).set(
      text.bytes.subarray(start, start + length),
    );
    return tokens;
  }
}
