/** Class bits of a code point, see src/core/tokens/o200k/charClass.ts. */
export function getClass(codePoint: number): number;
/** The bytes of the rank table. */
export function makeRanks(): Uint8Array;
/** The same, from the file that RANKS_FILE names where there is one. */
export function keptRanks(): Uint8Array;
/** Writes the rank table to a file; returns its size in bytes. */
export function buildRanks(outFile: string): number;
