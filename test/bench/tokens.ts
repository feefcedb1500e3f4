/**
 * Compares the speed of the o200k counter with js-tiktoken's in the same run, and measures what
 * loading the counter costs. Texts are cut into slices. The first ones warm up both; then both
 * count slices that they have not seen, in turn. The time is this thread's CPU time if Node reports
 * it. Run this in the project's root.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeRanks } from '../../scripts/ranks.mjs';
import { createO200kCounter } from '../../src/core/tokens/o200k/counter';

/** Speed on one kind of text, in megabytes (10^6 bytes of UTF-8) per second, without a cache. */
export interface Throughput {
  readonly kind: string;
  readonly megabytes: number;
  readonly ours: number;
  readonly jsTiktoken: number;
}

export interface TokenBench {
  readonly throughput: readonly Throughput[];
  /** Milliseconds to create the counter after the table was read, and until the first count. */
  readonly loadMs: number;
  /** Megabytes (10^6 bytes) that the counter adds: arrays, heap and resident memory. */
  readonly heapMb: number;
  readonly rssMb: number;
  /** Milliseconds per megabyte of text that repeats one kind of character. */
  readonly adversarialMs: Readonly<Record<string, number>>;
}

const SLICE_CHARS = 50_000; // characters
const WARM_UP = 20; // slices
const ROUNDS = 5;
const SLICES_PER_ROUND = 10; // slices per round; js-tiktoken counts only the first of them
const COMPARED_SLICES_PER_ROUND = 3;
const MIN_TEXT_CHARS = SLICE_CHARS * (WARM_UP + ROUNDS * SLICES_PER_ROUND); // characters

const MODULES = 'node_modules';
const CORPUS_FOLDER = '../shared/corpus/claude-code';

/** Joins files of one kind in a folder until the text is long enough. */
function readTexts(folder: string, wanted: RegExp): string {
  let text = '';
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (text.length > MIN_TEXT_CHARS) break;
    if (entry.isFile() && wanted.test(entry.name)) text += readFileSync(join(entry.parentPath, entry.name), 'utf8');
  }
  return text;
}

/** Interleaves several texts, so that each slice is mixed. */
function interleave(texts: readonly string[], part: number): string {
  const parts: string[] = [];
  for (let at = 0; texts.some((text) => at < text.length); at += part)
    for (const text of texts) parts.push(text.slice(at, at + part));
  return parts.join('');
}

