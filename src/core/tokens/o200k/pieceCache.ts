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

const SHORT_SLOT_BITS = 16; // 65,536 short pieces, 16 bytes each
const LONG_SLOT_BITS = 13; // 8,192 long pieces, 64 bytes each
const COUNT_BITS = 8; // the last word of an entry: length above, tokens below; 0 if empty
const COUNT_MASK = (1 << COUNT_BITS) - 1;
const LONG_META_WORD = 1; // a long entry: hash, length and tokens, then the bytes
const LONG_BYTES_WORD = 2;

/**
 * Stores pieces in two fixed arrays, so it is exact, bounded and retains no strings. A new piece
 * replaces the one with the same hash slot.
 */
export class PieceTokenCache {
  readonly #short = new Int32Array(4 << SHORT_SLOT_BITS);
  readonly #long = new Int32Array(16 << LONG_SLOT_BITS);
  readonly #longView = new DataView(this.#long.buffer);
  readonly #countPiece: CountPieceTokens;

  constructor(countPiece: CountPieceTokens) {
    this.#countPiece = countPiece;
  }

  /** Requires `length` >= 2. */
  countTokens(text: TextBytes, start: number, length: number): number {
    if (length > MAX_SHORT_BYTES) return this.#countLong(text, start, length);
    const view = text.view;
    const w0 = readFirst4Bytes(view, start, length);
    const w1 = readMiddle4Bytes(view, start, length);
    const w2 = readLast4Bytes(view, start, length);
    const at = (hashShortPiece(w0, w1, w2, length) >>> (32 - SHORT_SLOT_BITS)) << 2;
    const entries = this.#short;
    const meta = entries[at + 3] as number;
    if (entries[at] === w0 && entries[at + 1] === w1 && entries[at + 2] === w2 && meta >>> COUNT_BITS === length)
      return meta & COUNT_MASK;
    const tokens = this.#countPiece(text, start, length);
    entries[at] = w0;
    entries[at + 1] = w1;
    entries[at + 2] = w2;
    entries[at + 3] = (length << COUNT_BITS) | tokens;
    return tokens;
  }

  #countLong(text: TextBytes, start: number, length: number): number {
    if (length > MAX_CACHED_PIECE_BYTES) return this.#countPiece(text, start, length);
    const hash = hashLongPiece(text.view, start, length);
    const at = (hash >>> (32 - LONG_SLOT_BITS)) << 4;
    const entries = this.#long;
    const meta = entries[at + LONG_META_WORD] as number;
    if (
      entries[at] === hash &&
      meta >>> COUNT_BITS === length &&
      areBytesEqual(this.#longView, (at + LONG_BYTES_WORD) * 4, text.view, start, length)
    )
      return meta & COUNT_MASK;
    const tokens = this.#countPiece(text, start, length);
    entries[at] = hash;
    entries[at + LONG_META_WORD] = (length << COUNT_BITS) | tokens;
    new Uint8Array(entries.buffer, (at + LONG_BYTES_WORD) * 4, MAX_CACHED_PIECE_BYTES).set(
      text.bytes.subarray(start, start + length),
    );
    return tokens;
  }
}
