import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import * as vscode from 'vscode';
import { windowAtRest } from './activation';
import type { IdleState } from './names';

/** What an idle extension host uses. */
export interface IdleFigures {
  /** Bytes of heap and external buffers, after garbage collection. */
  readonly heap: number;
  /** Bytes of the process in memory. */
  readonly resident: number;
  /** Longest time that the thread was blocked, in milliseconds, including by other load. */
  readonly longest: number;
  /** CPU time of the host, in milliseconds. */
  readonly cpu: number;
  /** Number of loaded bundles, without the entry bundle. */
  readonly bundles: number;
}

/** Time for which the host is measured while idle. */
const WATCHED_MS = 15_000;
/** How long the test waits until start-up work has ended. */
const SETTLED_MS = 5_000;
/** How long the test waits while thousands of sessions are read. */
const READ_MS = 40_000;

/** Leaves a window idle in one of its states, and measures the extension host. */
export async function measureIdle(extension: vscode.Extension<unknown>, state: IdleState): Promise<IdleFigures> {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  await windowAtRest();
  if (state !== 'not active') await extension.activate();
  const isListed = state === '2,000 sessions listed';
  if (isListed || state === 'its view shown')
    await vscode.commands.executeCommand('contextCondenser.conversations.focus');
  await wait(isListed ? READ_MS : SETTLED_MS);
  collectGarbage();
  const delays = monitorEventLoopDelay({ resolution: 1 });
  const before = process.cpuUsage();
  delays.enable();
  await wait(WATCHED_MS);
  delays.disable();
  const { user, system } = process.cpuUsage(before);
  collectGarbage();
  const { heapUsed, external, rss } = process.memoryUsage();
  assert.equal(extension.isActive, state !== 'not active');
  const first = join(extension.extensionPath, 'dist', 'extension.cjs');
  const loadedBundles = Object.keys(createRequire(first).cache).filter((path) =>
    path.startsWith(extension.extensionPath),
  );
  const bundles = loadedBundles.filter((path) => path !== first).length;
  return { heap: heapUsed + external, resident: rss, longest: delays.max / 1e6, cpu: (user + system) / 1000, bundles };
}
