import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../test/support/temporaryFolder';
import type { Summarizer, SummarizerModel, SummaryReply } from '../core/condense/summarizer';
import { createLimitedSummarizer } from './limitedSummarizer';
import { Spending, type SpendingLimits } from './spending';

let path: string;
let today: Date;
beforeEach(() => {
  path = join(temporaryFolder(), 'spending.jsonl');
  today = new Date(2026, 0, 2, 12);
});

const spending = (): Spending => new Spending(path, { now: () => today });
const NO_LIMIT: SpendingLimits = { perConversation: 0, perDay: 0 };
const CENTS_10: SpendingLimits = { perConversation: 0, perDay: 0.1 };

describe('expected costs that are recorded against a spending limit', () => {
  it('count in every window until the actual costs are known', async () => {
    const booking = await spending().bookSpending({ kind: 'own', conversation: 'a', atMost: 0.06 }, CENTS_10);
    expect(booking.kind).toBe('booked');
    // This call comes from another window while the first call is still pending.
    expect(await spending().bookSpending({ kind: 'own', conversation: 'b', atMost: 0.06 }, CENTS_10)).toEqual({
      kind: 'refused',
      limit: 'day',
      spent: 0.06,
      allowed: 0.1,
    });
    if (booking.kind === 'booked') await booking.settle(0.01);
    expect(await spending().readSpent('own', 'a')).toEqual({ day: 0.01, conversation: 0.01 });
    expect((await spending().bookSpending({ kind: 'own', conversation: 'b', atMost: 0.06 }, CENTS_10)).kind).toBe(
      'booked',
    );
  });

  it('count for their conversation on later days, but not for the limit of those days', async () => {
    const limits = { perConversation: 0.1, perDay: 0.1 };
    await spending().bookSpending({ kind: 'own', conversation: 'a', atMost: 0.1 }, limits);
    today = new Date(2026, 0, 3, 12);
    expect(await spending().bookSpending({ kind: 'own', conversation: 'a', atMost: 0.01 }, limits)).toMatchObject({
      kind: 'refused',
      limit: 'conversation',
    });
    expect((await spending().bookSpending({ kind: 'own', conversation: 'b', atMost: 0.1 }, limits)).kind).toBe(
      'booked',
    );
  });

  it('are counted separately for the chat and for our own calls of models', async () => {
    const booking = await spending().bookSpending({ kind: 'chat', conversation: 'a', atMost: 3 }, NO_LIMIT);
    if (booking.kind === 'booked') expect(await booking.settle(5)).toEqual({ day: 5, conversation: 5 });
    expect((await spending().bookSpending({ kind: 'own', conversation: 'a', atMost: 0.1 }, CENTS_10)).kind).toBe(
      'booked',
    );
  });

  it('are accepted for the chat while anything is left of the limit', async () => {
    const book = () => spending().bookSpending({ kind: 'chat', conversation: 'a', atMost: 0.06 }, CENTS_10);
    expect([(await book()).kind, (await book()).kind]).toEqual(['booked', 'booked']);
    expect(await book()).toEqual({ kind: 'refused', limit: 'day', spent: 0.12, allowed: 0.1 });
  });

  it('survive a line in their file that a crash cut off', async () => {
    await spending().bookSpending({ kind: 'own', atMost: 0.05 }, NO_LIMIT);
    appendFileSync(path, '{"id":"half","at":17');
    await spending().bookSpending({ kind: 'own', atMost: 0.02 }, NO_LIMIT);
    expect((await spending().readSpent('own', undefined)).day).toBeCloseTo(0.07, 10);
  });

  it('are rewritten without outdated ones once their file is long', async () => {
    const line = (id: string, at: Date): string =>
      `${JSON.stringify({ id, at: at.getTime(), kind: 'own', usd: 0.0001 })}\n`;
    const old = Array.from({ length: 2_000 }, (_, index) => line(`old ${index}`, new Date(2025, 0, 1))).join('');
    writeFileSync(path, old + line('new', today));
    await spending().bookSpending({ kind: 'own', atMost: 0.02 }, NO_LIMIT);
    expect(readFileSync(path, 'utf8').trim().split('\n')).toHaveLength(3);
    expect((await spending().readSpent('own', undefined)).day).toBeCloseTo(0.0201, 10);
  });
});

