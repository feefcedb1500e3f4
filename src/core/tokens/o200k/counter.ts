import type { TokenCounter } from '../types';
import { allocateTextBytes, BYTE_AFTER_TEXT_END, PADDING_BYTES, type TextBytes } from './bytes';
import { findChunkEnd } from './chunks';
import { BytePairMerger } from './merge';
import { PieceTokenCache } from './pieceCache';
import { NO_TOKEN_RANK, TokenRankTable } from './rankTable';
import { PieceScanner } from './scanner';

/** UTF-16 units encoded at a time; the size doesn't affect counts. */
const CHUNK_CHARS = 16 * 1024;

const MAX_BYTES_PER_UNIT = 3;

/**
 * Counts exactly, in linear time and about 8 MB, however long the text. Only a run of one kind of
 * character is kept in memory as a whole.
 * @param table the bytes of the shipped o200k.bin; not copied
 */
export function createO200kCounter(table: Uint8Array, chunk = CHUNK_CHARS): TokenCounter {
  const ranks = new TokenRankTable(table);
  const scanner = new PieceScanner(ranks.classes);
  const merger = new BytePairMerger(ranks);
  const cache = new PieceTokenCache((text, start, length) =>
    ranks.getRank(text.view, start, length) === NO_TOKEN_RANK ? merger.countTokens(text, start, length) : 1,
  );
  const buffer = allocateTextBytes(chunk * MAX_BYTES_PER_UNIT);
  const encoder = new TextEncoder();

  function countBytesOfPieces(text: TextBytes, length: number): number {
    const bytes = text.bytes;
    bytes.fill(BYTE_AFTER_TEXT_END, length, length + PADDING_BYTES);
    let tokens = 0;
    let start = 0;
    while (start < length) {
      const end = scanner.findPieceEnd(bytes, start);
      tokens += end - start === 1 ? 1 : cache.countTokens(text, start, end - start); // every single byte is a token
      start = end;
    }
    return tokens;
  }

  function count(text: string): number {
    let tokens = 0;
    let chunkStart = 0;
    while (chunkStart < text.length) {
      const chunkEnd = findChunkEnd(text, chunkStart, chunk, ranks.classes);
      const part = chunkStart === 0 && chunkEnd === text.length ? text : text.slice(chunkStart, chunkEnd);
      if (part.length <= chunk) tokens += countBytesOfPieces(buffer, encoder.encodeInto(part, buffer.bytes).written);
      else {
        const largeBuffer = allocateTextBytes(Buffer.byteLength(part));
        tokens += countBytesOfPieces(largeBuffer, encoder.encodeInto(part, largeBuffer.bytes).written);
      }
      chunkStart = chunkEnd;
    }
    return tokens;
  }

  return { count };
}
