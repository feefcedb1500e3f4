/** Tests Summary with real SDKs and strict servers. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createAnthropicHandler } from '../../src/api/anthropic';
import { createBedrockHandler } from '../../src/api/bedrock';
import { createOpenAIHandler } from '../../src/api/openai';
import { loadPriceTable, type PricedModel } from '../../src/api/prices';
import { createSummarizer, type SummarizerOptions } from '../../src/api/summarizer';
import type { ApiHandler } from '../../src/api/types';
import { readConversationFile } from '../../src/conversations/readFile';
import { CondensationManager, createNativeProvider, type CondensationOutcome } from '../../src/core/condense';
import {
  computeTokenFactor,
  getEstimateError,
  createRunMetrics,
  getOutputSamples,
  type RunMetrics,
} from '../../src/core/condense/metrics/metrics';
import { SentPromptMemory } from '../../src/core/condense/summary/promptMemory';
import { selectSummarizer } from '../../src/core/condense/summarizer';
import type { CacheLifetime } from '../../src/core/cost/prices';
import { listContents } from '../../src/core/messages/content';
import { checkConversation } from '../../src/core/messages/firewall';
import type { ApiMessage } from '../../src/core/messages/types';
import { assistant, makeToolExchange, makeLines, user } from '../../src/core/testing';
import { startAnthropicServer } from '../servers/anthropicServer';
import {
  cutAtMaxTokens,
  emptyReply,
  makeFaultyReply,
  neverAnswer,
  makeOverloadedError,
  makeRateLimitError,
  refusal,
  reply,
  type Behaviour,
} from '../servers/behaviour';
import type { ModelServer } from '../servers/modelServer';
import { startOpenAIServer } from '../servers/openaiServer';
import { freshCounter } from '../generators/setups';
import { Random } from '../generators/random';

const servers: ModelServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

const counter = freshCounter();
const table = await loadPriceTable();
const SHORT_SUMMARY = '## Done\nAll files were read, and every question about them was answered.';
const QUICK = { retry: { retries: 2, firstWaitMs: 1 } } as object;

interface Vendor {
  readonly name: string;
  readonly priced: PricedModel;
  /** US dollars per million tokens, from the vendors' price lists. */
  readonly byHand: { readonly input: number; readonly output: number; readonly read: number; readonly write: number };
  readonly accounting: 'anthropic' | 'openai';
  readonly start: (factor: number) => Promise<ModelServer>;
  readonly handler: (url: string) => ApiHandler;
}

const SONNET = { input: 3, output: 15, read: 0.3, write: 3.75 };
const anthropic: Vendor = {
  name: 'anthropic',
  priced: { vendor: 'anthropic', model: 'claude-sonnet-4-20250514' },
  byHand: SONNET,
  accounting: 'anthropic',
  start: (tokenFactor) => startAnthropicServer({ tokenFactor }),
  handler: (baseUrl) =>
    createAnthropicHandler({
      ...QUICK,
      baseUrl,
      apiKey: 'sk-test-key',
      counter,
      model: { id: anthropic.priced.model, contextWindow: 200_000 },
    }),
};
const openai: Vendor = {
  name: 'openai',
  priced: { vendor: 'openai', model: 'gpt-4o-mini' },
  byHand: { input: 0.15, output: 0.6, read: 0.075, write: 0.15 },
  accounting: 'openai',
  start: (tokenFactor) => startOpenAIServer({ tokenFactor }),
  handler: (url) =>
    createOpenAIHandler({
      ...QUICK,
      baseUrl: `${url}/v1`,
      apiKey: 'sk-test-key',
      counter,
      model: { id: openai.priced.model, contextWindow: 128_000 },
    }),
};
const bedrock: Vendor = {
  name: 'bedrock',
  priced: { vendor: 'bedrock', model: 'us.anthropic.claude-sonnet-4-20250514-v1:0' },
  byHand: SONNET,
  accounting: 'anthropic',
  start: (tokenFactor) => startAnthropicServer({ tokenFactor }),
  handler: (baseUrl) =>
    createBedrockHandler({
      ...QUICK,
      baseUrl,
      region: 'eu-central-1',
      credentials: { apiKey: 'key' },
      counter,
      model: { id: bedrock.priced.model, contextWindow: 200_000 },
    }),
};

