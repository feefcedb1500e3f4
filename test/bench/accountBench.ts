/**
 * Measures how closely replayed sessions match the recorded tokens and cost. The first half of each
 * session calibrates the replay; the second half is the test. The accounting of two thousand
 * sessions in the background is measured, too.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { existsSync, readdirSync } from 'node:fs';
import { dirname, basename, join } from 'node:path';
import { loadPriceTable } from '../../src/api/prices';
import { findModelPrices } from '../../src/account/models';
import { readConversationFile } from '../../src/conversations/readFile';
import type { Usage } from '../../src/core/cost/usage';
import { countPromptTokens } from '../../src/core/cost/usage';
import { computeCallCost } from '../../src/core/cost/callCost';
import {
  fitTokenCalibration,
  computeMedian,
  simulateRequestUsage,
  listRequests,
  type RequestWithReportedUsage,
} from '../../src/core/account/replay';
import { freshCounter } from './measure';
import { readBytesReadByProcess, CONVERSATIONS, measureIdleLagMs, writeStore } from './storesBench';
import { megabytes, millis, percent, table } from './table';
import { runTask } from '../../src/engine/runTask';
import type { AccountTask } from '../../src/background/tasks';

/** Paths are relative to the project. */
export const ACCOUNT_CORPORA = ['../shared/corpus', '../shared/corpus-wide'];

export interface ReplayedSession {
  readonly agent: string;
  readonly name: string;
  readonly requests: number;
  /**
   * Replayed value divided by the recorded one, minus one, for prompt tokens and for cost;
   * undefined if a price is unknown.
   */
  readonly tokenError: number;
  readonly costError: number | undefined;
}

/** Replays all sessions that record usage, in all available corpora. */
export async function benchReplay(folders: readonly string[] = ACCOUNT_CORPORA): Promise<ReplayedSession[]> {
  const prices = await loadPriceTable();
  return folders
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)))
    .filter((file) => /\.jsonl?$/.test(file))
    .sort()
    .flatMap((file): ReplayedSession[] => {
      let conversation;
      try {
        conversation = readConversationFile(file, { history: 'all' });
      } catch {
        return [];
      }
      const { recorded, messages } = conversation;
      if (!recorded) return [];
      const counter = freshCounter();
      const recordedRequestByMessage = new Map(recorded.requests.map((request) => [request.message, request]));
      const pairs = listRequests(messages, counter, recorded.compactions, recorded.requests).flatMap(
        (request): (RequestWithReportedUsage & { model: string | undefined; seller: string | undefined })[] => {
          const recordedRequest = recordedRequestByMessage.get(request.answer);
          return recordedRequest?.usage
            ? [{ request, usage: recordedRequest.usage, model: recordedRequest.model, seller: recordedRequest.seller }]
            : [];
        },
      );
      const half = Math.floor(pairs.length / 2);
      const calibration = fitTokenCalibration(pairs.slice(0, half));
      if (!calibration || half < 5) return [];
      const secondHalf = pairs.slice(half);
      const replayedUsages = simulateRequestUsage(
        secondHalf.map(({ request }) => request),
        calibration,
        pairs[half - 1]?.request,
      );
      const countAllPromptTokens = (usages: readonly Usage[]): number =>
        usages.reduce((sum, usage) => sum + countPromptTokens(usage), 0);
      const computeTotalCost = (usages: readonly Usage[]): number | undefined => {
        let sum = 0;
        for (const [index, usage] of usages.entries()) {
          const { model, seller, request } = secondHalf[index]!;
          const callCost = computeCallCost(usage, findModelPrices(prices, { model, seller, at: request.at })?.prices);
          if (callCost === undefined) return undefined;
          sum += callCost;
        }
        return sum;
      };
      const recordedUsages = secondHalf.map(({ usage }) => usage);
      const recordedCost = computeTotalCost(recordedUsages);
      const replayedCost = computeTotalCost(replayedUsages);
      return [
        {
          agent: basename(dirname(file)),
          name: basename(file),
          requests: secondHalf.length,
          tokenError: countAllPromptTokens(replayedUsages) / countAllPromptTokens(recordedUsages) - 1,
          costError:
            recordedCost === undefined || replayedCost === undefined || recordedCost === 0
              ? undefined
              : replayedCost / recordedCost - 1,
        },
      ];
    });
}

const formatErrorSpread = (errors: readonly number[]): string =>
  errors.length === 0
    ? '–'
    : `${percent(computeMedian(errors.map(Math.abs)))} / ${percent(computeMedian(errors))} [${percent(Math.min(...errors))} to ${percent(Math.max(...errors))}]`;

