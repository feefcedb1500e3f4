/**
 * A second process that writes to a ledger. As the test asks, it kills itself with SIGKILL before its n-th step that
 * changes something on the disk; writes have a step in the middle of their bytes.
 */
import { writeSync } from 'node:fs';
import { openLedger } from '../../src/storage/ledgerStore';
import { QUICK_LOCK, steppedFiles, originalsIn } from '../../src/storage/testing';
import { CONVERSATION, numbered, SCRIPT } from './ledger.script';

const [task, root = '', argument = ''] = process.argv.slice(2);

const say = (line: string): void => {
  writeSync(1, `${line}\n`);
};

function die(): never {
  process.kill(process.pid, 'SIGKILL');
  // The signal may take a moment to arrive; until then nothing may happen.
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

/** Appends the script's entries; says so after each one. */
async function follow(deadAt: number): Promise<void> {
  let count = 0;
  const files = steppedFiles(() => {
    if (count++ === deadAt) die();
  });
  const ledger = await openLedger(root, { id: CONVERSATION }, { files, lock: QUICK_LOCK });
  for (const { entry, texts } of SCRIPT.slice(ledger.ledger.condensations.length)) {
    await ledger.append(entry, originalsIn(texts));
    say('appended');
  }
  say(`steps ${count}`);
}

/** Appends many entries, as fast as it goes; each write in two, so that only the lock keeps them apart. */
async function appendMany(name: string): Promise<void> {
  const files = steppedFiles(() => undefined);
  const lock = { wait: 60_000, silence: 10_000, heartbeat: 500 };
  const ledger = await openLedger(root, { id: CONVERSATION }, { files, lock });
  say('ready');
  await new Promise((resolve) => process.stdin.once('data', resolve));
  process.stdin.destroy();
  for (const { entry, texts } of numbered(name)) await ledger.append(entry, originalsIn(texts));
}

await (task === 'follow' ? follow(Number(argument)) : appendMany(argument));
