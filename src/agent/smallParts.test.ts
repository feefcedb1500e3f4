import { describe, expect, it } from 'vitest';
import { fake, window } from '../../test/support/vscode';
import { counter } from '../api/testing';
import { CondensationManager, losslessProvider } from '../core/condense';
import { measureCoherence } from '../core/condense/coherence/coherence';
import type { CondensationId } from '../core/condense/ledger/ledger';
import { MessageCounter } from '../core/tokens/messageCounter';
import { user } from '../core/testing';
import { addCacheMarks } from './cacheMarks';
import { toChatError } from './answerParts';
import type { LiveSummary } from '../live/types';
import type { LiveId } from '../live/request';
import type { LiveEvent } from '../live/events';
import { showLiveEvent, type NoticeDependencies } from './notices';
import { isSmallRequest, makeChatTitle } from './chatRequests';
import { showLiveDetails } from './liveDetails';
import {
  formatNewResults,
  formatCondensationTotals,
  LiveStatusBar,
  formatTokensShort,
  describeNextCondensation,
} from './statusBar';
import { CachedTokenCounter } from './tokenCounts';

describe('cache marks in a request', () => {
  const messages = [user('a'), user('b'), user('c'), user('d'), user({ type: 'thinking', thinking: 'x' })];
  const tools = [
    { name: 'x', input_schema: {} },
    { name: 'y', input_schema: {} },
  ];
  const marksOf = (value: unknown): number => JSON.stringify(value).split('cache_control').length - 1;

  it('are at most four, placed on the first and the newest messages', () => {
    const marked = addCacheMarks({ system: 'S', tools, messages }, [3, 0, 1, 2, 4, 9], '1h');
    expect(marksOf(marked)).toBe(4);
    expect(marked.messages.map(marksOf)).toEqual([1, 0, 1, 1, 0]);
    expect(marked.system).toEqual([{ type: 'text', text: 'S', cache_control: { type: 'ephemeral', ttl: '1h' } }]);
    expect(marksOf(marked.tools)).toBe(0);
  });

  it('are also set on the tools if fewer than four are used or there is no system prompt', () => {
    expect(marksOf(addCacheMarks({ system: 'S', tools, messages }, [1], '5m').tools)).toBe(1);
    const bare = addCacheMarks({ tools, messages }, [0, 1, 2, 3], '5m');
    expect([marksOf(bare.tools), marksOf(bare)]).toEqual([1, 4]);
    expect(marksOf(addCacheMarks({ messages }, [0, 1, 2, 3], '5m'))).toBe(4);
    expect(marksOf(addCacheMarks({ system: [{ type: 'text', text: 'S' }], messages }, [], '5m'))).toBe(1);
  });

  it('are not set if the profile says so', () => {
    const request = { system: 'S', messages };
    expect(addCacheMarks(request, [0], 'none')).toBe(request);
  });
});

it('a chat request is small if it has no tools or is a summary request, unless its history shows a task', () => {
  const asked = { system: 'You are an agent', messages: [user('Do it')], tools: [{}], conversationId: 'c1' };
  const summary = '\nYour task is to create a comprehensive, detailed summary of the entire conversation so';
  const answered = [...asked.messages, { role: 'assistant' as const, content: '<read_file></read_file>' }];
  expect(isSmallRequest(asked)).toBe(false);
  expect(isSmallRequest({ ...asked, system: undefined })).toBe(false);
  expect(isSmallRequest({ ...asked, tools: [] })).toBe(true);
  expect(isSmallRequest({ ...asked, tools: [], messages: answered })).toBe(true);
  expect(isSmallRequest({ ...asked, tools: [], messages: answered, conversationId: undefined })).toBe(false);
  expect(isSmallRequest({ ...asked, tools: [], conversationId: undefined })).toBe(true);
  expect(isSmallRequest({ ...asked, system: summary, messages: answered })).toBe(true);
  expect(isSmallRequest({ ...asked, system: summary, messages: answered, tools: [], conversationId: undefined })).toBe(
    true,
  );
});

