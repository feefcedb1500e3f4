/** Returns the class bits of a code point (see src/core/tokens/o200k/charClass.ts). */
export function getClass(codePoint: number): number;
/** Returns the bytes of the rank table. */
export function makeRanks(): Uint8Array;
/** Returns the bytes of the rank table, from the file RANKS_FILE if set. */
export function loadRanks(): Uint8Array;
/** Writes the rank table to a file and returns the file's size in bytes. */
export function buildRanks(outFile: string): number;
