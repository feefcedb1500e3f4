/**
 * A process that writes to a ledger, and kills itself with SIGKILL before a given modifying step.
 * Each write is split into two steps.
 */
import { writeSync } from 'node:fs';
import { openLedger } from '../../src/storage/ledgerStore';
import { QUICK_LOCK_TIMING, createSteppedFiles, makeOriginals } from '../../src/storage/testing';
import { CONVERSATION, makeNumberedSteps, SCRIPT } from './ledger.script';

const [task, root = '', argument = ''] = process.argv.slice(2);

const say = (line: string): void => {
  writeSync(1, `${line}\n`);
};

function die(): never {
  process.kill(process.pid, 'SIGKILL');
  // The loop waits until the signal arrives.
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

/** Appends the script's entries, and reports each. */
async function followScript(deadAt: number): Promise<void> {
  let count = 0;
  const files = createSteppedFiles(() => {
    if (count++ === deadAt) die();
  });
  const ledger = await openLedger(root, { id: CONVERSATION }, { files, lock: QUICK_LOCK_TIMING });
  for (const { entry, texts } of SCRIPT.slice(ledger.ledger.condensations.length)) {
    await ledger.append(entry, makeOriginals(texts));
    say('appended');
  }
  say(`steps ${count}`);
}

/**
 * Appends many entries quickly. Each takes two writes, so only the lock keeps those of two
 * processes apart.
 */
async function appendMany(name: string): Promise<void> {
  const files = createSteppedFiles(() => undefined);
  const lock = { wait: 60_000, silence: 10_000, heartbeat: 500 };
  const ledger = await openLedger(root, { id: CONVERSATION }, { files, lock });
  say('ready');
  await new Promise((resolve) => process.stdin.once('data', resolve));
  process.stdin.destroy();
  for (const { entry, texts } of makeNumberedSteps(name)) await ledger.append(entry, makeOriginals(texts));
}

await (task === 'follow' ? followScript(Number(argument)) : appendMany(argument));