describe('many recorded costs of one day', () => {
  const settled = (count: number): string =>
    Array.from({ length: count }, (_, index) => {
      const booked = { id: `${index}`, at: today.getTime(), kind: 'chat', conversation: `c${index % 3}`, usd: 1 };
      return `${JSON.stringify(booked)}\n${JSON.stringify({ id: booked.id, settled: 0.25 })}\n`;
    }).join('');

  it('are combined, so that the file stays small and each limit gives the same answer', async () => {
    const booking = await spending().bookSpending({ kind: 'chat', conversation: 'c1', atMost: 5 }, NO_LIMIT);
    appendFileSync(path, settled(3_000));
    await spending().bookSpending({ kind: 'chat', conversation: 'c2', atMost: 3 }, NO_LIMIT);
    expect(readFileSync(path, 'utf8').trim().split('\n')).toHaveLength(6);
    expect(await spending().readSpent('chat', 'c1')).toEqual({ day: 758, conversation: 255 });
    // The pending call is settled only now, and the sums are computed again.
    if (booking.kind === 'booked') await booking.settle(1);
    appendFileSync(path, settled(3_000).replaceAll('"id":"', '"id":"again '));
    await spending().bookSpending({ kind: 'chat', conversation: 'c2', atMost: 3 }, NO_LIMIT);
    expect(await spending().readSpent('chat', 'c1')).toEqual({ day: 1_507, conversation: 501 });
    expect(readFileSync(path, 'utf8').trim().split('\n')).toHaveLength(6);
  });
});

describe('calling a model under a spending limit', () => {
  const MODEL: SummarizerModel = {
    profile: 'P',
    vendor: 'anthropic',
    model: 'm',
    accounting: 'anthropic',
    tokenFactor: 1,
    prices: { input: { base: 10 }, output: { base: 100 } },
    billing: 'per-token',
    cacheLifetime: 'none',
  };
  let asked: number;
  beforeEach(() => {
    asked = 0;
  });
  const reply: SummaryReply = { kind: 'complete', text: 'Short.', usage: undefined, cost: 0.02, timeMs: 1 };
  const model = (limits: SpendingLimits, over: Partial<SummarizerModel> = {}): Summarizer =>
    createLimitedSummarizer(
      {
        model: { ...MODEL, ...over },
        summarize: () => {
          asked += 1;
          return Promise.resolve(reply);
        },
      },
      { spending: spending(), limits: () => limits, count: (text) => text.length },
    );
  // A call costs at most $0.051: 1,000 tokens plus 10 % at $10, and 400 at $100 per million.
  const request = { system: '', prompt: 'x'.repeat(1_000), maxOutputTokens: 400 };

  it('succeeds while the limit is not reached, and otherwise fails with what to do', async () => {
    const limited = model(CENTS_10);
    // Each call costs $0.02. At the third, the sum may reach $0.04 + $0.051; at the fourth, more
    // than the limit of $0.10.
    for (let call = 0; call < 3; call++)
      expect((await limited.summarize(request, { conversation: 'a' })).kind).toBe('complete');
    const last = await limited.summarize(request, { conversation: 'a' });
    expect(last).toMatchObject({ kind: 'failed', cost: 0, canRetry: false });
    expect(last.kind === 'failed' && last.message).toMatch(
      /\$0\.06 of \$0\.10 .*today.*contextCondenser\.maxCostPerDay/,
    );
    expect(asked).toBe(3);
  });

  it('is possible for a model of unknown price only if there is no limit', async () => {
    const { prices, ...unknown } = MODEL;
    expect(prices).toBeDefined();
    const made = (limits: SpendingLimits): Summarizer =>
      createLimitedSummarizer(
        { model: unknown, summarize: () => Promise.resolve(reply) },
        { spending: spending(), limits: () => limits, count: (text) => text.length },
      );
    expect(await made(CENTS_10).summarize(request)).toMatchObject({ kind: 'failed', cost: 0 });
    expect((await made(NO_LIMIT).summarize(request)).kind).toBe('complete');
  });

  it('is not limited if the model is not billed per token', async () => {
    expect((await model({ perConversation: 0, perDay: 0.001 }, { billing: 'included' }).summarize(request)).kind).toBe(
      'complete',
    );
  });
});
