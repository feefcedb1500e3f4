import { crc32 } from 'node:zlib';
import type { Steps } from '../core/pace';

/** Bytes that are checked in one step. */
const STEP_BYTES = 8 << 20;

/**
 * The checksum of zip and gzip in steps, so that a hundred megabytes do not hold the thread. It finds every damage of up to 32 bits in a
 * row, ten times as fast as a sha256.
 */
export function* crc32Steps(bytes: Uint8Array, stepBytes = STEP_BYTES): Steps<number> {
  let crc = 0;
  for (let start = 0; start < bytes.length; start += stepBytes) {
    crc = crc32(bytes.subarray(start, start + stepBytes), crc);
    yield;
  }
  return crc;
}
