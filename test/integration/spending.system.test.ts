/**
 * Tests a limit of ten cents per day with two windows at the same time, and with one that is killed
 * between reservation, call and settlement.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { Spending } from '../../src/storage/spending';
import { childProgram } from '../support/childProgram';

const { folder, program } = childProgram('spending.child.ts');

let path: string;
let asked: string;
beforeEach(() => {
  const own = mkdtempSync(join(folder, 'run-'));
  path = join(own, 'spending.jsonl');
  asked = join(own, 'asked');
});

interface Window {
  readonly go: () => void;
  readonly end: Promise<{ readonly signal: NodeJS.Signals | null; readonly output: string }>;
}

/** Opens a window that waits until it is told to start. */
const open = (task = 'ask'): Promise<Window> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, path, asked, task], { stdio: ['pipe', 'pipe', 'inherit'] });
    let output = '';
    const end = new Promise<{ signal: NodeJS.Signals | null; output: string }>((done) => {
      child.on('close', (_, signal) => {
        done({ signal, output });
      });
    });
    child.on('error', reject);
    child.stdout.on('data', (data: Buffer) => {
      output += data.toString();
      if (output.startsWith('ready'))
        resolve({
          go: () => child.stdin.write('go\n'),
          end,
        });
    });
  });

/** Returns the number of calls that were paid. */
const paid = (): number => (existsSync(asked) ? readFileSync(asked, 'utf8').trim().split('\n').length : 0);

it('two windows that call models at once together stay within the spending limit', async () => {
  const windows = await Promise.all([open(), open()]);
  for (const { go } of windows) go();
  const ends = await Promise.all(windows.map(({ end }) => end));
  // At four cents each, two calls are within the ten cents, and a third is not.
  expect(paid()).toBe(2);
  expect(ends.map(({ output }) => output.match(/complete|failed/g)?.length)).toEqual([5, 5]);
  expect((await new Spending(path).readSpent('own', 'c')).day).toBeCloseTo(0.08, 10);
});

it.each([
  // A reservation without a call counts until the end of the day, so that the limit is never
  // exceeded.
  ['before the call', 0, 1],
  ['after the call', 1, 2],
])('a window killed %s leaves its reserved cost counted against the limit', async (when, paidByIt, paidInAll) => {
  const dying = await open(`die ${when}`);
  dying.go();
  expect((await dying.end).signal).toBe('SIGKILL');
  expect(paid()).toBe(paidByIt);
  expect((await new Spending(path).readSpent('own', 'c')).day).toBeGreaterThan(0.03);
  const windows = await Promise.all([open(), open()]);
  for (const { go } of windows) go();
  await Promise.all(windows.map(({ end }) => end));
  expect(paid()).toBe(paidInAll);
});
