import { mkdtempSync, rmSync, statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';
import { generateConversation } from '../../../test/generators/conversation';
import { assistant, makeToolExchange, user } from '../../core/testing';
import { createCounter } from '../../core/testingCounter';
import { CondensationManager, createSmartProvider } from '../../core/condense';
import { createTestSummarizer } from '../../core/condense/summary/testing';
import type { SummarizerModel } from '../../core/condense/summarizer';
import { StoredSummaries } from '../../storage/summaries';
import { pinMessages } from '../storedConversations';
import type { FileConversation, PreviewQuestion, PreviewSetup } from './messages';
import { PreviewSession } from './session';

const folder = mkdtempSync(join(tmpdir(), 'preview-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const messages = generateConversation({ seed: 2, targetTokens: 20_000 });
const signal = new AbortController().signal;

const setup = (changes: Partial<PreviewSetup> = {}): PreviewSetup => ({
  provider: 'truncation',
  config: undefined,
  presets: [],
  targetPercent: 50,
  maxCost: 1,
  models: [],
  summaries: join(folder, 'summaries'),
  ...changes,
});

function makeFileConversation(name: string, content: unknown = { messages }): FileConversation {
  const path = join(folder, name);
  writeFileSync(path, JSON.stringify(content));
  return { kind: 'file', path, history: 'active', store: join(folder, 'ledgers') };
}

const question = (conversation: PreviewQuestion['conversation'], more: Partial<PreviewQuestion> = {}) =>
  ({ kind: 'preview', conversation, setup: setup(), excluded: [], ...more }) as const;

const model: SummarizerModel = {
  profile: 'Work',
  vendor: 'anthropic',
  model: 'claude-sonnet-4',
  accounting: 'anthropic',
  contextWindow: 200_000,
  tokenFactor: 1,
  prices: { input: { base: 3 }, output: { base: 15 } },
  billing: 'per-token',
  cacheLifetime: 'none',
};

it("a preview says what happens to each message, and the messages' token counts add up to the estimate", async () => {
  const session = new PreviewSession(createCounter());
  const made = await session.answerPreviewRequest(question(makeFileConversation('a.json')), signal);
  expect(made.cells).toHaveLength(messages.length);
  const sum = (of: 'tokensBefore' | 'tokensAfter'): number => made.cells.reduce((all, cell) => all + cell[of], 0);
  expect(sum('tokensBefore')).toBe(made.tokensBefore);
  expect(sum('tokensAfter')).toBe(made.tokensAfter);
  expect(made).toMatchObject({ calls: 0, cost: 0, notes: [] });
  expect(made.edits.length).toBeGreaterThan(0);
});

it('a preview shows a tool result with the name of its tool', async () => {
  const messages = [user('task'), ...makeToolExchange('call-1', 'Read', { file_path: 'a.ts' }, 'one line')];
  const session = new PreviewSession(createCounter());
  const { cells } = await session.answerPreviewRequest(
    question(makeFileConversation('tool.json', { messages })),
    signal,
  );
  expect(cells[2]?.words).toContain('Read');
  expect(cells[2]?.words).not.toContain('call-1');
});

it("a preview shows each message's first words, whatever the whitespace between them", async () => {
  const session = new PreviewSession(createCounter());
  const wide = `${' \n'.repeat(400)}first\n\n\tsecond${' '.repeat(900)}third `;
  const long = 'many words '.repeat(1_000);
  const conversation = makeFileConversation('words.json', { messages: [user(wide), assistant('short'), user(long)] });
  const { cells } = await session.answerPreviewRequest(question(conversation), signal);
  expect(cells.map(({ words }) => words)).toEqual(['first second third', 'short', `${long.slice(0, 79)}…`]);
});

it("a preview leaves excluded messages unchanged and keeps the ledger's pins", async () => {
  const session = new PreviewSession(createCounter());
  const conversation = makeFileConversation('b.json');
  const first = await session.answerPreviewRequest(question(conversation), signal);
  const cut = first.cells.findIndex(({ outcome }) => outcome === 'cut');
  const without = await session.answerPreviewRequest(question(conversation, { excluded: [cut] }), signal);
  expect(without.cells[cut]).toMatchObject({ outcome: 'kept', tokensAfter: first.cells[cut]!.tokensBefore });
  expect(without.tokensAfter).toBeGreaterThan(first.tokensAfter);
  await pinMessages({ ...conversation, kind: 'pin', pinned: [cut] });
  const pinned = await session.answerPreviewRequest(question(conversation), signal);
  expect(pinned).toMatchObject({ pinned: [cut], savedPins: [cut] });
  expect(pinned.cells[cut]!.outcome).toBe('kept');
  const free = await session.answerPreviewRequest(question(conversation, { pinned: [] }), signal);
  expect(free.cells).toEqual(first.cells);
});

it('a preview reads a changed file again, and reports a file that is missing, broken or too large', async () => {
  const session = new PreviewSession(createCounter());
  const conversation = makeFileConversation('c.json');
  await session.answerPreviewRequest(question(conversation), signal);
  makeFileConversation('c.json', { messages: messages.slice(0, 10) });
  utimesSync(conversation.path, 1, statSync(conversation.path).mtimeMs / 1000 + 5);
  expect((await session.answerPreviewRequest(question(conversation), signal)).cells).toHaveLength(10);
  writeFileSync(conversation.path, '{"messages": [');
  await expect(session.answerPreviewRequest(question(conversation), signal)).rejects.toThrow(/c\.json/);
  truncateSync(conversation.path, 33 * 1024 ** 2);
  await expect(session.answerPreviewRequest(question(conversation), signal)).rejects.toThrow(
    /33\.0 MB.*at most 32\.0 MB/s,
  );
  rmSync(conversation.path);
  await expect(session.answerPreviewRequest(question(conversation), signal)).rejects.toThrow(/no such file/);
  // The errors must not affect the next question.
  expect((await session.answerPreviewRequest(question(makeFileConversation('d.json')), signal)).cells).toHaveLength(
    messages.length,
  );
});

it('a preview reports which facts remain after the shown edits, without computing them twice', async () => {
  const session = new PreviewSession(createCounter());
  const log = 'A line of output.\n'.repeat(200);
  const failing = Array.from({ length: 20 }, (_, step) =>
    makeToolExchange(`c${step}`, 'Bash', { command: `step ${step}` }, `${log}error: step ${step} has failed\n${log}`),
  );
  const conversation = makeFileConversation('facts.json', { messages: [user('Mend the steps.'), ...failing.flat()] });
  const asked = { ...question(conversation, { excluded: [2] }), setup: setup({ targetPercent: 10 }) };
  await session.answerPreviewRequest(asked, signal);
  const estimate = vi.spyOn(CondensationManager.prototype, 'estimate');
  const { errors, instructions } = await session.answerPreviewRequest({ ...asked, kind: 'coherence' }, signal);
  await session.answerPreviewRequest({ ...asked, kind: 'texts' }, signal);
  expect(estimate).not.toHaveBeenCalled();
  expect(instructions).toMatchObject({ kept: 1, recallable: 0, lost: 0 });
  expect(errors.kept + errors.recallable + errors.lost).toBe(20);
  expect(errors.recallable).toBeGreaterThan(10);
  // The edit of the excluded message is still not applied.
  expect(errors.recallableExamples[0]).toBe('error: step 1 has failed');
  const mild = { ...asked, setup: setup({ targetPercent: 90 }), kind: 'coherence' } as const;
  expect((await session.answerPreviewRequest(mild, signal)).errors.recallable).toBeLessThan(errors.recallable);
  expect(estimate).toHaveBeenCalledTimes(1);
  estimate.mockRestore();
  const compared = await session.answerPreviewRequest({ kind: 'compare', conversation, setup: asked.setup }, signal);
  expect(compared.facts).toEqual({ all: 21, lost: 0 });
});

it('a preview gives a tool result the same heading in the texts before and after, even if its command was removed', async () => {
  const session = new PreviewSession(createCounter());
  const steps = Array.from({ length: 9 }, (_, step) =>
    makeToolExchange(`t${step}`, 'Bash', { command: `run step ${step} # ${'why '.repeat(200)}` }, 'ok'),
  );
  const conversation = makeFileConversation('named.json', { messages: [user('Run the steps.'), ...steps.flat()] });
  const config = { preserveRecentCount: 0, toolParameters: { mode: 'suppress' } };
  const asked = question(conversation, { setup: setup({ config, targetPercent: 10 }) });
  const { before, after } = await session.answerPreviewRequest({ ...asked, kind: 'texts' }, signal);
  expect(after.split('run step 0 #')).toHaveLength(2);
  const names = (text: string): unknown => text.match(/^◀ .*$/gm);
  expect(names(before)).toHaveLength(9);
  expect(names(after)).toEqual(names(before));
});

it('a preview abandons a cancelled report and answers the next question', async () => {
  const session = new PreviewSession(createCounter());
  const conversation = makeFileConversation('given-up.json', {
    messages: generateConversation({ seed: 9, targetTokens: 20_000 }),
  });
  const { cells } = await session.answerPreviewRequest(question(conversation), signal);
  const abort = new AbortController();
  const report = session.answerPreviewRequest({ ...question(conversation), kind: 'coherence' }, abort.signal);
  setImmediate(() => {
    abort.abort(new Error('given up'));
  });
  await expect(report).rejects.toThrow('given up');
  expect((await session.answerPreviewRequest(question(conversation), signal)).cells).toEqual(cells);
});

it('a preview plans calls to a model but never makes them', async () => {
  const session = new PreviewSession(createCounter());
  const models = [{ model, chosen: 'condensing-profile', samples: [] }] as const;
  const made = await session.answerPreviewRequest(
    question(makeFileConversation('e.json'), { setup: setup({ provider: 'native', models }) }),
    signal,
  );
  expect(made.calls).toBe(1);
  expect(made.cost).toBeGreaterThan(0);
  expect(made.cells.some(({ outcome }) => outcome === 'summarized')).toBe(true);
  expect(made.edits[0]).toMatchObject({ isWritten: true, after: '' });
  const problem = { models: [{ problem: 'No key is set.' }], provider: 'native' };
  await expect(
    session.answerPreviewRequest(question(makeFileConversation('e.json'), { setup: setup(problem) }), signal),
  ).rejects.toThrow('No key is set.');
});

it('a preview of a condensation above the cost limit shows the reason, and neither a cost nor a change', async () => {
  const models = [{ model, chosen: 'condensing-profile', samples: [] }] as const;
  const limited = setup({ provider: 'native', models, maxCost: 0.000_1 });
  const made = await new PreviewSession(createCounter()).answerPreviewRequest(
    question(makeFileConversation('e.json'), { setup: limited }),
    signal,
  );
  expect(made).toMatchObject({ calls: 0, cost: 0, editCount: 0, tokensAfter: made.tokensBefore });
  expect(made.refusal).toContain('at most $0.0001 may be spent on a condensation');
  expect(made.notes).toContain(made.refusal);
});

it('a preview counts a summary that was already paid for as free', async () => {
  const models = [{ model, chosen: 'condensing-profile', samples: [] }] as const;
  const summaries = join(folder, 'paid');
  const smart = setup({ provider: 'smart', config: 'quality', models, summaries });
  const ask = () =>
    new PreviewSession(createCounter()).answerPreviewRequest(
      question(makeFileConversation('q.json'), { setup: smart }),
      signal,
    );
  const before = await ask();
  expect(before.calls).toBeGreaterThan(0);
  const provider = createSmartProvider({
    select: () => ({ summarizer: createTestSummarizer(['A summary.'], model), chosen: 'condensing-profile' }),
    memo: new StoredSummaries(summaries),
  });
  const checked = provider.validateConfig('quality');
  if (!checked.valid) throw new Error(JSON.stringify(checked.problems));
  await provider.condense({ messages, edits: [], counter: createCounter() }, checked.config, {});
  expect(await ask()).toMatchObject({ calls: 0, cost: 0 });
});

it('a preview reports an invalid configuration, and that too little would be removed', async () => {
  const session = new PreviewSession(createCounter());
  const wrong = setup({ config: { minimumTokens: 'few' } });
  const made = await session.answerPreviewRequest(question(makeFileConversation('f.json'), { setup: wrong }), signal);
  expect(made.notes[0]).toMatch(/^minimumTokens: .*; it is left out\.$/);
  const small = makeFileConversation('g.json', { messages: messages.slice(0, 3) });
  expect((await session.answerPreviewRequest(question(small), signal)).notes[0]).toMatch(
    /Only \d+ tokens would be removed/,
  );
});

it('a preview of a growing chat conversation receives only the new messages and covers the whole conversation', async () => {
  const session = new PreviewSession(createCounter());
  const live = { kind: 'live', id: 'l', title: 'Live', pinned: [] } as const;
  expect((await session.answerPreviewRequest(question(live), signal)).cells).toEqual([]);
  const half = messages.length / 2;
  const no = { kept: 0, added: [] };
  session.updateLiveConversation('l', { messages: { kept: 0, added: messages.slice(0, half) }, edits: no });
  const first = await session.answerPreviewRequest(question(live), signal);
  expect(first).toMatchObject({ title: 'Live', savedPins: [] });
  expect(first.cells).toHaveLength(half);
  session.updateLiveConversation('l', { messages: { kept: half, added: messages.slice(half) }, edits: no });
  const { cells, edits, tokensAfter } = await session.answerPreviewRequest(question(live), signal);
  const other = new PreviewSession(createCounter());
  other.updateLiveConversation('l', { messages: { kept: 0, added: messages }, edits: no });
  expect(await other.answerPreviewRequest(question(live), signal)).toMatchObject({ cells, edits, tokensAfter });
  session.updateLiveConversation('l', { messages: { kept: 4, added: [] }, edits: no });
  expect((await session.answerPreviewRequest(question(live), signal)).cells).toHaveLength(4);
});

it('a preview says what a pass selects, and reports a pass that no longer exists', async () => {
  const session = new PreviewSession(createCounter());
  const pass = {
    id: 'p',
    name: 'P',
    mode: 'individual',
    selection: { type: 'preserve_recent', count: 10 },
    individualConfig: { defaults: { toolResults: { operation: 'suppress' } } },
  };
  const conversation = makeFileConversation('h.json');
  const smart = setup({ provider: 'smart', config: { version: 1, passes: [pass] } });
  const asked = { kind: 'selection', conversation, setup: smart, pass: 0 } as const;
  const { taken } = await session.answerPreviewRequest(asked, signal);
  expect(taken).toHaveLength(messages.length);
  expect(taken.slice(-10)).not.toContain(true);
  expect(taken).toContain(true);
  expect(taken[0]).toBe(false);
  await expect(session.answerPreviewRequest({ ...asked, pass: 1 }, signal)).rejects.toThrow(
    'This pass no longer exists',
  );
  const broken = setup({ provider: 'smart', config: { version: 1, passes: 3 } });
  await expect(session.answerPreviewRequest({ ...asked, setup: broken }, signal)).rejects.toThrow('passes');
});

it('a comparison of configurations states how many lines needed later each keeps, and gives the full texts', async () => {
  const session = new PreviewSession(createCounter());
  const conversation = makeFileConversation('i.json', {
    messages: generateConversation({ seed: 4, targetTokens: 40_000 }),
  });
  const { retention, tokensAfter, tokensBefore } = await session.answerPreviewRequest(
    { kind: 'compare', conversation, setup: setup({ provider: 'lossless' }) },
    signal,
  );
  expect(retention.needed).toBeGreaterThan(0);
  expect(retention.verbatim + retention.recallable).toBe(retention.needed);
  expect(tokensAfter).toBeLessThan(tokensBefore);
  const texts = await session.answerPreviewRequest({ ...question(conversation), kind: 'texts' }, signal);
  expect(texts.after.length).toBeLessThan(texts.before.length);
});

it('a repeated preview shows the time that the first one took, since a condensation takes that long', async () => {
  const session = new PreviewSession(createCounter());
  const asked = question(makeFileConversation('again.json'), { setup: setup({ provider: 'lossless' }) });
  const { timeMs } = await session.answerPreviewRequest(asked, signal);
  await session.answerPreviewRequest({ ...asked, setup: setup() }, signal);
  expect((await session.answerPreviewRequest(asked, signal)).timeMs).toBeGreaterThanOrEqual(timeMs);
});
