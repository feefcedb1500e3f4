/** A task in a thread of its own: what goes to it and comes back, its end, and an abort. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, inject, it } from 'vitest';
import { writeHome } from '../../test/fixtures/conversations/home';
import { temporaryFolder } from '../../test/support/temporaryFolder';
import { writeTranscript } from '../../test/support/transcript';
import { runTask } from './runTask';
import type { CondenseTask, IndexProgress } from '../background/tasks';

let folder: string;

beforeEach(() => {
  folder = temporaryFolder();
});

const task = (changes: Partial<CondenseTask> = {}): CondenseTask => ({
  kind: 'condense',
  path: writeTranscript(folder),
  history: 'active',
  provider: 'lossless',
  config: undefined,
  targetPercent: 50,
  store: join(folder, 'store'),
  ...changes,
});
const options = () => ({ bundle: join(inject('bundles'), 'engine.cjs'), signal: new AbortController().signal });

it('a task gives what the worker gives, and fails with the worker’s error', async () => {
  expect(await runTask(task(), options())).toMatchObject({ kind: 'condensed' });
  await expect(runTask(task({ path: join(folder, 'gone') }), options())).rejects.toMatchObject({
    name: 'ConversationReadError',
    problem: 'not-found',
  });
  await expect(runTask(task({ provider: 'magic' }), options())).rejects.toThrow('no provider "magic"');
});

it('a task whose worker ends or can’t start says so', async () => {
  const ends = join(folder, 'ends.cjs');
  writeFileSync(ends, 'process.exit(3)');
  await expect(runTask(task(), { ...options(), bundle: ends })).rejects.toThrow('ended with code 3');
  await expect(runTask(task(), { ...options(), bundle: join(folder, 'none.cjs') })).rejects.toThrow('none.cjs');
});

it('an abort ends the thread with its reason, and an abort beforehand starts no thread', async () => {
  const abort = new AbortController();
  const reason = new Error('enough');
  const running = runTask(task(), {
    ...options(),
    signal: abort.signal,
    onProgress: () => {
      abort.abort(reason);
    },
  });
  await expect(running).rejects.toBe(reason);
  await expect(runTask(task(), { ...options(), signal: abort.signal })).rejects.toBe(reason);
});

it('the index of all conversations runs in the worker and reports as it goes', async () => {
  const written = writeHome(folder);
  const progress: IndexProgress[] = [];
  await runTask(
    {
      kind: 'index',
      find: { platform: 'linux', env: {}, homedir: folder },
      history: 'active',
      cache: join(folder, 'details.json'),
    },
    {
      ...options(),
      onProgress: ({ index }) => {
        if (index) progress.push(index);
      },
    },
  );
  const read = progress.flatMap((one) => ('details' in one ? one.details : []));
  expect(new Set(read.map(({ path }) => path)).size).toBe(written.length);
});
