/**
 * Measures how long the command line takes to start compared with plain Node, and how long loading
 * a bundle blocks VS Code.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median } from './measure';
import { millis, table } from './table';

const RUNS = 20;

export interface StartRow {
  readonly what: string;
  /** Median wall time in milliseconds. */
  readonly ms: number;
  /** Time as a multiple of plain Node's, for a separate process. */
  readonly timesNode: number | undefined;
}

/** Loads a bundle as the extension does, with a fake `vscode`, and prints the longest block. */
const LOAD_SCRIPT = `
const Module = require('node:module');
const double = (target = function () {}) => new Proxy(target, {
  get: (_, key) => (key === Symbol.toPrimitive ? () => '' : key === 'prototype' ? {} : double()),
  apply: () => double(),
  construct: () => ({}),
});
const load = Module._load;
// The bundles copy its own properties; what they read as they load must be among them.
Module._load = (name, ...rest) => (name === 'vscode' ? double({ ConfigurationTarget: {} }) : load(name, ...rest));
const { dirname, join, parse } = require('node:path');
const folder = dirname(process.argv[1]);
const parts = require(join(folder, 'parts.json'))[parse(process.argv[1]).name] ?? [];
const stretches = [...parts.map((part) => join(folder, part)), process.argv[1]].map((file) => {
  const begun = performance.now();
  require(file);
  return performance.now() - begun;
});
console.log(Math.max(...stretches));`;

/** Runs Node with these arguments. Returns the milliseconds, including Node's start. */
function measureNodeMs(...args: readonly string[]): number {
  const begun = performance.now();
  execFileSync(process.execPath, args, { stdio: 'ignore' });
  return performance.now() - begun;
}

const measureLoadingMs = (bundle: string): number =>
  Number(execFileSync(process.execPath, ['-e', LOAD_SCRIPT, bundle], { encoding: 'utf8' }));

export function benchStart(): StartRow[] {
  const bundles = mkdtempSync(join(tmpdir(), 'start-'));
  try {
    execFileSync(process.execPath, ['esbuild.mjs', '--production', '--outdir', bundles], { stdio: 'inherit' });
    const cli = join(bundles, 'cli.cjs');
    const processes = {
      'node alone': ['-e', '0'],
      'context-condenser --version': [cli, '--version'],
      'context-condenser inspect, the sample': [cli, 'inspect', join('sample', 'conversation.jsonl')],
    };
    const loads = Object.fromEntries(
      ['extension', 'commands', 'panel'].map((name) => [
        `${name}.cjs, the longest stretch`,
        join(bundles, `${name}.cjs`),
      ]),
    );
    const timesByMeasurement = new Map<string, number[]>();
    const addTime = (what: string, ms: number): void =>
      void timesByMeasurement.set(what, [...(timesByMeasurement.get(what) ?? []), ms]);
    // The measurements alternate, so that other load affects all of them alike.
    for (let run = 0; run < RUNS; run++) {
      for (const [what, args] of Object.entries(processes)) addTime(what, measureNodeMs(...args));
      for (const [what, bundle] of Object.entries(loads)) addTime(what, measureLoadingMs(bundle));
    }
    const nodeMs = median(timesByMeasurement.get('node alone') ?? []);
    return [...timesByMeasurement].map(([what, all]) => ({
      what,
      ms: median(all),
      timesNode: Object.hasOwn(processes, what) ? median(all) / nodeMs : undefined,
    }));
  } finally {
    rmSync(bundles, { recursive: true, force: true });
  }
}

export const startTable = (rows: readonly StartRow[]): string =>
  table(
    ['', 'median of 20', 'times Node'],
    rows.map(({ what, ms, timesNode }) => [what, millis(ms), timesNode?.toFixed(2) ?? '']),
  );