it("a chat conversation's title is made of the user's words", () => {
  const request = (words: string) =>
    user({ type: 'text', text: `<context>x</context><userRequest>\n${words}\n</userRequest>` });
  expect(makeChatTitle([user({ type: 'text', text: '<environment_info/>' }), request('Fix the bug')])).toBe(
    'Fix the bug',
  );
  expect(makeChatTitle([request(' '), request('Then this')])).toBe('Then this');
  expect(makeChatTitle([{ role: 'assistant', content: 'no' }, user('plain')])).toBeUndefined();
});

it('a thrown value that is not an error is reported in the chat', () => {
  expect(toChatError('words')).toMatchObject({ message: 'words', stack: '' });
});

it("the cache of the chat's token counts is limited in size", async () => {
  let counted = 0;
  const counter = new MessageCounter({ count: (text) => (counted++, text.length) });
  const counts = new CachedTokenCounter(counter, () => Promise.reject(new Error('Nothing is long.')));
  for (let time = 0; time < 3; time++) await counts.countText('a schema', 2);
  expect(counted).toBe(1);
  expect(await counts.countText('a schema', 2)).toBe(16);
  const long = 'x'.repeat(10_000);
  for (let time = 0; time < 3; time++) await counts.countText(long, 1);
  expect(counted).toBe(2);
  for (let number = 0; number < 20_001; number++) await counts.countText(`text ${number}`, 1);
  await counts.countText('a schema', 1);
  expect(counted).toBe(2 + 20_001 + 1);
});

