/**
 * Measures the list of all conversations in the background: the time until the list, titles and
 * counts are there, memory, how long the host's thread is blocked, and the bytes that a second run
 * reads.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { ConversationIndex, isUpToDate } from '../../src/background/conversationIndex';
import { runTask } from '../../src/engine/runTask';
import type { IndexTask } from '../../src/background/tasks';
import { generateConversation } from '../generators/conversation';
import { Random } from '../generators/random';
import { toTranscript } from '../generators/transcript';
import { megabytes, millis, table } from './table';

export const CONVERSATIONS = 2_000;

/** Relative sizes of the conversations, of which a few long ones dominate. */
const SIZES = [0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7, 1, 1.5, 2.2, 3, 4];

export interface StoresRun {
  readonly run: 'first' | 'second';
  /** Milliseconds until the list, all titles, and all counts are available. */
  readonly listedMs: number;
  readonly titledMs: number;
  readonly countedMs: number;
  /** Longest time that the host's thread was blocked, in milliseconds, and the same while idle. */
  readonly lagMs: number;
  readonly idleLagMs: number;
  /** Peak of additional memory in bytes, including the worker. */
  readonly peakBytes: number;
  /**
   * Number of bytes that were read, including the worker's program and rank table (2.4 MB);
   * undefined if unknown.
   */
  readonly readBytes: number | undefined;
}

export interface StoresBench {
  readonly conversations: number;
  readonly bytes: number;
  readonly runs: readonly StoresRun[];
}

/** @param totalBytes approximate size of all conversations together */
export async function benchStores(totalBytes: number): Promise<StoresBench> {
  const home = mkdtempSync(join(tmpdir(), 'stores-'));
  try {
    const bundles = join(home, 'bundles');
    execFileSync(process.execPath, ['esbuild.mjs', '--production', '--outdir', bundles], { stdio: 'inherit' });
    const bytes = writeStore(home, totalBytes);
    const firstRun = await measureRun('first', home, bundles);
    const secondRun = await measureRun('second', home, bundles);
    return { conversations: CONVERSATIONS, bytes, runs: [firstRun, secondRun] };
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** Writes the conversations. @returns the number of bytes */
export function writeStore(home: string, totalBytes: number): number {
  const meanBytes = totalBytes / CONVERSATIONS;
  const templates = SIZES.map((size, seed) => template(seed, (size / average(SIZES)) * meanBytes));
  let writtenBytes = 0;
  for (let index = 0; index < CONVERSATIONS; index++) {
    const folder = join(home, '.claude', 'projects', `-home-dev-project-${index % 40}`);
    mkdirSync(folder, { recursive: true });
    const session = `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;
    const text = (templates[index % templates.length] ?? '').replaceAll('SESSION', session);
    writeFileSync(join(folder, `${session}.jsonl`), text);
    writtenBytes += Buffer.byteLength(text);
  }
  return writtenBytes;
}

const average = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Creates a transcript of about this many bytes; a generated token has about five bytes. */
function template(seed: number, bytes: number): string {
  const messages = generateConversation({ seed, targetTokens: Math.max(500, Math.round(bytes / 5)) });
  const text = toTranscript(messages, new Random(seed), {
    cwd: '/home/dev/project',
    gitBranch: 'main',
    version: '2.1.39',
    model: 'claude-opus-4-5',
    start: new Date('2026-01-01T00:00:00Z'),
  });
  const session = /"sessionId":"([^"]+)"/.exec(text)?.[1] ?? '';
  return text.replaceAll(session, 'SESSION');
}

async function measureRun(run: StoresRun['run'], home: string, bundles: string): Promise<StoresRun> {
  globalThis.gc?.();
  const task: IndexTask = {
    kind: 'index',
    find: { platform: 'linux', env: {}, homedir: home },
    history: 'active',
    cache: join(home, 'details.json'),
  };
  const bundle = join(bundles, 'engine.cjs');
  const readBefore = readBytesReadByProcess();
  const before = process.memoryUsage().rss;
  let peak = before;
  const sampler = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 50);
  const idleLagMs = await measureIdleLagMs();
  const lag = monitorEventLoopDelay({ resolution: 5 });
  const started = performance.now();
  let listedMs = 0;
  let titledMs = 0;
  const index = new ConversationIndex({
    run: (signal, report) =>
      runTask(task, {
        bundle,
        signal,
        onProgress: ({ index: progress }) => {
          if (progress) report(progress);
        },
      }),
    report: ({ path, reason }) => console.error(`${path}: ${reason}`),
    fail: (error) => {
      throw error;
    },
  });
  index.onDidChange(() => {
    const { conversations } = index;
    if (listedMs === 0 && conversations.length > 0) listedMs = performance.now() - started;
    const areAllTitled = conversations.length > 0 && conversations.every(({ details }) => details?.title !== undefined);
    if (titledMs === 0 && areAllTitled) titledMs = performance.now() - started;
  });
  lag.enable();
  await index.refresh();
  lag.disable();
  clearInterval(sampler);
  const countedMs = performance.now() - started;
  const outdatedCount = index.conversations.filter((each) => !isUpToDate(each)).length;
  if (outdatedCount > 0 || index.conversations.length !== CONVERSATIONS)
    throw new Error(`${outdatedCount} were not counted`);
  const readAfter = readBytesReadByProcess();
  return {
    run,
    listedMs: listedMs,
    titledMs: titledMs,
    countedMs,
    lagMs: lag.max / 1e6,
    idleLagMs,
    peakBytes: peak - before,
    readBytes: readBefore === undefined || readAfter === undefined ? undefined : readAfter - readBefore,
  };
}

/** Measures the idle value, because threads also wait if the machine is busy. */
export async function measureIdleLagMs(): Promise<number> {
  const lag = monitorEventLoopDelay({ resolution: 5 });
  lag.enable();
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  lag.disable();
  return lag.max / 1e6;
}

/** Reads from Linux how many bytes this process has read, including its threads. */
export function readBytesReadByProcess(): number | undefined {
  try {
    return Number(/^rchar: (\d+)/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);
  } catch {
    return undefined;
  }
}

export const storesTable = ({ conversations, bytes, runs }: StoresBench): string =>
  table(
    [
      `${conversations} conversations, ${megabytes(bytes)}`,
      'listed',
      'titles',
      'counted',
      'lag at most',
      'idle',
      'memory at most',
      'read',
    ],
    runs.map((run) => [
      run.run,
      millis(run.listedMs),
      millis(run.titledMs),
      millis(run.countedMs),
      millis(run.lagMs),
      millis(run.idleLagMs),
      megabytes(run.peakBytes),
      run.readBytes === undefined ? '–' : megabytes(run.readBytes),
    ]),
  );
