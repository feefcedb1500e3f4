/** The id of a line; equal lines of one conversation, and only those, have one id. Dense, from 0 on. */
export type LineId = number;

/** Stands for a line that can neither be left out nor stand for another one, such as a line with a marker. */
export const NOTHING: LineId = -1;

const BLANK = 1;
const PLAIN = 2;
const TELLING = 3;

/** A line of letters and digits that many says something by itself; `}` or `---` is found everywhere. */
const TELLING_CHARS = 4;

/** Gives lines their ids: a table of hashes with open addressing; equal hashes are compared as text. */
export class LineIds {
  /** Lines that were told apart so far. */
  count = 0;
  /** Slot to id + 1; 0 where the slot is free. A power of two, at least twice as long as there are ids. */
  private slots = new Int32Array(2_048);
  private hashes = new Int32Array(1_024);
  private kinds = new Uint8Array(1_024);
  /** Where each line was seen first. */
  private starts = new Int32Array(1_024);
  private ends = new Int32Array(1_024);
  /** The text that it was seen in, by its place in the list of them. */
  private textOf = new Int32Array(1_024);
  private readonly texts: string[] = [];

  /**
   * The id of the line that stands at `start` to `end` of a text.
   * @param isJson whether it stands in a JSON string: what holds an escape is another line there.
   */
  idOf(text: string, start: number, end: number, isJson: boolean): LineId {
    const escape = isJson ? text.indexOf('\\', start) : -1;
    const hash = hashSlice(text, start, end) ^ (escape >= 0 && escape < end ? ESCAPED : 0);
    const slot = this.slotOf(hash, text, start, end);
    const id = (this.slots[slot] as number) - 1;
    return id < 0 ? this.add(slot, hash, text, start, end) : id;
  }

  /** The id of a slice that was given one before; {@link NOTHING} for any other. */
  find(text: string, start: number, end: number): LineId {
    return (this.slots[this.slotOf(hashSlice(text, start, end), text, start, end)] as number) - 1;
  }

  /** The slot of a text, or the free one that it would take. */
  private slotOf(hash: number, text: string, start: number, end: number): number {
    const mask = this.slots.length - 1;
    for (let slot = (hash ^ (hash >>> 15)) & mask; ; slot = (slot + 1) & mask) {
      const id = (this.slots[slot] as number) - 1;
      if (id < 0 || (this.hashes[id] === hash && this.isSame(id, text, start, end))) return slot;
    }
  }

  isBlank(id: LineId): boolean {
    return this.kinds[id] === BLANK;
  }

  /** True for a line that says something by itself, so that finding it again means something. */
  isTelling(id: LineId): boolean {
    return this.kinds[id] === TELLING;
  }

  private isSame(id: LineId, text: string, start: number, end: number): boolean {
    const first = this.starts[id] as number;
    const length = end - start;
    return (
      (this.ends[id] as number) - first === length &&
      sameSlice(this.texts[this.textOf[id] as number] ?? '', first, text, start, length)
    );
  }

  private add(slot: number, hash: number, text: string, start: number, end: number): LineId {
    const id = this.count++;
    if (id === this.hashes.length) {
      this.hashes = longer(this.hashes, 2 * id);
      this.starts = longer(this.starts, 2 * id);
      this.ends = longer(this.ends, 2 * id);
      this.textOf = longer(this.textOf, 2 * id);
      const kinds = new Uint8Array(2 * id);
      kinds.set(this.kinds);
      this.kinds = kinds;
    }
    this.slots[slot] = id + 1;
    this.hashes[id] = hash;
    this.kinds[id] = kindOf(text, start, end);
    this.starts[id] = start;
    this.ends[id] = end;
    if (this.texts.at(-1) !== text) this.texts.push(text);
    this.textOf[id] = this.texts.length - 1;
    if (2 * this.count >= this.slots.length) this.spread();
    return id;
  }

  private spread(): void {
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

/** Any number: lines of two hashes are never the same. */
const ESCAPED = 0x5bd1e995;

/** A longer copy of a list, zeros behind. */
export function longer(list: Int32Array, length: number): Int32Array<ArrayBuffer> {
  const made = new Int32Array(length);
  made.set(list);
  return made;
}

/** FNV-1a over UTF-16 units: of our own, since V8 hashes long strings by their length alone. */
function hashSlice(text: string, start: number, end: number): number {
  let hash = 0x811c9dc5 | 0;
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash;
}

function kindOf(text: string, start: number, end: number): number {
  let telling = 0;
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at);
    const isWord =
      (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57) || code > 127;
    if (isWord && ++telling >= TELLING_CHARS) return TELLING;
  }
  return telling > 0 || text.slice(start, end).trim() !== '' ? PLAIN : BLANK;
}

/** True where two slices of one length hold the same text. */
function sameSlice(a: string, aStart: number, b: string, bStart: number, length: number): boolean {
  if (length > COMPARE_WHOLE_FROM) return a.slice(aStart, aStart + length) === b.slice(bStart, bStart + length);
  for (let at = 0; at < length; at++) {
    if (a.charCodeAt(aStart + at) !== b.charCodeAt(bStart + at)) return false;
  }
  return true;
}

/** The engine compares long slices faster than a loop does. */
const COMPARE_WHOLE_FROM = 256;
