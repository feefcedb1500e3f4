import zlib from 'node:zlib';
import type { Steps } from '../core/pace';

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

/** For Node before 20.15, which has none of its own. */
export function crc32InScript(bytes: Uint8Array, before = 0): number {
  let crc = ~before >>> 0;
  for (const byte of bytes) crc = (TABLE[(crc ^ byte) & 0xff] ?? 0) ^ (crc >>> 8);
  return ~crc >>> 0;
}

/**
 * The checksum of zip and gzip: it finds every damage of up to 32 bits in a row, ten times as fast as a sha256.
 * @param before the checksum of the bytes in front of these.
 */
export const crc32: (bytes: Uint8Array, before?: number) => number =
  (zlib as { readonly crc32?: (bytes: Uint8Array, before?: number) => number }).crc32 ?? crc32InScript;

/** Bytes that are checked in one step. */
const STEP_BYTES = 8 << 20;

/** {@link crc32} in steps, so that a hundred megabytes do not hold the thread. */
export function* crc32Steps(bytes: Uint8Array, stepBytes = STEP_BYTES): Steps<number> {
  let crc = 0;
  for (let start = 0; start < bytes.length; start += stepBytes) {
    crc = crc32(bytes.subarray(start, start + stepBytes), crc);
    yield;
  }
  return crc;
}
