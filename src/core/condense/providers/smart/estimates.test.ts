import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assistant, exchange } from '../../../testing';
import { freshCounter } from '../../../testingCounter';
import { applyEdits } from '../../edits/applyEdits';
import { testModel, testSummarizer } from '../../summary/testing';
import { EstimatedCalls } from './estimatedCalls';
import { Budget } from './passParts';
import { individual, many, prepared, SUMMARIZE, SUPPRESS, TASK, withModel, type PassInput } from './testing';

describe('estimates', () => {
  const passes: PassInput[] = [
    individual({ toolResults: SUMMARIZE }, { selection: { type: 'preserve_recent', count: 8 } }),
    {
      id: 'b',
      name: 'Batch',
      selection: { type: 'preserve_recent', count: 2 },
      mode: 'batch',
      batchConfig: { operation: 'summarize' },
    },
  ];

  it('are of the run itself: calls, cost and tokens per pass, without a call', async () => {
    const words = (count: number): string => Array.from({ length: count }, () => 'word').join(' ');
    const summarizer = testSummarizer(({ maxOutputTokens }) =>
      Promise.resolve(words(maxOutputTokens > 1_000 ? 900 : 32)),
    );
    const smart = { ...withModel(summarizer), samples: () => [] };
    const { provider, config, context } = prepared(many(8), passes, { smart });
    const estimate = await provider.estimate(context, config, {});
    const { cost } = estimate;
    expect(summarizer.requests).toEqual([]);
    expect(estimate).toMatchObject({ confidence: 'low', steps: [{ calls: 4 }, { calls: 1 }] });
    expect(estimate.costRange?.least).toBeLessThan(cost ?? 0);
    expect(estimate.costRange?.most).toBeGreaterThan(cost ?? 0);
    const made = await provider.condense(context, config, {});
    expect(made.estimatedCost).toBe(cost);
    const after = freshCounter().messages(applyEdits(context.messages, made.edits).messages);
    expect(Math.abs(after - estimate.tokensAfter)).toBeLessThan(0.2 * estimate.tokensBefore);
  });

  it('learn from what earlier calls gave', async () => {
    const seen = Array.from({ length: 6 }, () => ({ inputTokens: 600, outputTokens: 8, askedTokens: 40 }));
    const cost = async (samples: typeof seen): Promise<number> => {
      const smart = { ...withModel(testSummarizer([])), samples: () => samples };
      const { provider, config, context } = prepared(many(4), [individual({ toolResults: SUMMARIZE })], { smart });
      const { confidence, cost: expected } = await provider.estimate(context, config, {});
      expect(confidence).toBe(samples.length > 0 ? 'high' : 'low');
      return expected ?? NaN;
    };
    expect(await cost(seen)).toBeLessThan(await cost([]));
  });

  it('do not count a call twice that the run makes once', async () => {
    const summarizer = testSummarizer([Array.from({ length: 60 }, () => 'word').join(' ')]);
    // A text too short for its summary to be used stands there for the next pass, too.
    const pass = individual({ toolResults: { operation: 'summarize', maxTokens: 200 } });
    const messages = [TASK, ...exchange('1', 'Bash', { command: 'ls' }, 'a.ts b.ts '.repeat(6)), assistant('Done.')];
    const passesTwice = [pass, { ...pass, id: 'b' }];
    const { provider, config, context } = prepared(messages, passesTwice, { smart: withModel(summarizer) });
    const { steps } = await provider.estimate(context, config, {});
    const made = await provider.condense(context, config, {});
    expect(made.calls).toHaveLength(1);
    expect(steps.reduce((sum, { calls = 0 }) => sum + calls, 0)).toBe(1);
  });

  it('are exact without a model', async () => {
    const { provider, config, context } = prepared(many(6), [individual({ toolResults: SUPPRESS })]);
    const { confidence, tokensAfter } = await provider.estimate(context, config, {});
    expect(confidence).toBeUndefined();
    const { edits } = await provider.condense(context, config, {});
    expect(freshCounter().messages(applyEdits(context.messages, edits).messages)).toBe(tokensAfter);
  });
});

describe('the range of the cost', () => {
  // $1 for each token: costs are tokens.
  const model = testModel({
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
      share: fc.double({ min: 0, max: 1, noNaN: true }),
    })
    .map(({ input, expected, limit, share }) => ({
      input,
      expected: Math.min(expected, limit),
      limit,
      actual: Math.floor(limit * share),
    }));

  it('holds whatever a run with its limit spends, however long its replies are', () => {
    fc.assert(
      fc.property(
        fc.array(call, { minLength: 1, maxLength: 12 }),
        fc.integer({ min: 1, max: 4 }),
        fc.nat(600),
        fc.infiniteStream(fc.nat(3)),
        (calls, parallelCalls, maxCost, order) => {
          const estimatedCalls = new EstimatedCalls({ maxCost, parallelCalls });
          const planned = new Budget(maxCost);
          for (const { input, expected, limit } of calls) {
            if (typeof planned.reserve(input + expected, model) === 'string') estimatedCalls.noteStop();
            else estimatedCalls.note(model, usage(input, expected), limit, []);
          }
          const budget = new Budget(maxCost);
          const running: { settle: () => void }[] = [];
          let spent = 0;
          const end = (): void => {
            const [ended] = running.splice((order.next().value ?? 0) % running.length, 1);
            ended?.settle();
          };
          for (const { input, expected, actual } of calls) {
            if (running.length === parallelCalls) end();
            const reservation = budget.reserve(input + expected, model);
            if (typeof reservation === 'string') continue;
            spent += input + actual;
            running.push({
              settle: () => {
                reservation.settle(input + actual);
              },
            });
          }
          const most = estimatedCalls.figures.costRange?.most;
          // Where the estimatedCalls makes no call, there is no range; a run makes none either.
          if (most === undefined) return spent === 0;
          expect(spent).toBeLessThanOrEqual(most + 1e-6);
          return true;
        },
      ),
    );
  });

  it('ends at the limit, and what the calls under way can cost above their expectation', () => {
    const estimatedCalls = new EstimatedCalls({ maxCost: 100, parallelCalls: 2 });
    for (let index = 0; index < 40; index++) estimatedCalls.note(model, usage(1, 1), 51, []);
    expect(estimatedCalls.figures.costRange?.most).toBeCloseTo(100 + 2 * 50);
    expect(estimatedCalls.figures.callTokens).toEqual({ input: 40, output: 40, cacheRead: 0, cacheWrite: 0 });
  });
});
