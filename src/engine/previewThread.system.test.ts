import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, inject, it } from 'vitest';
import { PreviewThread } from './previewThread';
import type { PreviewSetup } from '../background/preview/messages';

const folder = mkdtempSync(join(tmpdir(), 'preview-thread-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const bundled = join(inject('bundles'), 'engine.cjs');
const ended = (reason: string): string => `ended: ${reason}`;
const setup: PreviewSetup = {
  provider: 'lossless',
  config: undefined,
  presets: [],
  targetPercent: 50,
  maxCost: 0,
  models: [],
  summaries: join(folder, 'summaries'),
};
const conversation = {
  kind: 'file',
  path: join('sample', 'conversation.jsonl'),
  history: 'active',
  store: join(folder, 'ledgers'),
} as const;
const question = { kind: 'preview', conversation, setup, excluded: [] } as const;
const signal = new AbortController().signal;

/** Writes a test engine in which `does` answers a call of `target` with `args`. */
function engineThat(does: string): string {
  const path = join(folder, `${does.length}.cjs`);
  writeFileSync(
    path,
    `const { parentPort, threadId } = require('node:worker_threads');
    parentPort.on('message', ({ type, id, target, args = [] }) => {
      if (type !== 'call') return;
      const answer = (value) => parentPort.postMessage({ type: 'answer', id, value });
      const [first, second] = args.map(({ value }) => value);
      ${does}
    });`,
  );
  return path;
}

it("the preview's bundled worker answers, and skips cancelled questions", async () => {
  const thread = new PreviewThread({ bundle: bundled, ended });
  const first = new AbortController();
  const stale = thread.askPreviewQuestion(question, first.signal);
  first.abort(new Error('stale'));
  await expect(stale).rejects.toThrow('stale');
  const { cells, tokensBefore } = await thread.askPreviewQuestion(question, signal);
  expect(cells.length).toBeGreaterThan(20);
  expect(tokensBefore).toBeGreaterThan(10_000);
  const gone = { ...conversation, path: 'gone.jsonl' };
  await expect(thread.askPreviewQuestion({ ...question, conversation: gone }, signal)).rejects.toThrow('no such file');
  thread.endThread();
  expect((await thread.askPreviewQuestion(question, signal)).tokensBefore).toBe(tokensBefore);
  thread.endThread();
});

it('a preview worker that dies fails its questions, and the next question starts another worker', async () => {
  const bundle = engineThat(`
    if (first.setup.targetPercent === 1) process.exit(3);
    if (first.setup.targetPercent === 2) throw new Error('out of its mind');
    answer('alive');`);
  const thread = new PreviewThread({ bundle, ended });
  const ask = (targetPercent: number) =>
    thread.askPreviewQuestion({ ...question, setup: { ...setup, targetPercent } }, signal);
  await expect(ask(1)).rejects.toThrow('ended: it ended with code 3 before it answered');
  expect(await ask(50)).toBe('alive');
  await expect(ask(2)).rejects.toThrow('ended: out of its mind');
  expect(await ask(50)).toBe('alive');
  thread.endThread();
});

it('a preview worker ends when idle, and fails its questions when it is closed', async () => {
  const bundle = engineThat('if (first.setup.targetPercent === 50) answer(threadId);');
  const thread = new PreviewThread({ bundle, ended, idleMs: 1 });
  const first = await thread.askPreviewQuestion(question, signal);
  await expect.poll(async () => (await thread.askPreviewQuestion(question, signal)) !== first).toBe(true);
  const never = thread.askPreviewQuestion({ ...question, setup: { ...setup, targetPercent: 3 } }, signal);
  thread.endThread();
  await expect(never).rejects.toThrow('ended: it was ended');
  await expect(thread.askPreviewQuestion(question, AbortSignal.abort(new Error('before')))).rejects.toThrow('before');
});

it('a preview worker receives only new messages of a live conversation, and nothing if there are none', async () => {
  const bundle = engineThat(`
    globalThis.told ??= [];
    if (target === 'previews.update') told.push(second.messages.kept + '+' + second.messages.added.length);
    else answer((told.splice(0).join() || 'nothing') + (first.conversation.content ? '!' : ''));`);
  const thread = new PreviewThread({ bundle, ended });
  const ask = (messages: readonly { readonly role: 'user'; readonly content: string }[], edits: readonly never[]) => {
    const live = { kind: 'live', id: 'l', title: '', pinned: [], content: { messages, edits } } as const;
    return thread.askPreviewQuestion({ ...question, conversation: live }, signal);
  };
  const message = (content: string) => ({ role: 'user', content }) as const;
  const messages = [message('a'), message('b')];
  const longer = [...messages, message('c')];
  expect([
    await ask(messages, []),
    await ask([...messages], []),
    await ask(longer, []),
    await ask([messages[0]!, message('other')], []),
  ]).toEqual(['0+2', 'nothing', '2+1', '1+1']);
  // A new worker knows nothing of the conversation, so it gets all messages.
  thread.endThread();
  expect(await ask(longer, [])).toBe('0+3');
  thread.endThread();
});
