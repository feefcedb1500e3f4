import { describe, expect, it } from 'vitest';
import { computeCallCost } from '../cost/callCost';
import type { ModelPrices } from '../cost/prices';
import type { ApiMessage } from '../messages/types';
import { MessageCounter } from '../tokens/messageCounter';
import { groupAccountInRows, makeAccountOverview, sumSessionAccounts, type SessionAccount } from './account';
import { computeComposition } from './composition';
import {
  fitTokenCalibration,
  simulateRequestUsage,
  listRequests,
  makeReplayedUsage,
  type RequestTokenCalibration,
} from './replay';

/** Counts one token per character plus four per message, for round figures. */
const counter = (): MessageCounter => new MessageCounter({ count: (text) => text.length });

const said = (role: 'user' | 'assistant', tokens: number): ApiMessage => ({ role, content: 'x'.repeat(tokens - 4) });

/** Per million tokens: $1 fresh, 10 cents cached, $2 written to the cache, $10 output. */
const PRICES: ModelPrices = {
  input: { base: 1 },
  output: { base: 10 },
  cacheRead: { base: 0.1 },
  cacheWrite: { base: 2 },
};

const CALIBRATION: RequestTokenCalibration = {
  fixed: 1_000,
  factor: 2,
  outputFactor: 3,
  cacheShare: 1,
  accounting: 'anthropic',
  cacheMs: 300_000,
  writes: 'short',
};

describe('requests reconstructed from a conversation', () => {
  const messages = [said('user', 100), said('assistant', 50), said('user', 200), said('assistant', 50)];

  it('contain the messages before each answer', () => {
    expect(listRequests(messages, counter(), [])).toEqual([
      { answer: 1, firstMessage: 0, sentTokens: 100, answerTokens: 50 },
      { answer: 3, firstMessage: 0, sentTokens: 350, answerTokens: 50 },
    ]);
  });

  it('start over after a compaction', () => {
    expect(listRequests(messages, counter(), [{ message: 2 }])).toEqual([
      { answer: 1, firstMessage: 0, sentTokens: 100, answerTokens: 50 },
      { answer: 3, firstMessage: 2, sentTokens: 200, answerTokens: 50 },
    ]);
  });

  it('read from the cache what the previous request sent, and cost what a manual calculation gives', () => {
    const usages = simulateRequestUsage(listRequests(messages, counter(), []), CALIBRATION);
    // The first request writes 1,000 + 2 · 100 tokens. The second has 1,000 + 2 · 350, of which it
    // reads 1,200 and writes 500. Each answer has 3 · 50.
    expect(usages).toEqual([
      makeReplayedUsage(1_200, 0, 150, 'anthropic', 'short'),
      makeReplayedUsage(1_700, 1_200, 150, 'anthropic', 'short'),
    ]);
    // In millionths of a dollar, these are 1,200 · 2 + 150 · 10 = 3,900 and 1,200 · 0.1 + 500 · 2 +
    // 150 · 10 = 2,620.
    expect(usages.map((usage) => computeCallCost(usage, PRICES))).toEqual([
      expect.closeTo(0.0039, 10),
      expect.closeTo(0.00262, 10),
    ]);
  });

  it('read nothing from an expired cache, and only the system prompt and tools from the cache after a compaction', () => {
    const [first, second] = listRequests(messages, counter(), []);
    if (!first || !second) throw new Error('two requests');
    const late = simulateRequestUsage(
      [
        { ...first, at: 1_000 },
        { ...second, at: 1_000 + 300_001 },
      ],
      CALIBRATION,
    );
    expect(late[1]?.cacheReadTokens).toBe(0);
    const compacted = simulateRequestUsage(listRequests(messages, counter(), [{ message: 2 }]), CALIBRATION);
    expect(compacted[1]?.cacheReadTokens).toBe(1_000);
  });
});

it("calibrating a session's token estimates recovers the figures that its usage was generated with", () => {
  const messages = Array.from({ length: 40 }, (_, index) => said(index % 2 ? 'assistant' : 'user', 300 + 10 * index));
  const requests = listRequests(messages, counter(), []);
  const pairs = simulateRequestUsage(requests, CALIBRATION).map((usage, index) => ({
    request: requests[index]!,
    usage,
  }));
  expect(fitTokenCalibration(pairs)).toEqual(CALIBRATION);
});

describe("the composition of a session's requests", () => {
  const call = (id: string, name: string, input: unknown): ApiMessage => ({
    role: 'assistant',
    content: [{ type: 'tool_use', id, name, input }],
  });
  const result = (id: string, content: string): ApiMessage => ({
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: id, content }],
  });
  const file = 'export const first_name = 1;\nexport const second_name = 2;\n';
  const log = Array.from({ length: 60 }, (_, line) => `nothing_of_interest_${line}`).join('\n');
  const messages: ApiMessage[] = [
    { role: 'user', content: 'Mend it.' },
    call('a', 'Read', { file_path: '/a.ts' }),
    result('a', file),
    call('b', 'Bash', { command: 'make' }),
    result('b', log),
    call('c', 'Read', { file_path: '/a.ts' }),
    result('c', file),
    { role: 'assistant', content: 'first_name is 1.' },
  ];
  const requests = listRequests(messages, counter(), []);
  const { parts, files, unused, sentOften } = computeComposition(messages, requests, counter(), 100);

  it('counts each part as often as it was sent', () => {
    // Of four requests, all contain the user's text, three the first read, two the log, and one the
    // second read.
    expect(parts.people).toBe(4 * 'Mend it.'.length);
    expect(parts.reads).toBe(3 * file.length);
    expect(parts.commands).toBe(2 * log.length);
    expect(parts.readAgain).toBe(file.length);
    expect(parts.fixed).toBe(4 * 100);
    // No request contained the last message.
    expect(parts.prose).toBe(0);
    expect(sentOften).toBe(0);
  });

  it('names files that were read twice, and tool outputs that were never mentioned again', () => {
    expect(files).toEqual([{ path: '/a.ts', reads: 2, tokens: 2 * file.length }]);
    expect(unused).toEqual([{ tool: 'Bash', what: 'make', tokens: log.length, sent: 2 }]);
  });

  it('counts the tokens of a message for each time it is sent beyond the tenth', () => {
    const long = Array.from({ length: 24 }, (_, index) => said(index % 2 ? 'assistant' : 'user', 10));
    // All twelve requests contain the first message, and eleven the next two.
    expect(computeComposition(long, listRequests(long, counter(), []), counter(), 0).sentOften).toBe(10 * 2 + 10 + 10);
  });

  it('excludes messages before a compaction from later requests', () => {
    const compacted = listRequests(messages, counter(), [{ message: 4 }]);
    expect(computeComposition(messages, compacted, counter(), 0).parts.people).toBe(2 * 'Mend it.'.length);
  });
});

