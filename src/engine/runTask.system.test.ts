/** Tests a task in its own thread: its arguments and results, its end, and its abort. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, inject, it } from 'vitest';
import { writeHome } from '../../test/fixtures/conversations/home';
import { temporaryFolder } from '../../test/support/temporaryFolder';
import { writeTranscript } from '../../test/support/transcript';
import type { HostModels } from '../background/hostModels';
import type { SummarizerModel } from '../core/condense/summarizer';
import { runTask } from './runTask';
import type { CondenseTask, IndexProgress } from '../background/tasks';

let folder: string;

const CHEAP: SummarizerModel = {
  profile: 'Cheap',
  vendor: 'openai',
  model: 'cheap-1',
  accounting: 'openai',
  contextWindow: 128_000,
  tokenFactor: 1,
  billing: 'included',
  cacheLifetime: 'none',
};

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

it("a background task returns the worker's result, or fails with its error", async () => {
  expect(await runTask(task(), options())).toMatchObject({ kind: 'condensed' });
  await expect(runTask(task({ path: join(folder, 'gone') }), options())).rejects.toMatchObject({
    name: 'ConversationReadError',
    problem: 'not-found',
  });
  await expect(runTask(task({ provider: 'magic' }), options())).rejects.toThrow('no provider "magic"');
});

it('a background task whose worker ends or can’t start says so', async () => {
  const ends = join(folder, 'ends.cjs');
  writeFileSync(ends, 'process.exit(3)');
  await expect(runTask(task(), { ...options(), bundle: ends })).rejects.toThrow('ended with code 3');
  await expect(runTask(task(), { ...options(), bundle: join(folder, 'none.cjs') })).rejects.toThrow('none.cjs');
});

it('aborting a background task ends its thread with the reason, and an abort beforehand starts none', async () => {
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

/** Creates a host model that never answers and reports its abort. */
function waitingModel() {
  const asked = Promise.withResolvers<undefined>();
  const closed = Promise.withResolvers<undefined>();
  const models: HostModels = {
    select: () => Promise.resolve({ model: CHEAP, chosen: 'condensing-profile', samples: [] }),
    summarize: (_profile, _own, _request, _conversation, signal) => {
      signal.addEventListener('abort', () => {
        closed.resolve(undefined);
      });
      asked.resolve(undefined);
      return new Promise(() => undefined);
    },
    warn: () => undefined,
  };
  return { models, asked: asked.promise, closed: closed.promise };
}

const paidTask = () =>
  task({ provider: 'native', config: {}, paid: { presets: [], maxCost: 10, summaries: join(folder, 'summaries') } });

it('a background condensation calls the host’s model and keeps its text', async () => {
  const { models } = waitingModel();
  const prompts: string[] = [];
  const result = await runTask(paidTask(), {
    ...options(),
    models: {
      ...models,
      summarize: (_profile, _own, { prompt }, conversation) => {
        prompts.push(`${conversation} ${prompt.length > 0}`);
        return Promise.resolve({ kind: 'complete', text: 'They renamed it.', usage: undefined, cost: 0.01, timeMs: 1 });
      },
    },
  });
  expect(prompts).toEqual(['claude-code:session-1 true']);
  expect(result).toMatchObject({ kind: 'condensed', provider: 'native' });
});

it('cancelling a background condensation aborts the host’s model call, and nothing is condensed', async () => {
  const { models, asked, closed } = waitingModel();
  const abort = new AbortController();
  const running = runTask(paidTask(), { ...options(), signal: abort.signal, models });
  await asked;
  abort.abort(new Error('enough'));
  await expect(running).rejects.toThrow('enough');
  await closed;
  expect(existsSync(join(folder, 'store'))).toBe(false);
});

it('a background condensation reports an unusable profile in the host’s words', async () => {
  const { models } = waitingModel();
  const select: HostModels['select'] = () => Promise.resolve({ problem: 'There is no key.' });
  const outcome = runTask(paidTask(), { ...options(), models: { ...models, select } });
  expect(JSON.stringify(await outcome.catch((error: unknown) => String(error)))).toContain('There is no key.');
});

it('the conversation index runs in the worker and reports progress', async () => {
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
