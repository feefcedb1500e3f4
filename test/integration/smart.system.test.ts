/** Tests Smart with a real SDK and a strict server. */
import { afterEach, describe, expect, it } from 'vitest';
import { createAnthropicHandler } from '../../src/api/anthropic';
import { loadPriceTable } from '../../src/api/prices';
import { createSummarizer } from '../../src/api/summarizer';
import { CondensationManager, createSmartProvider, type CondensationOutcome } from '../../src/core/condense';
import { getEstimateError, createRunMetrics } from '../../src/core/condense/metrics/metrics';
import type { SmartConfigInput } from '../../src/core/condense/providers/smart/config';
import { startAnthropicServer } from '../servers/anthropicServer';
import { neverAnswer, makeRateLimitError, reply, makeServerError } from '../servers/behaviour';
import type { ModelServer, Script } from '../servers/modelServer';
import { suiteRuns, SUMMARIZE_RESULTS } from '../fixtures/suiteRuns';
import { freshCounter } from '../generators/setups';

const servers: ModelServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

const table = await loadPriceTable();
const MODEL = 'claude-sonnet-4-20250514';
const counter = freshCounter();

const MESSAGES = suiteRuns();

interface Bed {
  readonly server: ModelServer;
  readonly condense: (signal?: AbortSignal) => Promise<CondensationOutcome>;
}

async function bed(script: Script, config: SmartConfigInput = SUMMARIZE_RESULTS): Promise<Bed> {
  const server = await startAnthropicServer({ script });
  servers.push(server);
  const handler = createAnthropicHandler({
    ...({ retry: { retries: 2, firstWaitMs: 1 } } as object),
    baseUrl: server.url,
    apiKey: 'sk-test-key',
    counter,
    model: { id: MODEL, contextWindow: 200_000 },
  });
  const prices = table.lookup({ vendor: 'anthropic', model: MODEL })?.prices;
  const summarizer = createSummarizer({ profile: 'Test', handler, ...(prices && { prices }) });
  const smart = createSmartProvider({ select: () => ({ summarizer, chosen: 'condensing-profile' }) });
  const manager = new CondensationManager(counter, [smart]);
  return {
    server,
    condense: (signal) =>
      manager.condense({
        conversation: 'c',
        messages: MESSAGES,
        config,
        trigger: 'manual',
        ...(signal && { signal }),
      }),
  };
}

/** A summary of about the length that is expected with a maximum of 80 tokens. */
const SUMMARY = `All 60 tests of the suite pass. ${'Nothing else was found in it. '.repeat(8)}`.trim();

describe('the calls for sixty summaries in one condensation', () => {
  it('run six at a time and cost what was estimated', async () => {
    let running = 0;
    let most = 0;
    const { server, condense } = await bed(async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
      return reply(SUMMARY);
    });
    const outcome = await condense();
    if (outcome.kind !== 'condensed') throw new Error(outcome.kind);
    expect(server.requests).toHaveLength(60);
    expect(most).toBeLessThanOrEqual(6);
    expect(outcome.edits).toHaveLength(60);
    expect(outcome.calls).toHaveLength(60);
    expect(getEstimateError(createRunMetrics(outcome, 'smart', new Date()))).toBeLessThan(20);
  });

  it('succeed after retries despite a vendor’s rate limits', async () => {
    // Six calls run at the same time and in any order. Each is rejected at most as often as it is
    // retried.
    const refusals = new Map<string, number>();
    const { condense } = await bed(({ body }) => {
      const request = JSON.stringify(body);
      const left = refusals.get(request) ?? refusals.size % 3;
      refusals.set(request, left - 1);
      return left > 0 ? makeRateLimitError(0) : reply(SUMMARY);
    });
    const outcome = await condense();
    if (outcome.kind !== 'condensed') throw new Error(outcome.kind);
    expect(outcome.calls?.filter(({ outcome: end }) => end === 'complete')).toHaveLength(60);
  });

  it('stop early if the vendor is down, and truncation is used instead', async () => {
    const { server, condense } = await bed(() => makeServerError());
    const outcome = await condense();
    if (outcome.kind !== 'condensed') throw new Error(outcome.kind);
    expect(outcome.edits).toHaveLength(60);
    // Six calls fail at the same time, and then up to three more, one after another; each call is
    // retried twice.
    expect(server.requests.length).toBeLessThanOrEqual(9 * 3);
    expect(outcome.notes.join()).toContain('60 of 60 summaries were not written');
  });

  it('stop when the condensation is canceled, which then changes nothing', async () => {
    const abort = new AbortController();
    let asked = 0;
    const { server, condense } = await bed(() => {
      if (++asked === 8) abort.abort(new Error('enough'));
      return asked > 6 ? neverAnswer() : reply(SUMMARY);
    });
    const outcome = await condense(abort.signal);
    expect(outcome.kind).toBe('cancelled');
    expect(outcome.calls?.length).toBeGreaterThan(0);
    expect(server.requests.length).toBeLessThanOrEqual(12);
  });
});
