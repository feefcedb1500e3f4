/** The beginning of a file in steps, each as far as the last and on: no byte is read twice. */
import { closeSync, openSync, readSync } from 'node:fs';

/**
 * Bytes up to which is read at each step. Most files say their title in the first; a long system reminder may stand
 * before it.
 */
const STEPS = [4, 16, 64, 256].map((kilobytes) => kilobytes * 1024);

/** In bytes. */
export const LARGEST_BEGINNING = Math.max(...STEPS);

/** Bytes up to which a file is read in one go. */
export const FIRST_BYTES = 16 * 1024;

export interface Beginning {
  readonly bytes: Uint8Array;
  /** The file ends here. */
  readonly isWhole: boolean;
}

/** @throws the file system's error where the file can't be opened or read. */
export function* beginnings(path: string): Generator<Beginning, void, undefined> {
  const file = openSync(path, 'r');
  try {
    let bytes = new Uint8Array();
    for (const step of STEPS) {
      const longer = new Uint8Array(step);
      longer.set(bytes);
      const read = readSync(file, longer, bytes.length, step - bytes.length, bytes.length);
      const isWhole = bytes.length + read < step;
      // A copy where the file ended: a view would keep the whole step in memory.
      bytes = isWhole ? longer.slice(0, bytes.length + read) : longer;
      yield { bytes, isWhole };
      if (isWhole) return;
    }
  } finally {
    closeSync(file);
  }
}
