import type { TextBytes } from './bytes';
import { MinHeap } from './minHeap';
import { MAX_TOKEN_BYTES, NO_TOKEN_RANK, type TokenRankTable } from './rankTable';

export interface MergeSizeLimits {
  /** Beyond this size a heap finds the lowest rank, instead of a linear search. */
  readonly simple: number;
  /** Longer pieces are merged in windows of this size, which keeps time and memory linear. */
  readonly window: number;
  readonly overlap: number;
}

const DEFAULT_MERGE_SIZES: MergeSizeLimits = { simple: 64, window: 2048, overlap: 4 * MAX_TOKEN_BYTES };

/** Remembers the latest windows, so that repetitive text is merged only once. */
const MAX_KNOWN_WINDOWS = 8;

interface CachedWindow {
  readonly bytes: Uint8Array;
  /** End of each part by its start. */
  readonly nextStarts: Int32Array;
  readonly partCount: number;
}

/** A heap key is rank times this plus position, within the 53 bits of a number. */
const RANK_FACTOR = 2 ** 31;

/**
 * Byte-pair merge: repeatedly joins the adjacent parts that form the token with the lowest rank,
 * leftmost first.
 */
export class BytePairMerger {
  readonly #table: TokenRankTable;
  readonly #sizes: MergeSizeLimits;
  /** For the simple merge: starts of the parts. */
  readonly #starts: Int32Array;
  /** Rank of the part at an index joined with the next one. */
  #ranks: Int32Array;
  /** For the heap merge: start of the next and previous part, by start. */
  #nextStarts: Int32Array;
  #previousStarts: Int32Array;
  #heap: MinHeap;

  constructor(table: TokenRankTable, sizes: MergeSizeLimits = DEFAULT_MERGE_SIZES) {
    this.#table = table;
    this.#sizes = sizes;
    this.#starts = new Int32Array(sizes.simple + 1);
    this.#ranks = new Int32Array(0);
    this.#nextStarts = new Int32Array(0);
    this.#previousStarts = new Int32Array(0);
    this.#heap = new MinHeap(0);
    this.#allocateArrays(this.#usualSize);
  }

  get #usualSize(): number {
    return Math.max(this.#sizes.simple, this.#sizes.window);
  }

  countTokens(text: TextBytes, start: number, length: number): number {
    if (length <= this.#sizes.simple) return this.#mergeSimply(text.view, start, length);
    if (length <= this.#sizes.window) return this.#heapMerge(text.view, start, length);
    return this.#mergeInWindows(text, start, length);
  }

  #mergeSimply(view: DataView, start: number, length: number): number {
    const table = this.#table;
    const starts = this.#starts;
    const ranks = this.#ranks;
    let partCount = length;
    let bestRank = NO_TOKEN_RANK;
    let bestIndex = 0;
    for (let partIndex = 0; partIndex < length; partIndex++) {
      starts[partIndex] = start + partIndex;
      const rank = partIndex + 1 < length ? table.getPairRank(view, start + partIndex) : NO_TOKEN_RANK;
      ranks[partIndex] = rank;
      if (rank < bestRank) {
        bestRank = rank;
        bestIndex = partIndex;
      }
    }
    starts[length] = start + length;
    while (bestRank !== NO_TOKEN_RANK) {
      partCount--;
      for (let partIndex = bestIndex + 1; partIndex < partCount; partIndex++) {
        starts[partIndex] = starts[partIndex + 1] as number;
        ranks[partIndex] = ranks[partIndex + 1] as number;
      }
      starts[partCount] = start + length;
      ranks[bestIndex] = bestIndex + 1 < partCount ? this.#getPairRank(view, bestIndex) : NO_TOKEN_RANK;
      if (bestIndex > 0) ranks[bestIndex - 1] = this.#getPairRank(view, bestIndex - 1);
      bestRank = NO_TOKEN_RANK;
      for (let partIndex = 0; partIndex < partCount; partIndex++) {
        const rank = ranks[partIndex] as number;
        if (rank < bestRank) {
          bestRank = rank;
          bestIndex = partIndex;
        }
      }
    }
    return partCount;
  }

  #getPairRank(view: DataView, part: number): number {
    const from = this.#starts[part] as number;
    return this.#table.getRank(view, from, (this.#starts[part + 2] as number) - from);
  }

