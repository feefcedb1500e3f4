import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assistant, makeToolExchange } from '../../../testing';
import { createCounter } from '../../../testingCounter';
import { applyEdits } from '../../edits/applyEdits';
import { makeTestModel, createTestSummarizer } from '../../summary/testing';
import { EstimatedCallCollector } from './estimatedCalls';
import { SpendingBudget } from './passParts';
import {
  createPass,
  createMessagesWithCalls,
  preparePass,
  SUMMARIZE_OPERATION,
  SUPPRESS_OPERATION,
  TASK_MESSAGE,
  createOptionsWithModel,
  type PassInput,
} from './testing';

describe('estimates of Smart', () => {
  const passes: PassInput[] = [
    createPass({ toolResults: SUMMARIZE_OPERATION }, { selection: { type: 'preserve_recent', count: 8 } }),
    {
      id: 'b',
      name: 'Batch',
      selection: { type: 'preserve_recent', count: 2 },
      mode: 'batch',
      batchConfig: { operation: 'summarize' },
    },
  ];

  it('match the calls, cost and tokens per pass of the actual condensation, without calling a model', async () => {
    const words = (count: number): string => Array.from({ length: count }, () => 'word').join(' ');
    const summarizer = createTestSummarizer(({ maxOutputTokens }) =>
      Promise.resolve(words(maxOutputTokens > 1_000 ? 900 : 32)),
    );
    const smart = { ...createOptionsWithModel(summarizer), samples: () => [] };
    const { provider, config, context } = preparePass(createMessagesWithCalls(8), passes, { smart });
    const estimate = await provider.estimate(context, config, {});
    const { cost } = estimate;
    expect(summarizer.requests).toEqual([]);
    expect(estimate).toMatchObject({ confidence: 'low', steps: [{ calls: 4 }, { calls: 1 }] });
    expect(estimate.costRange?.least).toBeLessThan(cost ?? 0);
    expect(estimate.costRange?.most).toBeGreaterThan(cost ?? 0);
    const made = await provider.condense(context, config, {});
    expect(made.estimatedCost).toBe(cost);
    const after = createCounter().countMessages(applyEdits(context.messages, made.edits).messages);
    expect(Math.abs(after - estimate.tokensAfter)).toBeLessThan(0.2 * estimate.tokensBefore);
  });

  it('use the lengths of earlier replies', async () => {
    const seen = Array.from({ length: 6 }, () => ({ inputTokens: 600, outputTokens: 8, askedTokens: 40 }));
    const cost = async (samples: typeof seen): Promise<number> => {
      const smart = { ...createOptionsWithModel(createTestSummarizer([])), samples: () => samples };
      const { provider, config, context } = preparePass(
        createMessagesWithCalls(4),
        [createPass({ toolResults: SUMMARIZE_OPERATION })],
        {
          smart,
        },
      );
      const { confidence, cost: expected } = await provider.estimate(context, config, {});
      expect(confidence).toBe(samples.length > 0 ? 'high' : 'low');
      return expected ?? NaN;
    };
    expect(await cost(seen)).toBeLessThan(await cost([]));
  });

  it('count a call once if the condensation makes it once', async () => {
    const summarizer = createTestSummarizer([Array.from({ length: 60 }, () => 'word').join(' ')]);
    // The summary of so short a text is not used, so the next pass finds the text again.
    const pass = createPass({ toolResults: { operation: 'summarize', maxTokens: 200 } });
    const messages = [
      TASK_MESSAGE,
      ...makeToolExchange('1', 'Bash', { command: 'ls' }, 'a.ts b.ts '.repeat(6)),
      assistant('Done.'),
    ];
    const passesTwice = [pass, { ...pass, id: 'b' }];
    const { provider, config, context } = preparePass(messages, passesTwice, {
      smart: createOptionsWithModel(summarizer),
    });
    const { steps } = await provider.estimate(context, config, {});
    const made = await provider.condense(context, config, {});
    expect(made.calls).toHaveLength(1);
    expect(steps.reduce((sum, { calls = 0 }) => sum + calls, 0)).toBe(1);
  });

  it('are exact if no pass uses a model', async () => {
    const { provider, config, context } = preparePass(createMessagesWithCalls(6), [
      createPass({ toolResults: SUPPRESS_OPERATION }),
    ]);
    const { confidence, tokensAfter } = await provider.estimate(context, config, {});
    expect(confidence).toBeUndefined();
    const { edits } = await provider.condense(context, config, {});
    expect(createCounter().countMessages(applyEdits(context.messages, edits).messages)).toBe(tokensAfter);
  });
});

describe('the cost range of an estimate of Smart', () => {
  // Each token costs $1, so costs equal tokens.
  const model = makeTestModel({
    prices: { input: { base: 1e6 }, output: { base: 1e6 }, cacheRead: { base: 0 }, cacheWrite: { base: 0 } },
  });
  const usage = (inputTokens: number, outputTokens: number) =>
    ({
      accounting: 'anthropic',
      source: 'counted',
      inputTokens,
      outputTokens,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
    }) as const;
  const call = fc
    .record({
      input: fc.nat(50),
      expected: fc.nat(50),
      limit: fc.nat(200),
    })
    .map(({ input, expected, limit }) => ({
      input,
      expected: Math.min(expected, limit),
      limit,
    }));

  it('never exceeds the limit, and says so if the limit shortens it', () => {
    fc.assert(
      fc.property(fc.array(call, { minLength: 1, maxLength: 12 }), fc.nat(600), (calls, maxCost) => {
        const estimated = new EstimatedCallCollector(maxCost);
        const unlimited = new EstimatedCallCollector();
        const budget = new SpendingBudget(maxCost);
        for (const { input, expected, limit } of calls) {
          unlimited.addCall(model, usage(input, expected), limit, []);
          if (typeof budget.reserveCost(input + expected, model) === 'string') estimated.stopCounting();
          else estimated.addCall(model, usage(input, expected), limit, []);
        }
        const { costRange } = estimated.figures;
        // If no call would be made, there is no range.
        if (!costRange) return;
        const all = unlimited.figures.costRange?.most ?? Infinity;
        expect(costRange.least).toBeLessThanOrEqual(costRange.most);
        expect(costRange.most).toBeCloseTo(Math.min(all, maxCost));
        if (all > maxCost) expect(costRange.endsAtLimit).toBe(true);
      }),
    );
  });

  it('has no limit if the calls are already paid for', () => {
    const estimated = new EstimatedCallCollector(100);
    estimated.addCall({ ...model, billing: 'included' }, usage(1, 1), 500, []);
    expect(estimated.figures.costRange).toEqual({ least: 1.4, most: 501 });
  });

  it("comes with the sum of the calls' token counts", () => {
    const estimated = new EstimatedCallCollector(100);
    for (let index = 0; index < 40; index++) estimated.addCall(model, usage(1, 1), 51, []);
    expect(estimated.figures.callTokens).toEqual({ input: 40, output: 40, cacheRead: 0, cacheWrite: 0 });
  });
});