function logText(): string {
  let randomState = 12_345;
  const random = (limit: number) => {
    randomState = (Math.imul(randomState, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (randomState >>> 8) % limit;
  };
  const randomHex = () => random(2 ** 22).toString(16);
  const pickRandom = (...of: readonly string[]) => of[random(of.length)] ?? '';
  const lines: string[] = [];
  for (let i = 0, length = 0; length < MIN_TEXT_CHARS; i++) {
    const timestamp = `2025-${10 + random(3)}-${10 + random(18)}T${10 + random(13)}:${10 + random(50)}:${10 + random(50)}.${100 + random(900)}Z`;
    const line = pickRandom(
      `${timestamp} [${pickRandom('info', 'WARN', 'ERROR', 'debug')}] worker-${random(16)} ${pickRandom('GET', 'POST')} /api/v1/${pickRandom('items', 'users', 'jobs')}/${randomHex()}${randomHex()}?page=${random(90)} ${pickRandom('200', '404', '500')} ${random(900)}.${random(9)}ms`,
      `-rw-r--r-- 1 root root ${random(2 ** 20)} Nov ${random(28)} 1${random(9)}:${10 + random(49)} ${pickRandom('chunk', 'index', 'vendor', 'main')}.${randomHex()}.${pickRandom('js', 'css', 'map')}`,
      `    at ${pickRandom('Object', 'Server', 'Parser')}.${pickRandom('run', 'handleRequest', '<anonymous>')} (/srv/app/node_modules/${pickRandom('express', 'undici', 'zod')}/lib/${pickRandom('router', 'index')}.js:${random(900)}:${random(80)})`,
      `src/${pickRandom('core', 'api', 'ui')}/${pickRandom('store', 'view', 'worker')}.ts(${random(900)},${random(80)}): error TS${2000 + random(800)}: Property '${pickRandom('name', 'id', 'toString')}' does not exist on type 'T${randomHex()}'.`,
      `commit ${randomHex()}${randomHex()}${randomHex()}${randomHex()}`,
    );
    lines.push(line);
    length += line.length + 1;
  }
  return lines.join('\n');
}

function languagesText(): string {
  const folder = join(MODULES, 'axe-core/locales');
  const locales = readdirSync(folder).filter((name) => name.endsWith('.json'));
  const texts = locales.map((name) => readFileSync(join(folder, name), 'utf8'));
  return interleave(texts, 2000);
}

function kinds(): [string, string][] {
  const code = readFileSync(join(MODULES, 'axe-core/axe.js'), 'utf8');
  const textKinds: [string, string][] = [
    ['code', code],
    ['prose', readTexts(MODULES, /\.md$/i)],
    ['logs', logText()],
    ['20 languages', languagesText()],
  ];
  if (existsSync(CORPUS_FOLDER)) textKinds.push(['transcripts', readTexts(CORPUS_FOLDER, /\.jsonl$/)]);
  return textKinds;
}

function listAdversarialTexts(): [string, string][] {
  let randomState = 1;
  const random = (limit: number) => {
    randomState = (Math.imul(randomState, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (randomState >>> 8) % limit;
  };
  const makeRandomText = (length: number, char: () => number) => {
    let text = '';
    for (let i = 0; i < length; i++) text += String.fromCharCode(char());
    return text;
  };
  const bytes = Uint8Array.from({ length: 750_000 }, () => random(256));
  return [
    ['one letter', 'a'.repeat(1e6)],
    ['spaces', ' '.repeat(1e6)],
    ['dashes', '-'.repeat(1e6)],
    ['line breaks', '\n'.repeat(1e6)],
    ['CJK, no break', makeRandomText(333_333, () => 0x4e00 + random(20_000))],
    ['random a-z, no break', makeRandomText(1e6, () => 97 + random(26))],
    ['a and b at random', makeRandomText(1e6, () => 97 + random(2))],
    ['base64', Buffer.from(bytes).toString('base64')],
    ['half surrogate pairs', '\ud83d'.repeat(333_333)],
    ['digits', '0'.repeat(1e6)],
  ];
}

/** Returns this thread's CPU time in milliseconds, or wall time if Node doesn't report it. */
function readCpuMs(): number {
  if (typeof process.threadCpuUsage !== 'function') return performance.now();
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1e3;
}

function measureMs(work: () => void): number {
  const start = readCpuMs();
  work();
  return readCpuMs() - start;
}

function readMemory(): { heap: number; rss: number } {
  globalThis.gc?.();
  const { heapUsed, arrayBuffers, rss } = process.memoryUsage();
  return { heap: heapUsed + arrayBuffers, rss };
}

export async function benchTokens(): Promise<TokenBench> {
  const table = makeRanks();
  const memoryBefore = readMemory();
  let counter = { count: (text: string) => text.length };
  const loadMs = measureMs(() => {
    counter = createO200kCounter(table);
    counter.count('Hello, world!');
  });
  const memoryAfter = readMemory();
  const heapMb = (memoryAfter.heap - memoryBefore.heap + table.length) / 1e6;
  const rssMb = (memoryAfter.rss - memoryBefore.rss + table.length) / 1e6;

  const { Tiktoken } = await import('js-tiktoken/lite');
  const { default: ranks } = await import('js-tiktoken/ranks/o200k_base');
  const referenceCounter = new Tiktoken(ranks);

  const throughput = kinds().map(([kind, text]) => {
    const slices = Array.from({ length: Math.floor(text.length / SLICE_CHARS) }, (_, i) =>
      text.slice(i * SLICE_CHARS, (i + 1) * SLICE_CHARS),
    );
    for (const slice of slices.slice(0, WARM_UP)) {
      counter.count(slice);
      referenceCounter.encode(slice.slice(0, SLICE_CHARS / 5), [], []);
    }
    const ownTotals = { bytes: 0, ms: 0 };
    const referenceTotals = { bytes: 0, ms: 0 };
    for (let round = 0; round < ROUNDS; round++) {
      const roundSlices = slices.slice(WARM_UP + round * SLICES_PER_ROUND, WARM_UP + (round + 1) * SLICES_PER_ROUND);
      const comparedSlices = roundSlices.slice(0, COMPARED_SLICES_PER_ROUND);
      let tokens: number[] = [];
      let expected: number[] = [];
      ownTotals.ms += measureMs(() => (tokens = roundSlices.map((slice) => counter.count(slice))));
      referenceTotals.ms += measureMs(
        () => (expected = comparedSlices.map((slice) => referenceCounter.encode(slice, [], []).length)),
      );
      if (tokens.slice(0, COMPARED_SLICES_PER_ROUND).join() !== expected.join())
        throw new Error(`${kind}: not the counts of js-tiktoken`);
      ownTotals.bytes += Buffer.byteLength(roundSlices.join(''));
      referenceTotals.bytes += Buffer.byteLength(comparedSlices.join(''));
    }
    return {
      kind,
      megabytes: ownTotals.bytes / 1e6,
      ours: ownTotals.bytes / 1e3 / ownTotals.ms,
      jsTiktoken: referenceTotals.bytes / 1e3 / referenceTotals.ms,
    };
  });
  const adversarialMs = Object.fromEntries(
    listAdversarialTexts().map(([kind, text]) => [kind, measureMs(() => counter.count(text))]),
  );

  console.table(
    throughput.map(({ kind, megabytes, ours, jsTiktoken }) => ({
      'fresh text': kind,
      MB: megabytes.toFixed(2),
      'ours MB/s': ours.toFixed(1),
      'js-tiktoken MB/s': jsTiktoken.toFixed(2),
      times: (ours / jsTiktoken).toFixed(1),
    })),
  );
  console.table(Object.entries(adversarialMs).map(([kind, ms]) => ({ '1 MB of': kind, ms: ms.toFixed(0) })));
  console.log(`load ${loadMs.toFixed(0)} ms, heap and arrays ${heapMb.toFixed(1)} MB, resident ${rssMb.toFixed(1)} MB`);
  return { throughput, loadMs, heapMb, rssMb, adversarialMs };
}
