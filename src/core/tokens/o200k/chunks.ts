import {
  CLASS_CASELESS,
  CLASS_LOWER,
  CLASS_NEWLINE,
  CLASS_NUMBER,
  CLASS_OTHER,
  CLASS_SPACE,
  CLASS_UPPER,
} from './charClass';

const CLASSES_BEFORE_CHUNK_END = CLASS_UPPER | CLASS_LOWER | CLASS_CASELESS | CLASS_NUMBER;
const CLASSES_AFTER_CHUNK_END = CLASS_OTHER | CLASS_SPACE | CLASS_NEWLINE;
const APOSTROPHE = 0x27;

/**
 * A piece always ends between a letter or number and a character that is neither letter, number,
 * mark nor apostrophe. Surrogates have no known class.
 */
function isSafeChunkEnd(text: string, offset: number, classes: Uint8Array): boolean {
  const nextUnit = text.charCodeAt(offset);
  if (((classes[nextUnit] as number) & CLASSES_AFTER_CHUNK_END) === 0 || nextUnit === APOSTROPHE) return false;
  if (nextUnit >= 0xd800 && nextUnit <= 0xdfff) return false;
  return ((classes[text.charCodeAt(offset - 1)] as number) & CLASSES_BEFORE_CHUNK_END) !== 0;
}

/** Returns the last safe cut within `size` UTF-16 units, or else the first one after them. */
export function findChunkEnd(text: string, start: number, size: number, classes: Uint8Array): number {
  if (text.length - start <= size) return text.length;
  for (let chunkEnd = start + size; chunkEnd > start; chunkEnd--)
    if (isSafeChunkEnd(text, chunkEnd, classes)) return chunkEnd;
  for (let chunkEnd = start + size + 1; chunkEnd < text.length; chunkEnd++) {
    if (isSafeChunkEnd(text, chunkEnd, classes)) return chunkEnd;
  }
  return text.length;
}