const session = (over: Partial<SessionAccount>): SessionAccount => ({
  agent: 'Claude Code',
  path: '/one.jsonl',
  id: 'one',
  title: 'One',
  source: 'recorded',
  usage: [],
  fill: [],
  now: { tokens: 0, isRecorded: false },
  compactions: { count: 0, isEstimate: true },
  parts: computeComposition([], [], counter(), 0).parts,
  sentOften: 0,
  files: [],
  unused: [],
  calls: [],
  ...over,
});
const usage = {
  block: 0,
  replayed: 0,
  replayedCost: 0,
  requests: 2,
  fresh: 10,
  cacheWrite: 20,
  cacheRead: 30,
  output: 40,
  cost: 1.5,
  unpriced: 0,
};

describe('groups of the account', () => {
  const sessions = [
    session({
      usage: [
        { ...usage, day: '2026-01-02', model: 'm' },
        { ...usage, day: '2026-01-01', model: 'n' },
      ],
    }),
    session({
      agent: 'Codex',
      path: '/two.jsonl',
      source: 'replayed',
      usage: [{ ...usage, day: '2026-01-01', cost: 0, unpriced: 2, replayed: 2 }],
    }),
  ];

  it('sum up by agent, and say what was estimated and what has no price', () => {
    expect(groupAccountInRows(sessions, 'agent')).toEqual([
      expect.objectContaining({ key: 'Claude Code', sessions: 1, requests: 4, cost: 3, unpriced: 0, replayed: 0 }),
      expect.objectContaining({ key: 'Codex', sessions: 1, requests: 2, cost: 0, unpriced: 2, replayed: 2 }),
    ]);
  });

  it('are ordered by day, or named by model, including an unknown one', () => {
    expect(groupAccountInRows(sessions, 'day').map(({ key, requests }) => [key, requests])).toEqual([
      ['2026-01-01', 4],
      ['2026-01-02', 2],
    ]);
    expect(groupAccountInRows(sessions, 'model').map(({ key }) => key)).toEqual(['m', 'n', 'unknown']);
  });

  it('exclude earlier requests if they begin at a given day', () => {
    const { total, groups } = makeAccountOverview(sessions, '2026-01-02');
    expect(total).toMatchObject({ sessions: 1, requests: 2, cost: 1.5 });
    expect(groups.day.map(({ key }) => key)).toEqual(['2026-01-02']);
  });

  it('count the calls of each agent’s tools over its sessions', () => {
    const bash = { calls: [{ tool: 'Bash', calls: 2 }] };
    const all = [session(bash), session(bash), session({ ...bash, agent: 'Codex' })];
    expect(sumSessionAccounts(all).calls).toEqual([
      { agent: 'Claude Code', tool: 'Bash', calls: 4 },
      { agent: 'Codex', tool: 'Bash', calls: 2 },
    ]);
  });

  it('add up to the total', () => {
    const total = sumSessionAccounts(sessions);
    expect(total).toMatchObject({ sessions: 2, requests: 6, cost: 3, unpriced: 2, replayed: 2 });
  });
});

it('the account lists files that were read again and again by the number of their reads, not by their tokens', () => {
  const files = [
    { path: '/large.ts', reads: 2, tokens: 9_000 },
    { path: '/often.ts', reads: 30, tokens: 900 },
    { path: '/larger.ts', reads: 2, tokens: 9_500 },
  ];
  const { total } = makeAccountOverview([session({ files, usage: [{ day: '2026-01-02', ...usage }] })]);
  expect(total.files.map(({ path }) => path)).toEqual(['/often.ts', '/larger.ts', '/large.ts']);
});

it('the account lists a file once for a session and its forks, which repeat the session’s reads', () => {
  const read = (reads: number) => ({ files: [{ path: '/a.ts', reads, tokens: 100 }] });
  const forkOf = (path: string) => ({ above: { path, relation: 'fork' as const } });
  const account = { usage: [{ day: '2026-01-02', ...usage }] };
  const { total } = makeAccountOverview([
    session({ ...account, path: '/1', title: 'origin', ...read(30) }),
    session({ ...account, path: '/2', title: 'copy', ...forkOf('/1'), ...read(30) }),
    session({ ...account, path: '/3', title: 'continued copy', ...forkOf('/2'), ...read(31) }),
    session({ ...account, path: '/4', title: 'subagent', above: { path: '/1', relation: 'subagent' }, ...read(2) }),
  ]);
  expect(total.files.map(({ session: title, reads }) => [title, reads])).toEqual([
    ['continued copy', 31],
    ['subagent', 2],
  ]);
});
