import { expect, it } from 'vitest';
import { temporaryFolder } from '../../test/support/temporaryFolder';
import { join } from 'node:path';
import type { SummaryReply } from '../core/condense/summarizer';
import { createLimitedSummarizer } from '../storage/limitedSummarizer';
import { Spending } from '../storage/spending';
import { ApiError, type ApiErrorDetails, type ApiErrorKind } from './apiError';
import { createSummarizer } from './summarizer';
import type { ApiHandler, ApiEvent } from './types';

const PRICES = { input: { base: 10 }, output: { base: 100 } };
const REQUEST = { system: '', prompt: 'x'.repeat(1_000), maxOutputTokens: 400 };

/**
 * Creates a model that sends these texts and then fails, by itself or because the caller aborts.
 */
const handler = (stream: (signal: AbortSignal | undefined) => AsyncGenerator<ApiEvent>): ApiHandler =>
  ({
    modelInfo: { vendor: 'test', id: 'm', accounting: 'openai' },
    stream: (_: unknown, signal?: AbortSignal) => stream(signal),
  }) as unknown as ApiHandler;

async function replyTo(kind: ApiErrorKind, details: Partial<ApiErrorDetails> = {}, said = ''): Promise<SummaryReply> {
  const model = handler(async function* () {
    await Promise.resolve();
    if (said !== '') yield { type: 'text', text: said };
    throw new ApiError(kind, { name: 'Test', ...details });
  });
  return createSummarizer({ profile: 'Test', handler: model, prices: PRICES }).summarize(REQUEST);
}

it.each<[ApiErrorKind, Partial<ApiErrorDetails>]>([
  ['aborted', {}],
  ['timeout', {}],
  ['protocol', {}],
  ['refusal', {}],
  ['network', { code: 'ECONNRESET' }],
])(
  'a summary call that ended with the error "%s" before any usage arrived may be billed, so its cost is unknown',
  async (kind, details) => {
    expect(await replyTo(kind, details)).toMatchObject({ usage: undefined, cost: undefined });
  },
);

it.each<[ApiErrorKind, Partial<ApiErrorDetails>]>([
  ['auth', {}],
  ['rate-limit', {}],
  ['overloaded', {}],
  ['context-too-long', {}],
  ['network', { code: 'ECONNREFUSED' }],
])('a summary call that failed with "%s" was not answered and cost nothing', async (kind, details) => {
  expect(await replyTo(kind, details)).toMatchObject({ usage: undefined, cost: 0 });
});

it('a summary call that broke off with an error after it began may be billed, so its cost is unknown', async () => {
  expect(await replyTo('overloaded', {}, 'Half a')).toMatchObject({ kind: 'cut-off', cost: undefined });
});

it('a complete summary without usage has an unknown cost', async () => {
  const model = handler(async function* () {
    await Promise.resolve();
    yield { type: 'text', text: 'Short.' };
    yield { type: 'end', stopReason: 'end_turn' };
  });
  const summarizer = createSummarizer({ profile: 'Test', handler: model, prices: PRICES });
  expect(await summarizer.summarize(REQUEST)).toMatchObject({ kind: 'complete', usage: undefined, cost: undefined });
});

it('a summary call counts at its expected cost if cancelled midway, and not at all if cancelled before it was sent', async () => {
  const hangUp = new AbortController();
  const model = handler(async function* (signal) {
    await Promise.resolve();
    // Aborts while the model reads.
    hangUp.abort();
    if (signal?.aborted === true) throw new ApiError('aborted', { name: 'Test' });
    yield { type: 'text', text: 'Nobody listens.' };
  });
  const spending = new Spending(join(temporaryFolder(), 'spending.jsonl'));
  const limited = createLimitedSummarizer(createSummarizer({ profile: 'Test', handler: model, prices: PRICES }), {
    spending,
    limits: () => ({ perConversation: 0, perDay: 0.2 }),
    count: (text) => text.length,
  });
  const call = () => limited.summarize(REQUEST, { conversation: 'a', signal: hangUp.signal });
  expect(await call()).toMatchObject({ kind: 'aborted', cost: undefined });
  // Expected cost: 1,100 prompt tokens (1,000 plus 10 %) at $10 per million, and 400 answer tokens
  // at $100 per million.
  expect((await spending.readSpent('own', 'a')).day).toBeCloseTo(0.051, 10);
  expect(await call()).toMatchObject({ kind: 'aborted', cost: 0 });
  expect((await spending.readSpent('own', 'a')).day).toBeCloseTo(0.051, 10);
});
