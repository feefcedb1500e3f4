/** Unpacks what vendors answer, to look at it; what passes stays packed as it came. */
import type { Transform } from 'node:stream';
import * as zlib from 'node:zlib';

/** Everything received is passed on at once, and an answer that was cut off is no error. */
const AT_ONCE = { chunkSize: 64 * 1024, flush: zlib.constants.Z_SYNC_FLUSH, finishFlush: zlib.constants.Z_SYNC_FLUSH };

/** Node has it from 22.15 and 23.8 on (Node's documentation, "zlib.createZstdDecompress"); ours may be 22.13. */
const { createZstdDecompress }: Partial<Pick<typeof zlib, 'createZstdDecompress'>> = zlib;

const codingOf = (encoding: string | undefined): string => encoding?.trim().toLowerCase() ?? 'identity';

/** @param encoding the header `content-encoding`. */
export const isPacked = (encoding: string | undefined): boolean => codingOf(encoding) !== 'identity';

/**
 * What unpacks a body. Source of the names: RFC 9110, 8.4.1, where `x-gzip` is `gzip`; `br`: RFC 7932; `zstd`: RFC 8878.
 * @param encoding the header `content-encoding`.
 * @returns undefined where it is not packed, or in a way that nobody here knows.
 */
export function decoderOf(encoding: string | undefined): Transform | undefined {
  switch (codingOf(encoding)) {
    case 'gzip':
    case 'x-gzip':
      return zlib.createGunzip(AT_ONCE);
    case 'deflate':
      return zlib.createInflate(AT_ONCE);
    case 'br':
      return zlib.createBrotliDecompress();
    case 'zstd':
      return createZstdDecompress?.();
    default:
      return undefined;
  }
}

/**
 * A whole body, unpacked.
 * @param most bytes that it may have: a packed body may hold a thousand times its own length.
 * @returns undefined where it can't be unpacked, or is longer.
 */
export async function unpacked(bytes: Buffer, encoding: string | undefined, most: number): Promise<Buffer | undefined> {
  if (!isPacked(encoding)) return bytes;
  const decoder = decoderOf(encoding);
  if (!decoder) return undefined;
  decoder.end(bytes);
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of decoder as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > most) return undefined;
      chunks.push(chunk);
    }
  } catch {
    return undefined;
  }
  return Buffer.concat(chunks);
}
