/**
 * Makes the compact o200k_base table that ships with the extension (dist/o200k.bin) from the ranks in js-tiktoken.
 *
 * Layout, little endian:
 *   u32 magic 'O2K1' · u32 number of tokens · u32 bytes of all tokens · u32 number of class ranges
 *   u32[] class ranges: first code point << 8 | class bits; a range ends where the next one begins
 *   u8[]  length of each token in bytes, in order of rank (the ranks have no gaps)
 *   u8[]  the bytes of the tokens, in order of rank, and 16 zero bytes, for tokens are read in whole words
 *
 * The character classes are those of the V8 that runs this script. js-tiktoken asks the V8 it runs on, so the two can
 * differ on code points that one Unicode version has and the other has not.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import o200k from 'js-tiktoken/ranks/o200k_base';

/** tiktoken's own expected_hash of o200k_base.tiktoken. */
const PUBLIC_SHA256 = '446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d';
const MAGIC = 0x314b324f;
const CODE_POINT_COUNT = 0x110000;

/** Classes used by the pre-tokenizer; the bits match src/core/tokens/o200k/charClass.ts. */
const CHARACTER_CLASSES = [
  [1, /[\p{Lu}\p{Lt}]/u],
  [2, /\p{Ll}/u],
  [4, /[\p{Lm}\p{Lo}]/u],
  [8, /\p{M}/u],
  [16, /\p{N}/u],
  [32, /[\r\n]/u],
  [64, /\s/u],
];
const OTHER_CLASS = 128;

/**
 * Returns the class bits of a code point.
 * @param {number} codePoint
 */
export function getClass(codePoint) {
  const char = String.fromCodePoint(codePoint);
  return CHARACTER_CLASSES.find(([, pattern]) => pattern.test(char))?.[0] ?? OTHER_CLASS;
}

function listClassRanges() {
  const ranges = [];
  let previousBits = -1;
  for (let codePoint = 0; codePoint < CODE_POINT_COUNT; codePoint++) {
    const classBits = getClass(codePoint);
    if (classBits !== previousBits) ranges.push(codePoint * 256 + classBits);
    previousBits = classBits;
  }
  return ranges;
}

/** Returns the base64 tokens by rank, after comparing them with tiktoken's file. */
function readPublishedTokens() {
  const tokens = [];
  for (const line of o200k.bpe_ranks.split('\n').filter(Boolean)) {
    const [, first, ...rest] = line.split(' ');
    rest.forEach((token, i) => (tokens[Number(first) + i] = token));
  }
  const file = tokens.map((token, rank) => `${token} ${rank}\n`).join('');
  const sha256 = createHash('sha256').update(file).digest('hex');
  if (sha256 !== PUBLIC_SHA256) throw new Error(`the o200k ranks of js-tiktoken are not tiktoken's: sha256 ${sha256}`);
  return tokens;
}

/** Returns the table's bytes. */
export function makeRanks() {
  const tokens = readPublishedTokens().map((token) => Buffer.from(token, 'base64'));
  const bytes = Buffer.concat(tokens);
  const ranges = listClassRanges();
  const header = Buffer.from(new Uint32Array([MAGIC, tokens.length, bytes.length, ranges.length, ...ranges]).buffer);
  const table = Buffer.concat([header, Buffer.from(tokens.map((token) => token.length)), bytes, Buffer.alloc(16)]);
  return new Uint8Array(table);
}

/**
 * Returns the table's bytes, from the file RANKS_FILE if set, since making them takes each test
 * process a second.
 */
export const loadRanks = () =>
  process.env.RANKS_FILE ? new Uint8Array(readFileSync(process.env.RANKS_FILE)) : makeRanks();

/**
 * Writes the table to a file.
 * @param {string} outFile
 * @returns size of the file in bytes
 */
export function buildRanks(outFile) {
  const table = makeRanks();
  mkdirSync(dirname(outFile), { recursive: true });
  writeFileSync(outFile, table);
  return table.length;
}

// Compares the name instead of import.meta, so that this does not run when bundled into another
// script.
if (process.argv[1]?.endsWith('ranks.mjs')) {
  const outFile = resolve(process.argv[2] ?? 'dist/o200k.bin');
  console.log(`${outFile}: ${buildRanks(outFile)} bytes`);
}
