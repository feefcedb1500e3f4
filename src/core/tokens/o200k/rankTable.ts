import { expandCharClasses } from './charClass';
import {
  hashLongPiece,
  hashShortPiece,
  PADDING_BYTES,
  MAX_SHORT_BYTES,
  areBytesEqual,
  wrapTextBytes,
  readFirst4Bytes,
  readMiddle4Bytes,
  readLast4Bytes,
} from './bytes';

export const MAX_TOKEN_BYTES = 128;

/** Rank of bytes that are not a token; higher than all others. */
export const NO_TOKEN_RANK = 0x7fffffff;

const TABLE_MAGIC = 0x314b324f; // 'O2K1'
const TABLE_HEAD_BYTES = 16;

/** 2^19 slots for 200,000 tokens: half of all lookups miss, which a sparse table detects fast. */
const HASH_SLOT_BITS = 19;
const HASH_SLOT_MASK = (1 << HASH_SLOT_BITS) - 1;
const HASH_SLOT_SHIFT = 32 - HASH_SLOT_BITS;

/**
 * A slot has rank + 1 in its low bits, and low bits of the hash in its high bits; 0 means empty.
 */
const RANK_BITS = 18;
const RANK_MASK = (1 << RANK_BITS) - 1;

export class TokenRankTable {
  readonly classes: Uint8Array;
  readonly #asset: DataView;
  readonly #offsets: Int32Array;
  /** Ranks by hash of the bytes, with open addressing. */
  readonly #slots = new Int32Array(1 << HASH_SLOT_BITS);
  /** Ranks of two-byte tokens by their little-endian number. */
  readonly #pairRanks = new Int32Array(1 << 16).fill(NO_TOKEN_RANK);

  /** @param asset the bytes that scripts/ranks.mjs makes; kept, not copied */
  constructor(asset: Uint8Array) {
    const { view } = wrapTextBytes(asset);
    if (asset.length < TABLE_HEAD_BYTES || view.getUint32(0, true) !== TABLE_MAGIC)
      throw new Error('not an o200k table');
    const tokenCount = view.getUint32(4, true);
    const rangeCount = view.getUint32(12, true);
    const lengthsOffset = TABLE_HEAD_BYTES + rangeCount * 4;
    const bytesOffset = lengthsOffset + tokenCount;
    if (asset.length !== bytesOffset + view.getUint32(8, true) + PADDING_BYTES)
      throw new Error('the o200k table is cut off');
    this.#asset = view;
    this.classes = expandCharClasses(
      Uint32Array.from({ length: rangeCount }, (_, i) => view.getUint32(TABLE_HEAD_BYTES + i * 4, true)),
    );
    this.#offsets = new Int32Array(tokenCount + 1);
    this.#fillTables(asset.subarray(lengthsOffset, bytesOffset), bytesOffset);
  }

  getPairRank(view: DataView, start: number): number {
    return this.#pairRanks[view.getUint16(start, true)] as number;
  }

  /** Requires `length` >= 2; returns NO_TOKEN_RANK if the bytes are not a token. */
  getRank(view: DataView, start: number, length: number): number {
    if (length > MAX_SHORT_BYTES)
      return length > MAX_TOKEN_BYTES ? NO_TOKEN_RANK : this.#getLongRank(view, start, length);
    const firstBytes = readFirst4Bytes(view, start, length);
    const middleBytes = readMiddle4Bytes(view, start, length);
    const lastBytes = readLast4Bytes(view, start, length);
    const hash = hashShortPiece(firstBytes, middleBytes, lastBytes, length);
    const asset = this.#asset;
    let slot = hash >>> HASH_SLOT_SHIFT;
    for (;;) {
      const slotValue = this.#slots[slot] as number;
      if (slotValue === 0) return NO_TOKEN_RANK;
      if ((slotValue ^ (hash << RANK_BITS)) >>> RANK_BITS === 0) {
        const rank = (slotValue & RANK_MASK) - 1;
        const tokenStart = this.#offsets[rank] as number;
        if (
          (this.#offsets[rank + 1] as number) - tokenStart === length &&
          readFirst4Bytes(asset, tokenStart, length) === firstBytes &&
          readMiddle4Bytes(asset, tokenStart, length) === middleBytes &&
          readLast4Bytes(asset, tokenStart, length) === lastBytes
        )
          return rank;
      }
      slot = (slot + 1) & HASH_SLOT_MASK;
    }
  }

  #getLongRank(view: DataView, start: number, length: number): number {
    const hash = hashLongPiece(view, start, length);
    let slot = hash >>> HASH_SLOT_SHIFT;
    for (;;) {
      const slotValue = this.#slots[slot] as number;
      if (slotValue === 0) return NO_TOKEN_RANK;
      if ((slotValue ^ (hash << RANK_BITS)) >>> RANK_BITS === 0) {
        const rank = (slotValue & RANK_MASK) - 1;
        const tokenStart = this.#offsets[rank] as number;
        if (
          (this.#offsets[rank + 1] as number) - tokenStart === length &&
          areBytesEqual(this.#asset, tokenStart, view, start, length)
        )
          return rank;
      }
      slot = (slot + 1) & HASH_SLOT_MASK;
    }
  }

  /** A plain loop over locals, since it runs once, before it is optimized. */
  #fillTables(lengths: Uint8Array, bytesOffset: number): void {
    const view = this.#asset;
    const slots = this.#slots;
    const offsets = this.#offsets;
    let tokenStart = bytesOffset;
    for (let rank = 0; rank < lengths.length; rank++) {
      const length = lengths[rank] as number;
      offsets[rank] = tokenStart;
      const hash =
        length > MAX_SHORT_BYTES
          ? hashLongPiece(view, tokenStart, length)
          : hashShortPiece(
              readFirst4Bytes(view, tokenStart, length),
              readMiddle4Bytes(view, tokenStart, length),
              readLast4Bytes(view, tokenStart, length),
              length,
            );
      let slot = hash >>> HASH_SLOT_SHIFT;
      while (slots[slot] !== 0) slot = (slot + 1) & HASH_SLOT_MASK;
      slots[slot] = (hash << RANK_BITS) | (rank + 1);
      if (length === 2) this.#pairRanks[view.getUint16(tokenStart, true)] = rank;
      tokenStart += length;
    }
    offsets[lengths.length] = tokenStart;
  }
}