function managerFor(
  vendor: Vendor,
  url: string,
  more: Partial<SummarizerOptions> = {},
  parts: Partial<Parameters<typeof createNativeProvider>[0]> = {},
): CondensationManager {
  const prices = table.lookup(vendor.priced)?.prices;
  const summarizer = createSummarizer({
    profile: 'Test',
    handler: vendor.handler(url),
    ...(prices && { prices }),
    ...more,
  });
  return new CondensationManager(counter, [
    createNativeProvider({ select: () => selectSummarizer({ condensing: summarizer }), ...parts }),
  ]);
}

const conversation: ApiMessage[] = [
  user('Make the tests pass.'),
  ...Array.from({ length: 20 }, (_, index) =>
    makeToolExchange(`t${index}`, 'Read', { path: `f${index}` }, makeLines(`f${index}`, 60)),
  ).flat(),
  ...Array.from({ length: 4 }, (_, index) => [assistant(`answer ${index}`), user(`question ${index}`)]).flat(),
];
const request = { conversation: 'c', messages: conversation, trigger: 'manual' } as const;

async function started(
  vendor: Vendor,
  script: Behaviour | readonly Behaviour[] = reply(SHORT_SUMMARY),
  factor = 1.25,
): Promise<ModelServer> {
  const server = await vendor.start(factor);
  servers.push(server);
  server.play(script);
  return server;
}

/** Computes the cost in US dollars from the usage that the server reported. */
function byHand({ byHand: price, accounting }: Vendor, outcome: CondensationOutcome): number {
  return (outcome.calls ?? []).reduce((sum, { usage }) => {
    if (!usage) return sum;
    const { inputTokens, outputTokens, cacheReadTokens: read, cacheWriteTokens: write } = usage;
    const plain = accounting === 'openai' ? inputTokens - read : inputTokens;
    return (
      sum + (plain * price.input + outputTokens * price.output + read * price.read + write * price.write) / 1_000_000
    );
  }, 0);
}

describe.each([anthropic, openai, bedrock])('Summary with $name', (vendor) => {
  it('summarizes at the cost of the reported usage', async () => {
    const server = await started(vendor, reply(['## Goal\n', 'Make the tests pass.', SHORT_SUMMARY]));
    const outcome = await managerFor(vendor, server.url).condense(request);
    if (outcome.kind !== 'condensed') throw new Error(JSON.stringify(outcome));
    expect(outcome.cost).toBeCloseTo(byHand(vendor, outcome), 6);
    expect(outcome.calls).toMatchObject([{ model: vendor.priced.model, usage: { source: 'reported' } }]);
    expect(JSON.stringify(outcome.view[1])).toContain('Make the tests pass.');
    expect(checkConversation(outcome.view)).toEqual([]);
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    ['empty', emptyReply()],
    ['refused', refusal()],
    ['cut at its limit', cutAtMaxTokens('half a summ')],
    ['cut off', makeFaultyReply('cut')],
    ['without an end', makeFaultyReply('no-end')],
    ['malformed', makeFaultyReply('malformed')],
  ] as const)('never applies a reply that is %s', async (_, behaviour) => {
    const server = await started(vendor, behaviour);
    const outcome = await managerFor(vendor, server.url).condense(request);
    expect(outcome.kind).toBe('failed');
    expect(outcome.calls?.length).toBeGreaterThan(0);
    expect(JSON.stringify(outcome)).not.toContain('sk-test-key');
  });

  it('closes the request and changes nothing if it is cancelled midway', async () => {
    const server = await started(vendor, neverAnswer());
    const abort = new AbortController();
    const running = managerFor(vendor, server.url).condense({ ...request, signal: abort.signal });
    const sent = await server.request(0);
    abort.abort(new Error('stop'));
    expect(await running).toMatchObject({ kind: 'cancelled' });
    await sent.aborted;
  });
});

it('Summary retries after temporary failures of the vendor', async () => {
  const server = await started(anthropic, [makeRateLimitError(0), makeOverloadedError(), reply(SHORT_SUMMARY)]);
  const outcome = await managerFor(anthropic, server.url).condense(request);
  expect(outcome.kind).toBe('condensed');
  expect(server.requests).toHaveLength(3);
});

it('Summary splits a conversation for a window smaller than stated', async () => {
  const server = await startAnthropicServer({ maxContextTokens: 13_000, script: reply(SHORT_SUMMARY) });
  servers.push(server);
  const outcome = await managerFor(anthropic, server.url).condense({ ...request, config: { maxSummaryTokens: 500 } });
  expect(outcome).toMatchObject({ kind: 'condensed' });
  expect(server.requests.map(({ status }) => status)).toContain(400);
});