describe('texts about a running conversation', () => {
  const decision = {
    reason: 'threshold',
    tokensBefore: 900,
    tokensAfter: 500,
    contextWindow: 1_200,
    cache: { state: 'warm', basis: 'answers', ageMs: 1_000, spanMs: 7_200_000 },
    saving: { perRequest: 0.001, cacheBreak: 0.002, breakEvenRequests: 2 },
  } as const;
  const summary = (more: Partial<LiveSummary>): LiveSummary => ({
    id: 'c' as LiveId,
    title: 'A [task](command:x)',
    tokens: 500,
    contextWindow: 1_200,
    thresholdTokens: 900,
    messages: 4,
    condensations: [],
    canUndo: false,
    canRedo: false,
    pinned: [],
    isCareful: false,
    lastUsed: 0,
    isPreparing: false,
    ...more,
  });
  const condensation = {
    id: 'k' as CondensationId,
    at: '2026-01-01T10:00:00Z',
    provider: 'lossless',
    tokensBefore: 900,
    tokensAfter: 500,
    isUndone: false,
  };

  /** Returns the labels in a conversation's details. */
  const listDetailLabels = async (more: Partial<LiveSummary>): Promise<string> => {
    const live = { ...DESK, list: () => [summary(more)] };
    const nothing = () => Promise.resolve();
    fake.picks = [];
    await showLiveDetails({ live, condense: nothing, showDiff: nothing, openOriginal: nothing, pause: nothing });
    return fake.offered
      .at(-1)!
      .map(({ label }) => label)
      .join();
  };

  const unasked = () => Promise.reject(new Error('Nobody asks for it.'));
  const DESK = {
    ...{ undo: unasked, redo: unasked, toggleEdit: unasked },
    ...{ pin: unasked, unpin: unasked, view: unasked, compare: unasked, outline: unasked },
  };

  it("include the status bar's text, color and tooltip in each state", () => {
    const bar = new LiveStatusBar();
    const [item] = fake.statusBar.slice(-1);
    const getColor = (more: Partial<LiveSummary>): string | undefined => {
      bar.show(summary(more));
      return item?.backgroundColor?.id;
    };
    const whyNot = 'Lossless found nothing to remove.';
    const warning = 'statusBarItem.warningBackground';
    // The bar has no color below the threshold, if the next request is condensed, or far from the
    // window's end.
    expect([500, 890, 950].map((tokens) => getColor({ tokens }))).toEqual([undefined, undefined, undefined]);
    expect(getColor({ tokens: 890, whyNot })).toBeUndefined();
    expect(getColor({ tokens: 100, thresholdTokens: 84, whyNot })).toBeUndefined();
    expect(getColor({ tokens: 950, whyNot })).toBe(warning);
    expect(getColor({ tokens: 1_300 })).toBe('statusBarItem.errorBackground');
    bar.show(summary({ tokens: 950, isPaused: true }));
    expect(item?.text).toBe('$(debug-pause) 950 / 1K');
    expect(item?.tooltip?.shown).toContain('Paused: condensed only if a request would not fit into the window');
    bar.show(summary({}), true);
    expect(item?.text).toBe('$(circle-slash) Condensing off');
    expect(item?.tooltip?.shown).toContain('Condensing is off\n\nBefore it was turned off: 500 of 1,200 tokens (42%)');
    bar.show(summary({ tokens: 950, exhausted: 'Little more can be removed.' }));
    expect(item?.tooltip?.shown).toContain('Little more can be removed.');
    bar.show(summary({ isPreparing: true, condensations: [condensation], lastDecision: decision }));
    expect(item?.text).toBe('$(sync~spin) 500 / 1K');
    expect(item?.tooltip?.shown).toContain(
      '900 → 500 tokens (−44%)\n\nPrompt cache: warm (last request 1 second earlier; a request still read from it after 2 hours)\n\nPays for itself after 2 requests',
    );
    bar.show(summary({ tokens: 950, whyNot: 'Truncation found nothing to remove.' }));
    expect(item?.tooltip?.shown).toContain('Not condensed: Truncation found nothing to remove.');
    bar.show(summary({ tokens: 500, whyNot: 'That is long over.' }));
    expect(item?.tooltip?.shown).not.toContain('Not condensed:');
    const tool = { name: 'a', tokens: 300, calls: 1, callsElsewhere: 0 };
    const idle = { name: 'mcp_x_b', server: 'x', tokens: 1_200, calls: 0, callsElsewhere: 0 };
    bar.show(summary({ tools: [idle, tool] }));
    expect(item?.tooltip?.shown).toContain('Tools: 1,500 tokens in each request; 1 of 2 never called (1,200 tokens)');
    bar.show(summary({ tools: [tool, { ...idle, callsElsewhere: 1 }] }));
    expect(item?.tooltip?.shown).toMatch(/Tools: 1,500 tokens in each request$/);
    bar.show(undefined);
    expect(item?.isShown).toBe(false);
    bar.dispose();
    expect([999, 1_000, 999_499, 999_500, 1_250_000].map(formatTokensShort)).toEqual([
      '999',
      '1K',
      '999K',
      '1M',
      '1.3M',
    ]);
    expect(formatCondensationTotals(summary({}))).toBe('not condensed');
    expect(
      formatCondensationTotals(summary({ condensations: [condensation, { ...condensation, isUndone: true }] })),
    ).toBe('condensed once, −44%');
  });

  it('offer no diff if the agent only read results again', async () => {
    const newResults = { results: 0, tokens: 0, rereads: 2 };
    expect(formatNewResults(summary({ newResults }))).toEqual([
      'Read again right after a reference: 2 times; those files have been sent whole since then',
    ]);
    expect(await listDetailLabels({ newResults: { ...newResults, results: 0 } })).not.toContain('Show Diff');
    expect(await listDetailLabels({ newResults: { ...newResults, results: 1 } })).toContain('Show Diff');
  });

  it.each([
    ['Lossless', 950, 'It found nothing.', true],
    ['Lossless, then Smart (File-Aware) if that is not enough', 950, 'It found nothing.', false],
    ['Truncation', 950, 'It found nothing.', false],
    ['Lossless', 950, undefined, false],
    ['Lossless', 850, 'It found nothing.', false],
  ])('in the details, for provider %s, %d tokens and the reason "%s", offer Smart (File-Aware): %s', async (...row) => {
    const [condensedBy, tokens, whyNot, isOffered] = row;
    const labels = await listDetailLabels({ condensedBy, tokens, ...(whyNot !== undefined && { whyNot }) });
    expect(labels.includes('Use Smart (File-Aware)')).toBe(isOffered);
  });

  it('say what the next condensation waits for', () => {
    expect(describeNextCondensation(summary({}))).toBe('Otherwise automatic at 900 tokens');
    expect(describeNextCondensation(summary({ coldTokens: 600 }))).toBe(
      'Otherwise automatic at 900 tokens, or at 600 if the prompt cache has expired',
    );
    expect(describeNextCondensation(summary({ tokens: 950 }))).toBe(
      'Due with the next request: the threshold of 900 tokens has been reached',
    );
    expect(describeNextCondensation(summary({ tokens: 950, whyNot: 'No.' }))).toBe('Not condensed: No.');
  });

  it('in the log report every event, with the break-even point if relevant', async () => {
    const log = window.createOutputChannel();
    const manager = new CondensationManager(counter, [losslessProvider]);
    const done = () => Promise.resolve();
    const dependencies: NoticeDependencies = {
      providerName: (id) => manager.getProviderDisplayName(id),
      kind: () => 'none',
      targetPercent: () => 50,
      log,
      undo: done,
      showDiff: done,
      showDetails: done,
      getTitle: () => undefined,
    };
    // The outcome contains only what the log reports.
    const report = (event: object) => showLiveEvent(event as LiveEvent, dependencies);
    const outcome = { provider: 'lossless', tokensBefore: 900, steps: [], cost: 0, timeMs: 1, notes: [] };
    const coherence = measureCoherence([], []);
    const condensed = { ...outcome, kind: 'condensed', tokensAfter: 500, edits: [], view: [], coherence } as const;
    const conversation = 'c' as LiveId;
    await report({ kind: 'condensed', conversation, condensation: condensation.id, outcome: condensed, decision });
    const unchanged = { ...outcome, kind: 'unchanged', reason: 'nothing-to-gain', detail: 'Found nothing.' } as const;
    await report({ kind: 'not-condensed', conversation, outcome: unchanged, reason: 'window' });
    const refused = { ...outcome, provider: 'gone', kind: 'refused', violations: [] } as const;
    await report({ kind: 'not-condensed', conversation, outcome: refused, reason: 'window' });
    await report({ kind: 'problem', message: 'The disk is full.' });
    await report({ kind: 'changed', conversation });
    await report({ kind: 'preparing', conversation, isPreparing: true });
    const cold = {
      reason: 'by-hand',
      tokensBefore: 900,
      tokensAfter: 500,
      contextWindow: 1_200,
      cache: { state: 'unknown', basis: 'not-answered' },
    } as const;
    await report({
      kind: 'condensed',
      conversation,
      condensation: condensation.id,
      outcome: condensed,
      decision: cold,
    });
    expect(log.lines).toHaveLength(5);
    expect(log.lines[0]).toContain('Total reduction: 44% of the whole request (900 → 500 tokens)');
    expect(log.lines[0]).toMatch(
      /Window: 1,200 tokens\. Why: the threshold was reached\. Each later request costs \$0\.0010 less\. .* Prompt cache: warm/,
    );
    expect(log.lines.slice(1, 4)).toEqual([
      expect.stringContaining('Found nothing.'),
      expect.stringContaining('the result of gone would not be a valid conversation'),
      'The disk is full.',
    ]);
    expect(log.lines[4]).toMatch(
      /What it saves is not known because.* Prompt cache: unknown \(no answer of this model yet\)\./,
    );
  });
});
