/**
 * Number of free bytes after the text, needed since whole words are read. The first one is
 * BYTE_AFTER_TEXT_END.
 */
export const PADDING_BYTES = 16;

/** Ends the text in a buffer. Never occurs in UTF-8. */
export const BYTE_AFTER_TEXT_END = 0xff;

export interface TextBytes {
  readonly bytes: Uint8Array;
  readonly view: DataView;
}

export function allocateTextBytes(size: number): TextBytes {
  return wrapTextBytes(new Uint8Array(size + PADDING_BYTES));
}

export function wrapTextBytes(bytes: Uint8Array): TextBytes {
  return { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength) };
}

/** A short piece has at most three words of four bytes, padded with zeros. */
export const MAX_SHORT_BYTES = 12;

/** Element k + 8 keeps the first k bytes of a word: none if k <= 0, all if k >= 4. */
const MASKS_KEEPING_FIRST_BYTES = Int32Array.from({ length: MAX_SHORT_BYTES + 9 }, (_, i) =>
  i <= 8 ? 0 : i >= 12 ? -1 : (1 << ((i - 8) * 8)) - 1,
);

export function readFirst4Bytes(view: DataView, start: number, length: number): number {
  return view.getInt32(start, true) & (MASKS_KEEPING_FIRST_BYTES[length + 8] as number);
}

export function readMiddle4Bytes(view: DataView, start: number, length: number): number {
  return view.getInt32(start + 4, true) & (MASKS_KEEPING_FIRST_BYTES[length + 4] as number);
}

export function readLast4Bytes(view: DataView, start: number, length: number): number {
  return view.getInt32(start + 8, true) & (MASKS_KEEPING_FIRST_BYTES[length] as number);
}

/** Only the high bits are well distributed. */
export function hashShortPiece(w0: number, w1: number, w2: number, length: number): number {
  const mixedHash = Math.imul(w0, 0x9e3779b1) ^ Math.imul(w1, 0x85ebca77) ^ Math.imul(w2 + length, 0xc2b2ae3d);
  return Math.imul(mixedHash ^ (mixedHash >>> 15), 0x2c1b3c6d);
}

/** Only the high bits are well distributed. */
export function hashLongPiece(view: DataView, start: number, length: number): number {
  let mixedHash = length;
  const lastWordStart = start + length - 4;
  for (let offset = start; offset < lastWordStart; offset += 4) {
    mixedHash = Math.imul(mixedHash ^ view.getInt32(offset, true), 0x9e3779b1);
    mixedHash ^= mixedHash >>> 15;
  }
  // The last word overlaps the previous one, so it needs no mask.
  mixedHash = Math.imul(mixedHash ^ view.getInt32(lastWordStart, true), 0x85ebca77);
  return Math.imul(mixedHash ^ (mixedHash >>> 15), 0x2c1b3c6d);
}

/** Requires `length` >= 4. */
export function areBytesEqual(a: DataView, offsetA: number, b: DataView, offsetB: number, length: number): boolean {
  const lastWordStart = length - 4;
  for (let offset = 0; offset < lastWordStart; offset += 4) {
    if (a.getInt32(offsetA + offset, true) !== b.getInt32(offsetB + offset, true)) return false;
  }
  return a.getInt32(offsetA + lastWordStart, true) === b.getInt32(offsetB + lastWordStart, true);
}
