import { inOneGo, type Steps } from '../../pace';
import type { TokenCounter } from '../types';
import { byteText, END_BYTE, PADDING, type ByteText } from './bytes';
import { chunkEnd } from './chunks';
import { Merger } from './merge';
import { PieceCache } from './pieceCache';
import { NO_RANK, RankTable } from './rankTable';
import { Scanner } from './scanner';

/** UTF-16 units that are turned into bytes at a time. Any size gives the same counts. */
const CHUNK = 16 * 1024;

/** UTF-16 units of an endless chunk that are turned into bytes in one step. */
const ENCODED = 256 * 1024;
/** Bytes of pieces of an endless chunk that are counted in one step, and of a piece that is counted in steps itself. */
const COUNTED = 32 * 1024;

/** No UTF-16 unit takes more bytes of UTF-8. */
const BYTES_PER_UNIT = 3;

/**
 * Exact counts of o200k_base tokens.
 *
 * Memory: about 8 MB, however long the text, as long as it has a word or number that ends somewhere; an endless run of
 * one kind is held as bytes once, while it is counted. Time: linear in the length of the text.
 * @param table the bytes of the shipped o200k.bin; kept, not copied
 * @param chunk UTF-16 units that are turned into bytes at a time
 */
export function createO200kCounter(table: Uint8Array, chunk = CHUNK): TokenCounter {
  const ranks = new RankTable(table);
  const scanner = new Scanner(ranks.classes);
  const merger = new Merger(ranks);
  const cache = new PieceCache((text, start, length) =>
    ranks.rank(text.view, start, length) === NO_RANK ? merger.count(text, start, length) : 1,
  );
  const buffer = byteText(chunk * BYTES_PER_UNIT);
  const encoder = new TextEncoder();

  /** Tokens of the first `length` bytes. */
  function countBytes(text: ByteText, length: number): number {
    const bytes = text.bytes;
    bytes.fill(END_BYTE, length, length + PADDING);
    let tokens = 0;
    let start = 0;
    while (start < length) {
      const end = scanner.pieceEnd(bytes, start);
      tokens += end - start === 1 ? 1 : cache.count(text, start, end - start); // each byte is a token
      start = end;
    }
    return tokens;
  }

  /** The same of a chunk without end, in which a piece may be as long as all of it. */
  function* countingBytes(text: ByteText, length: number): Steps<number> {
    const bytes = text.bytes;
    bytes.fill(END_BYTE, length, length + PADDING);
    let tokens = 0;
    let start = 0;
    for (let stop = COUNTED; start < length;) {
      const end = yield* scanner.endingPiece(bytes, start);
      if (end - start > COUNTED) {
        yield;
        tokens += yield* merger.counting(text, start, end - start);
      } else tokens += end - start === 1 ? 1 : cache.count(text, start, end - start);
      start = end;
      if (start < stop) continue;
      yield;
      stop = start + COUNTED;
    }
    return tokens;
  }

  function* counting(text: string): Steps<number> {
    let tokens = 0;
    let from = 0;
    while (from < text.length) {
      const to = yield* chunkEnd(text, from, chunk, ranks.classes);
      const part = from === 0 && to === text.length ? text : text.slice(from, to);
      if (part.length <= chunk) tokens += countBytes(buffer, encoder.encodeInto(part, buffer.bytes).written);
      else {
        const endless = byteText(yield* utf8Length(part));
        tokens += yield* countingBytes(endless, yield* encoding(part, endless.bytes, encoder));
      }
      from = to;
      yield;
    }
    return tokens;
  }

  return { counting, count: (text) => inOneGo(counting(text)) };
}

/** Turns a text into bytes. @returns how many */
function* encoding(text: string, bytes: Uint8Array, encoder: InstanceType<typeof TextEncoder>): Steps<number> {
  let written = 0;
  for (let from = 0; from < text.length;) {
    let to = Math.min(text.length, from + ENCODED);
    // Both halves of a pair are one character.
    if (to < text.length && (text.charCodeAt(to - 1) & 0xfc00) === 0xd800) to--;
    written += encoder.encodeInto(text.slice(from, to), bytes.subarray(written)).written;
    from = to;
    yield;
  }
  return written;
}

/** Bytes of the text in UTF-8, at most: surrogates are taken for three bytes each. */
function* utf8Length(text: string): Steps<number> {
  let length = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    length += unit < 0x80 ? 1 : unit < 0x800 ? 2 : 3;
    if (at % ENCODED === 0) yield;
  }
  return length;
}
