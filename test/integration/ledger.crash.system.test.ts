import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { appendFile, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { buildLedger } from '../../src/core/condense/ledger/ledger';
import { openLedger } from '../../src/storage/ledgerStore';
import { makeCondensedEntry, makeOriginals, QUICK_LOCK_TIMING } from '../../src/storage/testing';
import { childProgram } from '../support/childProgram';
import { listStepsToTry } from '../support/long';
import { CONVERSATION, MANY, makeNumberedSteps, SCRIPT } from './ledger.script';

const { folder, program } = childProgram('ledger.child.ts');
const open = (root: string) => openLedger(root, { id: CONVERSATION }, { lock: QUICK_LOCK_TIMING });
const STATES = SCRIPT.map((_, count) => buildLedger(SCRIPT.slice(0, count).map(({ entry }) => entry)));
STATES.push(buildLedger(SCRIPT.map(({ entry }) => entry)));

interface Exit {
  readonly signal: NodeJS.Signals | null;
  readonly code: number | null;
  readonly output: string;
  readonly pid: number;
}

/** Starts the process, and calls `onReady` at its first line. */
function start(args: readonly string[], onReady?: (go: () => void) => void): Promise<Exit> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.on('data', (data: Buffer) => {
      if (output === '') onReady?.(() => child.stdin.write('go\n'));
      output += data.toString();
    });
    child.on('error', reject);
    child.on('close', (code, signal) => {
      resolve({ code, signal, output, pid: child.pid ?? 0 });
    });
  });
}

const appendedIn = (output: string): number => output.split('\n').filter((line) => line === 'appended').length;

/**
 * Checks that the ledger contains the reported entries, or one more, is intact, and can be
 * continued.
 */
async function expectOldOrNew(root: string, appended: number): Promise<void> {
  const ledger = await open(root);
  expect(ledger.problems).toEqual([]);
  expect(STATES.slice(appended, appended + 2)).toContainEqual(ledger.ledger);
  const edits = ledger.ledger.condensations.flatMap((one) => one.edits);
  const originals = await ledger.originals(edits.map(({ before }) => before));
  const expected = SCRIPT.slice(0, ledger.ledger.condensations.length).flatMap(({ texts }) => texts);
  expect(originals).toEqual(makeOriginals(expected));

  await ledger.append(makeCondensedEntry('later', ['an original', 'later']), makeOriginals(['an original', 'later']));
  const again = await open(root);
  expect(again.problems).toEqual([]);
  expect(again.ledger).toEqual(ledger.ledger);
  expect(again.ledger.condensations.at(-1)?.id).toBe('later');
  expect(again.ledger.condensations).toHaveLength(ledger.ledger.condensations.length);
}

/**
 * Kills the process at each step, each time with a new root.
 * @returns the number of steps
 */
async function killAtEachStep(name: string, prepare: (root: string) => Promise<number>): Promise<number> {
  const followed = async (killedAt: number): Promise<Exit> => {
    const root = join(folder, name, `${killedAt}`);
    const before = await prepare(root);
    const exit = await start(['follow', root, `${killedAt}`]);
    await expectOldOrNew(root, before + appendedIn(exit.output));
    rmSync(root, { recursive: true });
    return exit;
  };
  const { code, output } = await followed(Number.MAX_SAFE_INTEGER);
  expect(code).toBe(0);
  const steps = Number(/steps (\d+)\n/.exec(output)?.[1]);
  for (const step of listStepsToTry(steps)) expect((await followed(step)).signal).toBe('SIGKILL');
  return steps;
}

test(
  'a ledger killed at any step of its first entries has the old or the new state',
  { timeout: 300_000 },
  async () => {
    // Each entry takes a lock, two half writes and syncs; if there were far fewer steps, some would
    // be missing from the test.
    expect(await killAtEachStep('new', () => Promise.resolve(0))).toBeGreaterThan(40);
  },
);

test('a ledger killed while cleaning up after a kill has the old or the new state', { timeout: 300_000 }, async () => {
  const { pid } = await start(['follow', join(folder, 'first'), '0']);
  const prepare = async (root: string): Promise<number> => {
    const ledger = await open(root);
    for (const { entry, texts } of SCRIPT.slice(0, 1)) await ledger.append(entry, makeOriginals(texts));
    for (const name of ['ledger.jsonl', 'originals.jsonl']) {
      await appendFile(join(ledger.folder, name), '{"bytes":"0000000100","crc32":"00000000","value":{"ty');
    }
    await writeFile(join(ledger.folder, 'about.json.new'), '{"ver');
    for (const name of ['lock', 'lock.0123456789abcdef']) {
      await writeFile(join(ledger.folder, name), `0123456789abcdef ${pid} ${hostname()} 2026-01-02T03:04:05.000Z\n`);
    }
    return 1;
  };
  expect(await killAtEachStep('torn', prepare)).toBeGreaterThan(30);
});

test('two processes that append to a ledger at once lose and mix no entries', { timeout: 300_000 }, async () => {
  const root = join(folder, 'two');
  const waiting: (() => void)[] = [];
  const together = (go: () => void): void => {
    waiting.push(go);
    if (waiting.length === 2) for (const each of waiting) each();
  };
  const exits = await Promise.all(['a', 'b'].map((name) => start(['many', root, name], together)));
  expect(exits).toMatchObject([{ code: 0 }, { code: 0 }]);

  const { ledger, problems, ...file } = await open(root).then((opened) => ({
    ledger: opened.ledger,
    problems: opened.problems,
    originals: opened.originals.bind(opened),
  }));
  expect(problems).toEqual([]);
  expect(ledger.condensations).toHaveLength(2 * MANY);
  for (const name of ['a', 'b']) {
    const own = ledger.condensations.filter(({ id }) => id.startsWith(name));
    expect(own).toEqual(buildLedger(makeNumberedSteps(name).map(({ entry }) => entry)).condensations);
    const texts = makeNumberedSteps(name).flatMap((step) => step.texts);
    expect(await file.originals(makeOriginals(texts).keys())).toEqual(makeOriginals(texts));
  }
});
