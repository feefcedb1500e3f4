/**
 * A process that replaces files, or writes to them as an agent does, and kills itself with SIGKILL
 * before a given modifying step. Each write is split into two steps.
 */
import { readFileSync, writeFileSync, renameSync, writeSync } from 'node:fs';
import { lock } from 'proper-lockfile';
import { hashBytes } from '../../src/giveBack/fileBytes';
import { replaceFiles, undoReplacement } from '../../src/giveBack/replacement';
import { createSteppedFiles } from '../../src/storage/testing';

const [task, root = '', argument = '', ...paths] = process.argv.slice(2);

const say = (line: string): void => {
  writeSync(1, `${line}\n`);
};

function dieNow(): never {
  process.kill(process.pid, 'SIGKILL');
  // The loop waits until the signal arrives.
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

/** Creates files that count the steps, and kill the process at the given one. */
function createDyingFiles(deadAt: number) {
  let count = 0;
  const files = createSteppedFiles(() => {
    if (count++ === deadAt) dieNow();
  });
  return { files, count: () => count };
}

async function replaceAndReport(deadAt: number): Promise<void> {
  const { files, count } = createDyingFiles(deadAt);
  const contents = paths.map((path) => {
    const bytes = readFileSync(path);
    return { path, before: hashBytes(bytes), bytes: new TextEncoder().encode(`${bytes.toString()}, condensed`) };
  });
  await replaceFiles(files, root, { conversation: 'c' }, contents, new Date(0));
  say(`steps ${count()}`);
}

async function undoAndReport(deadAt: number): Promise<void> {
  const { files, count } = createDyingFiles(deadAt);
  await undoReplacement(files, root);
  say(`steps ${count()}`);
}

/**
 * Appends numbered messages to a task through a temporary file, while it holds the agent's lock.
 */
async function appendAsAgent(count: number): Promise<void> {
  const [path = ''] = paths;
  say('ready');
  await new Promise((resolve) => process.stdin.once('data', resolve));
  process.stdin.destroy();
  for (let number = 0; number < count; number++) {
    const release = await lock(path, {
      realpath: false,
      stale: 31_000,
      retries: { retries: 5_000, minTimeout: 2, maxTimeout: 20 },
    });
    const history = JSON.parse(readFileSync(path, 'utf8')) as unknown[];
    writeFileSync(
      `${path}.new`,
      JSON.stringify([...history, { role: 'user', content: `late ${number}`, ts: Date.now() + number }]),
    );
    renameSync(`${path}.new`, path);
    await release();
    say(`wrote ${number}`);
    await new Promise((resolve) => setTimeout(resolve, (number * 7) % 13));
  }
}

const count = Number(argument);
await (task === 'replace' ? replaceAndReport(count) : task === 'undo' ? undoAndReport(count) : appendAsAgent(count));