  /**
   * A merge across a boundary depends only on the two tokens next to it, so tokens are right if
   * each adjacent pair is. Two windows combine if they share a token: the first token of a window
   * must also be in the previous one.
   */
  #mergeInWindows(text: TextBytes, start: number, length: number): number {
    const end = start + length;
    const cachedWindows: CachedWindow[] = [];
    let size = this.#sizes.window;
    let tokens = 0;
    let windowStart = start;
    let sharedEnd = 0; // required end of the window's first token; 0 for the first window
    for (;;) {
      const windowEnd = Math.min(end, windowStart + size);
      const { nextStarts, partCount } = this.#mergeWindow(text, windowStart, windowEnd, cachedWindows);
      const startsAtSharedEnd = sharedEnd === 0 || windowStart + (nextStarts[0] as number) === sharedEnd;
      if (startsAtSharedEnd && windowEnd === end) {
        return tokens + partCount;
      }
      const limit = size - this.#sizes.overlap;
      let tokenStart = 0;
      while (startsAtSharedEnd && (nextStarts[tokenStart] as number) <= limit) {
        tokenStart = nextStarts[tokenStart] as number;
        tokens++;
      }
      if (tokenStart === 0) {
        // The windows don't meet, or one token fills this window: start again with larger windows.
        size *= 2;
        cachedWindows.length = 0;
        tokens = 0;
        windowStart = start;
        sharedEnd = 0;
      } else {
        sharedEnd = windowStart + (nextStarts[tokenStart] as number);
        windowStart += tokenStart;
      }
    }
  }

  #mergeWindow(
    { bytes, view }: TextBytes,
    windowStart: number,
    windowEnd: number,
    cachedWindows: CachedWindow[],
  ): CachedWindow {
    const windowBytes = bytes.subarray(windowStart, windowEnd);
    const cachedWindow = cachedWindows.find((other) => areBytesEqual(other.bytes, windowBytes));
    if (cachedWindow) return cachedWindow;
    if (windowBytes.length > this.#nextStarts.length) this.#allocateArrays(windowBytes.length);
    const partCount = this.#heapMerge(view, windowStart, windowBytes.length);
    const mergedWindow = { bytes: windowBytes, nextStarts: this.#nextStarts.slice(0, windowBytes.length), partCount };
    if (this.#nextStarts.length > this.#usualSize) this.#allocateArrays(this.#usualSize);
    cachedWindows.unshift(mergedWindow);
    cachedWindows.length = Math.min(cachedWindows.length, MAX_KNOWN_WINDOWS);
    return mergedWindow;
  }

  #heapMerge(view: DataView, start: number, length: number): number {
    const table = this.#table;
    const nextStarts = this.#nextStarts;
    const previousStarts = this.#previousStarts;
    const ranks = this.#ranks;
    const heap = this.#heap;
    for (let offset = 0; offset < length; offset++) {
      nextStarts[offset] = offset + 1;
      previousStarts[offset] = offset - 1;
      const rank = offset + 1 < length ? table.getPairRank(view, start + offset) : NO_TOKEN_RANK;
      ranks[offset] = rank;
      if (rank !== NO_TOKEN_RANK) heap.appendUnordered(rank * RANK_FACTOR + offset);
    }
    heap.buildHeap();
    let partCount = length;
    while (heap.size > 0) {
      const key = heap.top;
      heap.removeTop();
      const rank = Math.floor(key / RANK_FACTOR);
      const offset = key - rank * RANK_FACTOR;
      if (ranks[offset] !== rank) continue; // the pair of this key no longer exists
      partCount--;
      const removedStart = nextStarts[offset] as number;
      const end = nextStarts[removedStart] as number;
      nextStarts[offset] = end;
      ranks[removedStart] = NO_TOKEN_RANK;
      if (end < length) previousStarts[end] = offset;
      this.#updateRank(view, start, offset, length);
      if (offset > 0) this.#updateRank(view, start, previousStarts[offset] as number, length);
    }
    return partCount;
  }

  #updateRank(view: DataView, start: number, offset: number, length: number): void {
    const middleStart = this.#nextStarts[offset] as number;
    let rank = NO_TOKEN_RANK;
    if (middleStart < length)
      rank = this.#table.getRank(view, start + offset, (this.#nextStarts[middleStart] as number) - offset);
    this.#ranks[offset] = rank;
    if (rank !== NO_TOKEN_RANK) this.#heap.push(rank * RANK_FACTOR + offset);
  }

  /** Each merge removes one key from the heap and adds at most two. */
  #allocateArrays(size: number): void {
    this.#ranks = new Int32Array(size);
    this.#nextStarts = new Int32Array(size);
    this.#previousStarts = new Int32Array(size);
    this.#heap = new MinHeap(size * 2);
  }
}

function areBytesEqual(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false;
  return true;
}
