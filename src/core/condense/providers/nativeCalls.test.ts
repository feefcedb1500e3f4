import { describe, expect, it } from 'vitest';
import { makeToolExchange, makeLines } from '../../testing';
import { createCounter } from '../../testingCounter';
import { CondensationManager } from '../manager';
import { selectSummarizer, type SummarizerModel } from '../summarizer';
import { createTestSummarizer } from '../summary/testing';
import { createNativeProvider } from './native';
import { createTestBed, condenseScripted, makeConversation, SUMMARY_REPLY, getMessageText } from './testingNative';

describe('the cost of Summary', () => {
  it('is that of its calls and matches the estimate', async () => {
    const { outcome, summarizer } = await condenseScripted(makeConversation());
    const [{ prompt, system } = { prompt: '', system: '' }] = summarizer.requests;
    const counter = createCounter();
    const input = counter.countText(prompt) + counter.countText(system);
    expect(outcome.cost).toBeCloseTo((input * 3 + counter.countText(SUMMARY_REPLY) * 15) / 1e6, 10);
    expect(outcome.estimatedCost).toBeGreaterThan(0);
    expect(outcome.calls).toMatchObject([{ profile: 'Work', vendor: 'anthropic', outcome: 'complete', timeMs: 1 }]);
  });

  it('is estimated from the same plan without a call', async () => {
    const { manager, summarizer } = createTestBed(makeConversation());
    const request = { conversation: 'c', messages: makeConversation(), trigger: 'manual' } as const;
    const estimate = await manager.estimate(request);
    const outcome = await manager.condense(request);
    expect(summarizer.requests).toHaveLength(1);
    expect(estimate.cost).toBe(outcome.estimatedCost);
    if (outcome.kind !== 'condensed') throw new Error();
    expect(estimate.tokensBefore).toBe(outcome.tokensBefore);
    expect(estimate.tokensAfter).toBeGreaterThan(outcome.tokensAfter * 0.5);
    expect(await manager.estimate({ ...request, messages: [] })).toMatchObject({ cost: 0, tokensAfter: 0 });
  });

  it('above the limit prevents the call, and the estimate says why', async () => {
    const { condense, summarizer, manager } = createTestBed(makeConversation());
    const request = { conversation: 'c', messages: makeConversation(), trigger: 'manual', maxCost: 0.001 } as const;
    const { refusal } = await manager.estimate(request);
    expect(refusal).toMatch(/^It would cost about \$0\.0\d+; at most \$0\.0010 may be spent on a condensation/);
    expect(await condense({ maxCost: 0.001 })).toMatchObject({ kind: 'unchanged', reason: 'over-budget', cost: 0 });
    expect(summarizer.requests).toHaveLength(0);
    expect(await condense({ maxCost: 10 })).toMatchObject({ kind: 'condensed' });
  });

  it('counts as above any limit if it is unknown, unless calls are not paid per token', async () => {
    const summarizer = createTestSummarizer([SUMMARY_REPLY]);
    const { prices, ...model } = summarizer.model;
    expect(prices).toBeDefined();
    const without = (billing: SummarizerModel['billing']) => {
      const provider = createNativeProvider({
        select: () => selectSummarizer({ condensing: { ...summarizer, model: { ...model, billing } } }),
      });
      return new CondensationManager(createCounter(), [provider]);
    };
    const request = { conversation: 'c', messages: makeConversation(), trigger: 'manual' } as const;
    expect((await without('per-token').estimate(request)).cost).toBeUndefined();
    expect(await without('per-token').condense({ ...request, maxCost: 5 })).toMatchObject({
      reason: 'over-budget',
      detail: expect.stringContaining('is not known'),
    });
    expect(await without('included').condense({ ...request, maxCost: 5 })).toMatchObject({ kind: 'condensed' });
  });
});

