import { expandClasses } from './charClass';
import { hashLong, hashShort, PADDING, SHORT, sameBytes, viewOf, word0, word1, word2 } from './bytes';

/** No token has more bytes. */
export const MAX_TOKEN = 128;

/** Rank of bytes that are no token: behind all others. */
export const NO_RANK = 0x7fffffff;

const MAGIC = 0x314b324f; // 'O2K1'
const HEAD = 16; // bytes before the class ranges

/** 2^19 slots for 200,000 tokens: half of what merging asks for is no token, and a sparse table says so at once. */
const SLOT_BITS = 19;
const SLOT_MASK = (1 << SLOT_BITS) - 1;
const SLOT_SHIFT = 32 - SLOT_BITS;

/** The last word of a slot is the rank in the low bits and the length in bytes above; 0 is an empty slot. */
const RANK_BITS = 18;
const RANK_MASK = (1 << RANK_BITS) - 1;

/** What the shipped table holds: the tokens with their ranks and the classes of all code points. */
export class RankTable {
  /** class bits per code point, see charClass.ts */
  readonly classes: Uint8Array;
  readonly #asset: DataView;
  /**
   * Open addressing, four words per slot. A short token stands there itself, three words of its bytes; a longer one
   * with its hash and the place of its bytes in the asset.
   */
  readonly #slots = new Int32Array(4 << SLOT_BITS);
  /** ranks of the tokens of two bytes, indexed by the little-endian number of the two */
  readonly #pairs = new Int32Array(1 << 16).fill(NO_RANK);

  /** @param asset the bytes that scripts/ranks.mjs makes; kept, not copied */
  constructor(asset: Uint8Array) {
    const { view } = viewOf(asset);
    if (asset.length < HEAD || view.getUint32(0, true) !== MAGIC) throw new Error('not an o200k table');
    const tokens = view.getUint32(4, true);
    const ranges = view.getUint32(12, true);
    const lengthsAt = HEAD + ranges * 4;
    const bytesAt = lengthsAt + tokens;
    if (asset.length !== bytesAt + view.getUint32(8, true) + PADDING) throw new Error('the o200k table is cut off');
    this.#asset = view;
    this.classes = expandClasses(Uint32Array.from({ length: ranges }, (_, i) => view.getUint32(HEAD + i * 4, true)));
    let at = bytesAt;
    for (let rank = 0; rank < tokens; rank++) {
      const length = asset[lengthsAt + rank] as number;
      this.#add(at, length, rank);
      at += length;
    }
  }

  /** Rank of two neighbouring bytes, NO_RANK when they are no token. */
  pairRank(view: DataView, start: number): number {
    return this.#pairs[view.getUint16(start, true)] as number;
  }

  /** Rank of `length` >= 2 bytes, NO_RANK when they are no token. */
  rank(view: DataView, start: number, length: number): number {
    if (length > SHORT) return length > MAX_TOKEN ? NO_RANK : this.#longRank(view, start, length);
    const w0 = word0(view, start, length);
    const w1 = word1(view, start, length);
    const w2 = word2(view, start, length);
    const slots = this.#slots;
    let slot = hashShort(w0, w1, w2, length) >>> SLOT_SHIFT;
    for (;;) {
      const at = slot << 2;
      const meta = slots[at + 3] as number;
      if (meta === 0) return NO_RANK;
      if (slots[at] === w0 && slots[at + 1] === w1 && slots[at + 2] === w2 && meta >>> RANK_BITS === length)
        return meta & RANK_MASK;
      slot = (slot + 1) & SLOT_MASK;
    }
  }

  #longRank(view: DataView, start: number, length: number): number {
    const hash = hashLong(view, start, length);
    const slots = this.#slots;
    let slot = hash >>> SLOT_SHIFT;
    for (;;) {
      const at = slot << 2;
      const meta = slots[at + 3] as number;
      if (meta === 0) return NO_RANK;
      if (
        slots[at] === hash &&
        meta >>> RANK_BITS === length &&
        sameBytes(this.#asset, slots[at + 1] as number, view, start, length)
      )
        return meta & RANK_MASK;
      slot = (slot + 1) & SLOT_MASK;
    }
  }

  #add(start: number, length: number, rank: number): void {
    const view = this.#asset;
    if (length === 2) this.#pairs[view.getUint16(start, true)] = rank;
    const short = length <= SHORT;
    const w0 = short ? word0(view, start, length) : hashLong(view, start, length);
    const w1 = short ? word1(view, start, length) : start;
    const w2 = short ? word2(view, start, length) : 0;
    const slots = this.#slots;
    let slot = (short ? hashShort(w0, w1, w2, length) : w0) >>> SLOT_SHIFT;
    while (slots[(slot << 2) + 3] !== 0) slot = (slot + 1) & SLOT_MASK;
    const at = slot << 2;
    slots[at] = w0;
    slots[at + 1] = w1;
    slots[at + 2] = w2;
    slots[at + 3] = (length << RANK_BITS) | rank;
  }
}
