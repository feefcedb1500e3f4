/** Reads a file's beginning in growing steps without reading any byte twice. */
import { closeSync, openSync, readSync } from 'node:fs';

/** Most titles are in the first step; a long system reminder may precede them. */
const BEGINNING_STEPS_BYTES = [4, 16, 64, 256].map((kilobytes) => kilobytes * 1024);

export const MAX_BEGINNING_BYTES = Math.max(...BEGINNING_STEPS_BYTES);

export const FIRST_BEGINNING_BYTES = 16 * 1024;

export interface FileBeginning {
  readonly bytes: Uint8Array;
  readonly isWhole: boolean;
}

/** @throws the file system's error */
export function* readGrowingBeginnings(path: string): Generator<FileBeginning, void, undefined> {
  const file = openSync(path, 'r');
  try {
    let bytes = new Uint8Array();
    for (const step of BEGINNING_STEPS_BYTES) {
      const longerBytes = new Uint8Array(step);
      longerBytes.set(bytes);
      const readCount = readSync(file, longerBytes, bytes.length, step - bytes.length, bytes.length);
      const isWhole = bytes.length + readCount < step;
      // `subarray` would keep the whole buffer in memory, so the bytes are copied.
      bytes = isWhole ? longerBytes.slice(0, bytes.length + readCount) : longerBytes;
      yield { bytes, isWhole };
      if (isWhole) return;
    }
  } finally {
    closeSync(file);
  }
}
