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
 * mark nor apostrophe. The class of surrogates is unknown.
 */
function isSafeChunkEnd(text: string, offset: number, classes: Uint8Array): boolean {
  const next = text.charCodeAt(offset);
  if (((classes[next] as number) & CLASSES_AFTER_CHUNK_END) === 0 || next === APOSTROPHE) return false;
  if (next >= 0xd800 && next <= 0xdfff) return false;
  return ((classes[text.charCodeAt(offset - 1)] as number) & CLASSES_BEFORE_CHUNK_END) !== 0;
}

/** Returns the last safe cut within `size` UTF-16 units, or else the first one after them. */
export function findChunkEnd(text: string, start: number, size: number, classes: Uint8Array): number {
  if (text.length - start <= size) return text.length;
  for (let at = start + size; at > start; at--) if (isSafeChunkEnd(text, at, classes)) return at;
  for (let at = start + size + 1; at < text.length; at++) {
    if (isSafeChunkEnd(text, at, classes)) return at;
  }
  return text.length;
}