describe('for a window that is too small for the prompt of Summary, the summary', () => {
  const long = makeConversation(120);

  it('is written part by part, each call updating the summary so far', async () => {
    const counter = createCounter();
    const replies = ['first', 'second', 'third', 'fourth', 'last'].map((part) => `The ${part} part. ${SUMMARY_REPLY}`);
    const { condense, summarizer } = createTestBed(long, replies, { contextWindow: 20_000, maxOutputTokens: 2_000 });
    const outcome = await condense();
    if (outcome.kind !== 'condensed') throw new Error(JSON.stringify(outcome));
    const { requests } = summarizer;
    expect(requests.length).toBeGreaterThan(1);
    requests.forEach(({ system, prompt, maxOutputTokens }, index) => {
      expect(counter.countText(system) + counter.countText(prompt) + maxOutputTokens).toBeLessThan(20_000);
      if (index > 0) expect(prompt).toContain(replies[index - 1]);
    });
    const order = requests.flatMap(({ prompt }) =>
      [...prompt.matchAll(/file_path=\/w\/src\/file(\d+)\.ts/g)].map(([, n]) => Number(n)),
    );
    expect(order.filter((n, index) => index > 0 && n < (order[index - 1] ?? 0)).length).toBeLessThanOrEqual(1);
    expect(new Set(order).size).toBe(120);
    expect(getMessageText(outcome.view[1])).toContain(replies[requests.length - 1]);
    expect(outcome.notes.join()).toContain(`in ${requests.length} parts`);
    expect(outcome.calls).toHaveLength(requests.length);
    expect(outcome.cost).toBeCloseTo(outcome.calls?.reduce((sum, { cost }) => sum + (cost ?? 0), 0) ?? 0, 10);
  });

  it('is planned again, once and in smaller parts, if the window turns out smaller than stated', async () => {
    const { condense, summarizer } = createTestBed(makeConversation(60), ['too-long', 'shorter', 'shorter still']);
    expect(await condense()).toMatchObject({ kind: 'condensed' });
    expect(summarizer.requests.length).toBeGreaterThan(1);
    const never = createTestBed(makeConversation(60), ['too-long']);
    expect(await never.condense()).toMatchObject({ kind: 'failed' });
    expect(never.summarizer.requests).toHaveLength(4);
  });

  it('is written with our own prompt for the full window after the vendor’s compaction failed', async () => {
    const sent = async (script: readonly string[], compacts: boolean): Promise<(number | undefined)[]> => {
      const made = createTestBed(makeConversation(60), script, { compacts });
      await made.condense({ config: { vendorCompaction: compacts } });
      const { system = '', prompt = '' } = made.summarizer.requests.at(-1) ?? {};
      return [made.summarizer.requests.length, createCounter().countText(system + prompt)];
    };
    const [calls, tokens] = await sent(['too-long', 'shorter'], false);
    expect(await sent(['not-compacted', 'too-long', 'shorter'], true)).toEqual([Number(calls) + 1, tokens]);
  });

  it('is not planned again in smaller parts if that would exceed the cost limit', async () => {
    const { condense, summarizer, manager } = createTestBed(makeConversation(60), ['too-long']);
    const { cost = 0 } = await manager.estimate({
      conversation: 'c',
      messages: makeConversation(60),
      trigger: 'manual',
      vendor: 'anthropic',
    });
    expect(await condense({ maxCost: cost * 1.1 })).toMatchObject({ kind: 'failed' });
    expect(summarizer.requests).toHaveLength(1);
  });

  it('is not written if there is no room at all, which is reported', async () => {
    const { condense } = createTestBed(long, [SUMMARY_REPLY], { contextWindow: 1_500 });
    expect(await condense()).toMatchObject({
      kind: 'failed',
      error: { message: expect.stringContaining('too small') },
    });
  });

  it('is written only after repeated content was removed', async () => {
    const same = makeLines('same', 60);
    const messages = [
      ...makeConversation(4),
      ...Array.from({ length: 40 }, (_, index) =>
        makeToolExchange(`s${index}`, 'Read', { file_path: '/w/same.ts' }, same),
      ).flat(),
      ...makeConversation(0).slice(2),
    ];
    const { condense, summarizer } = createTestBed(messages, [SUMMARY_REPLY], {
      contextWindow: 30_000,
      maxOutputTokens: 2_000,
    });
    const outcome = await condense({ config: { resultChars: 100_000 } });
    expect(outcome).toMatchObject({ kind: 'condensed' });
    expect(outcome.notes.join()).toContain('Repeated content was left out');
    expect(summarizer.requests).toHaveLength(1);
  });
});

describe('the model that Summary calls', () => {
  const there = createTestSummarizer([SUMMARY_REPLY], { profile: 'Cheap', model: 'gpt-4o-mini' });
  const own = createTestSummarizer([SUMMARY_REPLY], { profile: 'Chat', model: 'claude-opus-4' });
  const gone = { profile: 'Cheap', reason: 'it has no key.' };

  it('is the condensing profile’s, otherwise the conversation’s own, with a warning', () => {
    expect(selectSummarizer({ condensing: there, conversation: own })).toEqual({
      summarizer: there,
      chosen: 'condensing-profile',
    });
    expect(selectSummarizer({ conversation: own })).toEqual({
      summarizer: own,
      chosen: 'conversation',
      warning: 'No model for summaries is chosen. The conversation’s own model (Chat, claude-opus-4) is used.',
    });
    expect(selectSummarizer({ condensing: gone, conversation: own })).toEqual({
      summarizer: own,
      chosen: 'conversation',
      warning: `The model “Cheap” can’t be used: it has no key. The conversation’s own model (Chat, claude-opus-4) is used.`,
    });
  });

  it('must be set up, and an error says how if it is not', () => {
    // The profile that the pass names is missing, and the condensing profile is not the
    // conversation's model.
    expect(selectSummarizer({ condensing: gone, fallback: own })).toEqual({
      summarizer: own,
      chosen: 'condensing-profile',
      warning: `The model “Cheap” can’t be used: it has no key. The model chosen for summaries (Chat, claude-opus-4) is used.`,
    });
    expect(() => selectSummarizer({ condensing: gone, fallback: { profile: 'Work', reason: 'offline.' } })).toThrow(
      `The model “Cheap” can’t be used: it has no key. The model chosen for summaries, “Work”, can’t be used: offline.`,
    );
    expect(() => selectSummarizer({})).toThrow('No model for summaries is chosen. Add one');
    expect(() => selectSummarizer({ condensing: gone, conversation: { profile: 'Chat', reason: 'offline.' } })).toThrow(
      `The model “Cheap” can’t be used: it has no key. The conversation’s own model can’t be used: offline.`,
    );
  });

  it('is in the report, and its warning appears once', async () => {
    const provider = createNativeProvider({ select: () => selectSummarizer({ condensing: gone, conversation: own }) });
    const manager = new CondensationManager(createCounter(), [provider]);
    const request = { conversation: 'c', messages: makeConversation(), trigger: 'manual' } as const;
    const first = await manager.condense(request);
    expect(first.steps[0]?.name).toBe('Summary by claude-opus-4 (Chat)');
    expect(first.notes).toEqual([expect.stringContaining('no key')]);
    expect((await manager.condense(request)).notes).toEqual([]);
  });
});
