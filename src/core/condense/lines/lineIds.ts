/** IDs are consecutive from 0. */
export type LineId = number;

/** ID of lines that can neither be removed nor replace another, such as lines with a marker. */
export const NO_LINE_ID: LineId = -1;

const BLANK_LINE_KIND = 1;
const PLAIN_LINE_KIND = 2;
const DISTINCTIVE_LINE_KIND = 3;

/** Shorter lines, such as `}` or `---`, occur everywhere and identify nothing. */
const MIN_DISTINCTIVE_CHARS = 4;

/** A hash table with open addressing. Lines of equal hash are compared as text. */
export class LineIds {
  count = 0;
  /**
   * Maps a slot to ID + 1; 0 if free. The length is a power of two, at least twice the number of
   * IDs.
   */
  private slots = new Int32Array(2_048);
  private hashes = new Int32Array(1_024);
  private kinds = new Uint8Array(1_024);
  /** The slice at which each line was first seen. */
  private starts = new Int32Array(1_024);
  private ends = new Int32Array(1_024);
  private textIndexes = new Int32Array(1_024);
  private readonly storedTexts: string[] = [];

  /** @param isJson whether the line is in a JSON string, where escapes make it a different line */
  getOrCreateId(text: string, start: number, end: number, isJson: boolean): LineId {
    const firstBackslash = isJson ? text.indexOf('\\', start) : -1;
    const hash = hashSlice(text, start, end) ^ (firstBackslash >= 0 && firstBackslash < end ? ESCAPED_HASH_SEED : 0);
    const slot = this.findSlot(hash, text, start, end);
    const id = (this.slots[slot] as number) - 1;
    return id < 0 ? this.storeNewLine(slot, hash, text, start, end) : id;
  }

  /** {@link NO_LINE_ID} if the text is new. */
  findId(text: string, start: number, end: number): LineId {
    return (this.slots[this.findSlot(hashSlice(text, start, end), text, start, end)] as number) - 1;
  }

  private findSlot(hash: number, text: string, start: number, end: number): number {
    const mask = this.slots.length - 1;
    for (let slot = (hash ^ (hash >>> 15)) & mask; ; slot = (slot + 1) & mask) {
      const id = (this.slots[slot] as number) - 1;
      if (id < 0 || (this.hashes[id] === hash && this.isSameLine(id, text, start, end))) return slot;
    }
  }

  isBlank(id: LineId): boolean {
    return this.kinds[id] === BLANK_LINE_KIND;
  }

  isDistinctive(id: LineId): boolean {
    return this.kinds[id] === DISTINCTIVE_LINE_KIND;
  }

  private isSameLine(id: LineId, text: string, start: number, end: number): boolean {
    const lineStart = this.starts[id] as number;
    const length = end - start;
    return (
      (this.ends[id] as number) - lineStart === length &&
      areSlicesEqual(this.storedTexts[this.textIndexes[id] as number] ?? '', lineStart, text, start, length)
    );
  }

  private storeNewLine(slot: number, hash: number, text: string, start: number, end: number): LineId {
    const id = this.count++;
    if (id === this.hashes.length) {
      this.hashes = copyToLargerArray(this.hashes, 2 * id);
      this.starts = copyToLargerArray(this.starts, 2 * id);
      this.ends = copyToLargerArray(this.ends, 2 * id);
      this.textIndexes = copyToLargerArray(this.textIndexes, 2 * id);
      const kinds = new Uint8Array(2 * id);
      kinds.set(this.kinds);
      this.kinds = kinds;
    }
    this.slots[slot] = id + 1;
    this.hashes[id] = hash;
    this.kinds[id] = classifyLine(text, start, end);
    this.starts[id] = start;
    this.ends[id] = end;
    if (this.storedTexts.at(-1) !== text) this.storedTexts.push(text);
    this.textIndexes[id] = this.storedTexts.length - 1;
    if (2 * this.count >= this.slots.length) this.growTable();
    return id;
  }

  private growTable(): void {
    this.slots = new Int32Array(2 * this.slots.length);
    const mask = this.slots.length - 1;
    for (let id = 0; id < this.count; id++) {
      const hash = this.hashes[id] as number;
      let slot = (hash ^ (hash >>> 15)) & mask;
      while (this.slots[slot] !== 0) slot = (slot + 1) & mask;
      this.slots[slot] = id + 1;
    }
  }
}

const ESCAPED_HASH_SEED = 0x5bd1e995;

export function copyToLargerArray(list: Int32Array, length: number): Int32Array<ArrayBuffer> {
  const largerArray = new Int32Array(length);
  largerArray.set(list);
  return largerArray;
}

/** FNV-1a over UTF-16 units. V8's own hash of a long string uses only its length. */
function hashSlice(text: string, start: number, end: number): number {
  let hash = 0x811c9dc5 | 0;
  for (let index = start; index < end; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash;
}

function classifyLine(text: string, start: number, end: number): number {
  let wordChars = 0;
  for (let index = start; index < end; index++) {
    const code = text.charCodeAt(index);
    const isWord =
      (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57) || code > 127;
    if (isWord && ++wordChars >= MIN_DISTINCTIVE_CHARS) return DISTINCTIVE_LINE_KIND;
  }
  return wordChars > 0 || text.slice(start, end).trim() !== '' ? PLAIN_LINE_KIND : BLANK_LINE_KIND;
}

function areSlicesEqual(a: string, aStart: number, b: string, bStart: number, length: number): boolean {
  if (length > COMPARE_WHOLE_FROM_CHARS) return a.slice(aStart, aStart + length) === b.slice(bStart, bStart + length);
  for (let index = 0; index < length; index++) {
    if (a.charCodeAt(aStart + index) !== b.charCodeAt(bStart + index)) return false;
  }
  return true;
}

/** For longer slices, the engine's comparison is faster than a loop. */
const COMPARE_WHOLE_FROM_CHARS = 256;
