import type { Transform } from 'node:stream';
import { promisify } from 'node:util';
import * as zlib from 'node:zlib';

/** For streams: pass on all data immediately, and accept truncated answers. */
const DECOMPRESSION_OPTIONS_FOR_STREAMS = {
  chunkSize: 64 * 1024,
  flush: zlib.constants.Z_SYNC_FLUSH,
  finishFlush: zlib.constants.Z_SYNC_FLUSH,
};

/**
 * Node has zstd from 22.15 and 23.8 on (Node documentation, "zlib.createZstdDecompress"); the Node
 * that runs this may be 22.13.
 */
const zstdFunctions: Partial<Pick<typeof zlib, 'createZstdDecompress' | 'zstdCompress'>> = zlib;

const normalizeCoding = (encoding: string | undefined): string => encoding?.trim().toLowerCase() ?? 'identity';

export const isCompressed = (encoding: string | undefined): boolean => normalizeCoding(encoding) !== 'identity';

/**
 * Sources: RFC 9110, 8.4.1; RFC 7932 (`br`); RFC 8878 (`zstd`).
 * @returns undefined if the body is not compressed, or in an unknown way
 */
export function createDecompressor(encoding: string | undefined): Transform | undefined {
  switch (normalizeCoding(encoding)) {
    case 'gzip':
    case 'x-gzip':
      return zlib.createGunzip(DECOMPRESSION_OPTIONS_FOR_STREAMS);
    case 'deflate':
      return zlib.createInflate(DECOMPRESSION_OPTIONS_FOR_STREAMS);
    case 'br':
      return zlib.createBrotliDecompress();
    case 'zstd':
      return zstdFunctions.createZstdDecompress?.();
    default:
      return undefined;
  }
}

/**
 * @param maxBytes maximum size in bytes, since data can expand a thousandfold
 * @returns undefined if the body can't be decompressed or is longer
 */
export async function decompressBody(
  bytes: Buffer,
  encoding: string | undefined,
  maxBytes: number,
): Promise<Buffer | undefined> {
  if (!isCompressed(encoding)) return bytes;
  const decoder = createDecompressor(encoding);
  if (!decoder) return undefined;
  const decompressed = await decompressWithLimit(decoder, bytes, maxBytes);
  return Buffer.isBuffer(decompressed) ? decompressed : undefined;
}

async function decompressWithLimit(
  decoder: Transform,
  bytes: Buffer,
  maxBytes: number,
): Promise<Buffer | 'too long' | 'broken'> {
  decoder.end(bytes);
  const chunks: Buffer[] = [];
  let decompressedBytes = 0;
  try {
    for await (const chunk of decoder as AsyncIterable<Buffer>) {
      decompressedBytes += chunk.length;
      if (decompressedBytes > maxBytes) return 'too long';
      chunks.push(chunk);
    }
  } catch {
    return 'broken';
  }
  return Buffer.concat(chunks);
}

interface DecompressionStream extends Transform {
  /** Number of compressed bytes read; less than all if other data follows the compressed part. */
  readonly bytesWritten: number;
}

interface ContentCoding {
  readonly decoder: () => DecompressionStream;
  readonly pack: (bytes: Buffer) => Promise<Buffer>;
}

/** Lower than Brotli's default of 11, which takes seconds for a conversation. */
const BROTLI_QUALITY = 4;

const gzipCoding: ContentCoding = { decoder: () => zlib.createGunzip(), pack: promisify<Buffer, Buffer>(zlib.gzip) };

export function createZstdCoding({
  createZstdDecompress,
  zstdCompress,
}: typeof zstdFunctions): ContentCoding | undefined {
  return createZstdDecompress && zstdCompress
    ? { decoder: () => createZstdDecompress(), pack: promisify<Buffer, Buffer>(zstdCompress) }
    : undefined;
}

const CODING_BY_NAME: ReadonlyMap<string, ContentCoding | undefined> = new Map([
  ['gzip', gzipCoding],
  ['x-gzip', gzipCoding],
  ['deflate', { decoder: () => zlib.createInflate(), pack: promisify<Buffer, Buffer>(zlib.deflate) }],
  [
    'br',
    {
      decoder: () => zlib.createBrotliDecompress(),
      pack: (bytes: Buffer) =>
        promisify<Buffer, zlib.BrotliOptions, Buffer>(zlib.brotliCompress)(bytes, {
          params: { [zlib.constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY },
        }),
    },
  ],
  ['zstd', createZstdCoding(zstdFunctions)],
]);

export const SUPPORTS_ZSTD = CODING_BY_NAME.get('zstd') !== undefined;

interface DecompressedRequest {
  readonly bytes: Buffer;
  readonly pack: (bytes: Buffer) => Promise<Buffer>;
}

/**
 * Data that is truncated or has anything after its end is broken.
 * @returns `unread`: why the body can't be read, in our own words
 */
export async function decompressRequest(
  bytes: Buffer,
  encoding: string | undefined,
  maxBytes: number,
  codings = CODING_BY_NAME,
): Promise<DecompressedRequest | { readonly unread: string }> {
  if (!isCompressed(encoding)) return { bytes, pack: (other) => Promise.resolve(other) };
  const name = normalizeCoding(encoding);
  if (!codings.has(name)) return { unread: 'its content-encoding is none of gzip, deflate, br and zstd' };
  const coding = codings.get(name);
  if (!coding) return { unread: `this Node.js has no ${name}; it needs 22.15 or later` };
  const decoder = coding.decoder();
  const decompressed = await decompressWithLimit(decoder, bytes, maxBytes);
  if (decompressed === 'too long') return { unread: `unpacked with ${name}, it is longer than ${maxBytes} bytes` };
  if (decompressed === 'broken' || decoder.bytesWritten !== bytes.length)
    return { unread: `it can't be unpacked with ${name}` };
  return { bytes: decompressed, pack: coding.pack };
}