const CORPUS = join(import.meta.dirname, '../../../shared/corpus/claude-code');
const present = existsSync(CORPUS);
if (!present) console.warn(`NOT TESTED: the real conversations are not at ${CORPUS}`);

describe.skipIf(!present)('estimates of Summary', () => {
  it('are within 20 % of the actual cost in at least 27 of 30 runs, and costs match manual calculation', async () => {
    const histories = readdirSync(CORPUS)
      .sort()
      .map((name) => readConversationFile(join(CORPUS, name), { history: 'all' }).messages);
    /**
     * Replies of realistic length: the real agent's summaries of a full window, without thinking.
     */
    const summaries = histories.flatMap((messages) =>
      messages
        .filter((message) => message['isCompactSummary'] === true)
        .map((message) =>
          listContents(message)
            .map(({ text }) =>
              text
                .slice(Math.max(0, text.indexOf('Summary:\n')))
                .replace(/\n\n(?:If you need specific|Please continue)[\s\S]*$/, ''),
            )
            .join('\n'),
        ),
    );
    expect(summaries).toHaveLength(3);
    const random = new Random(20_251_120);
    const runs: RunMetrics[] = [];
    const rows: { readonly cached: number; readonly [column: string]: unknown }[] = [];
    // The factors differ, because vendors' tokenizers do.
    const bed = await Promise.all(
      (
        [
          [anthropic, 1.25],
          [openai, 1.05],
          [bedrock, 1.4],
        ] as const
      ).map(async ([vendor, factor]) => ({ vendor, server: await started(vendor, reply('x'), factor) })),
    );
    for (let run = 0; run < 30; run++) {
      const { vendor, server } = bed[run % 3]!;
      const whole = histories[Math.floor(run / 3)]!.filter((message) => message['isCompactSummary'] !== true);
      const isLong = run % 2 === 0;
      const isCached = run % 5 < 2;
      const messages = isLong ? whole : whole.slice(0, Math.ceil(whole.length / 3));
      const { model } = vendor.priced;
      const cacheLifetime: CacheLifetime = isCached ? '5m' : 'none';
      const factor = computeTokenFactor(runs, model);
      const manager = managerFor(
        vendor,
        server.url,
        { cacheLifetime, ...(factor !== undefined && { tokenFactor: factor }) },
        {
          samples: () => getOutputSamples(runs, model),
          memory: new SentPromptMemory(),
        },
      );
      const asked = {
        conversation: `${run}`,
        messages,
        trigger: 'manual',
        minimumGain: { percent: 0, tokens: 0 },
      } as const;
      if (isCached && run % 2 === 1) {
        // The first attempt fails, but leaves its request in the vendor's cache.
        server.play(refusal());
        runs.push(createRunMetrics(await manager.condense(asked), 'native', new Date()));
      }
      const { cost: estimate } = await manager.estimate(asked);
      server.play(reply(summaries[random.int(summaries.length)]!));
      const outcome = await manager.condense(asked);
      const metrics = createRunMetrics(outcome, 'native', new Date());
      expect(outcome.estimatedCost).toBe(estimate);
      expect(Math.abs((outcome.cost ?? NaN) - byHand(vendor, outcome))).toBeLessThan(0.0001);
      const usage = outcome.calls?.[0]?.usage;
      rows.push({
        vendor: vendor.name,
        tokens: outcome.tokensBefore,
        kind: outcome.kind,
        cached: usage?.cacheReadTokens ?? 0,
        written: usage?.cacheWriteTokens,
        output: usage?.outputTokens,
        estimate: estimate?.toFixed(4),
        actual: outcome.cost?.toFixed(4),
        error: getEstimateError(metrics)?.toFixed(1),
      });
      runs.push(metrics);
    }
    console.table(rows);
    const errors = runs.filter(({ reason }) => reason === undefined || reason === 'grew').map(getEstimateError);
    expect(errors).toHaveLength(30);
    expect(errors.filter((error) => error !== undefined && error <= 20).length).toBeGreaterThanOrEqual(27);
    expect(rows.filter(({ cached }) => cached > 0).length).toBeGreaterThanOrEqual(5);
  }, 300_000);
});
