/**
 * A window that condenses a stored conversation, undoes that, gives it back, and undoes that, in an
 * order from a seed. It prints each result as a line of JSON.
 */
import { writeSync } from 'node:fs';
import { performTask } from '../../src/background/perform';
import type { Task } from '../../src/background/tasks';
import type { UndoneGiveBack } from '../../src/giveBack/replacements';
import { GiveBackError } from '../../src/giveBack/giveBackError';
import { makeFileOld } from '../../src/giveBack/testing';
import { loadTokenCounter } from '../../src/storage/assets';
import { Random } from '../generators/random';
import { ROUNDS, type Did, type WindowOptions } from './windows.options';

// The cast is safe, because the test wrote this argument.
const { path, store, replacements, bundles, seed } = JSON.parse(process.argv[2] ?? '') as WindowOptions;
const counter = loadTokenCounter(bundles);
const random = new Random(seed);

// The task's kind determines the type of its result.
const runWindowTask = async <T>(task: Task): Promise<T> =>
  (await performTask(task, {
    tokens: () => counter,
    onProgress: () => undefined,
    signal: new AbortController().signal,
  })) as T;

async function condense(): Promise<Did> {
  const provider = random.pick(['lossless', 'truncation']);
  const targetPercent = random.between(20, 80);
  const task = { kind: 'condense', path, history: 'active', provider, config: {}, targetPercent, store } as const;
  const result = await runWindowTask<{ kind: string; provider: string; edits: number; tokensAfter: number }>(task);
  if (result.kind !== 'condensed') return { did: 'nothing' };
  return { did: 'condensed', as: `${result.provider} ${result.edits} ${result.tokensAfter}` };
}

async function giveBack(): Promise<Did> {
  // Makes the file look as if the agent had been idle for an hour, because giving back counts as
  // writing by the agent.
  makeFileOld(path);
  const givenBack = await runWindowTask<{ path: string }>({
    kind: 'give-back',
    path,
    history: 'active',
    store,
    replacements,
  });
  return { did: 'given', as: givenBack.path };
}

async function undoGiveBack(conversation: string): Promise<Did> {
  const undone = await runWindowTask<UndoneGiveBack | undefined>({
    kind: 'undo-give-back',
    name: { conversation },
    replacements,
  });
  return { did: undone ? 'taken back' : 'nothing' };
}

async function undo(conversation: string): Promise<Did> {
  const { undone } = await runWindowTask<{ undone: unknown }>({ kind: 'undo', conversation, store });
  return { did: undone === undefined ? 'nothing' : 'undone' };
}

async function round(conversation: string): Promise<Did> {
  try {
    const chance = random.int(10);
    if (chance < 5) return await condense();
    if (chance < 8) return await giveBack();
    return chance === 8 ? await undoGiveBack(conversation) : await undo(conversation);
  } catch (error) {
    if (error instanceof GiveBackError) return { did: 'refused', as: error.kind };
    throw error;
  }
}

const say = (line: string): void => {
  writeSync(1, `${line}\n`);
};

const { conversation } = await runWindowTask<{ conversation: { id: string } }>({
  kind: 'show',
  path,
  history: 'active',
  store,
});
await counter;
say('ready');
await new Promise((resolve) => process.stdin.once('data', resolve));
process.stdin.destroy();
for (let index = 0; index < ROUNDS; index++) say(JSON.stringify(await round(conversation.id)));