export const replayTable = (sessions: readonly ReplayedSession[]): string =>
  table(
    ['agent', 'sessions', 'requests judged', 'tokens: median of sizes / of errors [spread]', 'cost: the same'],
    ['all', ...new Set(sessions.map(({ agent }) => agent))].map((agent) => {
      const agentSessions = sessions.filter((session) => agent === 'all' || session.agent === agent);
      return [
        agent,
        agentSessions.length,
        agentSessions.reduce((sum, { requests }) => sum + requests, 0),
        formatErrorSpread(agentSessions.map(({ tokenError }) => tokenError)),
        formatErrorSpread(agentSessions.flatMap(({ costError }) => costError ?? [])),
      ];
    }),
  );

export interface AccountRun {
  readonly run: 'first' | 'second';
  readonly timeMs: number;
  /** Longest time that the host's thread was blocked, in milliseconds, and the same while idle. */
  readonly lagMs: number;
  readonly idleLagMs: number;
  /** Longest continuous work of the host's thread, in milliseconds of CPU time. */
  readonly stretchMs: number;
  /** Peak of additional memory in bytes, including the worker. */
  readonly peakBytes: number;
  /**
   * Bytes that were read from files, including the worker's code and tables; undefined if unknown.
   */
  readonly readBytes: number | undefined;
}

export interface AccountBench {
  readonly bytes: number;
  readonly runs: readonly AccountRun[];
}

/** @param totalBytes approximate size of all conversations together */
export async function benchAccount(totalBytes: number): Promise<AccountBench> {
  const home = mkdtempSync(join(tmpdir(), 'account-'));
  try {
    const bundles = join(home, 'bundles');
    execFileSync(process.execPath, ['esbuild.mjs', '--production', '--outdir', bundles], { stdio: 'inherit' });
    const bytes = writeStore(home, totalBytes);
    return {
      bytes,
      runs: [await measureAccountRun('first', home, bundles), await measureAccountRun('second', home, bundles)],
    };
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

async function measureAccountRun(run: AccountRun['run'], home: string, bundles: string): Promise<AccountRun> {
  globalThis.gc?.();
  const task: AccountTask = {
    kind: 'account',
    find: { platform: 'linux', env: {}, homedir: home },
    cache: join(home, 'account.json'),
  };
  const readBefore = readBytesReadByProcess();
  const memoryBefore = process.memoryUsage().rss;
  let peakMemory = memoryBefore;
  const sampler = setInterval(() => (peakMemory = Math.max(peakMemory, process.memoryUsage().rss)), 50);
  const idleLagMs = await measureIdleLagMs();
  const lagMonitor = monitorEventLoopDelay({ resolution: 5 });
  const stopStretchMeasurement = startStretchMeasurement();
  lagMonitor.enable();
  const started = performance.now();
  const { overview, problems } = await runTask(task, {
    bundle: join(bundles, 'engine.cjs'),
    signal: new AbortController().signal,
  });
  const timeMs = performance.now() - started;
  // The measured time includes the host's processing of the answer.
  await new Promise((resolve) => setTimeout(resolve, 50));
  lagMonitor.disable();
  const stretchMs = stopStretchMeasurement();
  clearInterval(sampler);
  if (overview.total.sessions !== CONVERSATIONS)
    throw new Error(`${overview.total.sessions} accounted, ${problems[0]?.reason ?? ''}`);
  const bytesReadAfter = readBytesReadByProcess();
  return {
    run,
    timeMs,
    lagMs: lagMonitor.max / 1e6,
    idleLagMs,
    stretchMs,
    peakBytes: peakMemory - memoryBefore,
    readBytes: readBefore === undefined || bytesReadAfter === undefined ? undefined : bytesReadAfter - readBefore,
  };
}

/**
 * Starts measuring. @returns a function that stops it and returns the longest block in milliseconds
 */
function startStretchMeasurement(): () => number {
  let longestMs = 0;
  let usageAtLastTick = process.threadCpuUsage();
  const timer = setInterval(() => {
    const { user, system } = process.threadCpuUsage(usageAtLastTick);
    longestMs = Math.max(longestMs, (user + system) / 1_000);
    usageAtLastTick = process.threadCpuUsage();
  }, 1);
  return () => {
    clearInterval(timer);
    return longestMs;
  };
}

export const accountTable = ({ bytes, runs }: AccountBench): string =>
  table(
    [
      `${CONVERSATIONS} sessions, ${megabytes(bytes)}`,
      'accounted',
      'lag at most',
      'idle',
      'thread at a time',
      'memory at most',
      'read',
    ],
    runs.map(({ run, timeMs, lagMs, idleLagMs, stretchMs, peakBytes, readBytes }) => [
      run,
      millis(timeMs),
      millis(lagMs),
      millis(idleLagMs),
      millis(stretchMs),
      megabytes(peakBytes),
      readBytes === undefined ? '–' : megabytes(readBytes),
    ]),
  );
