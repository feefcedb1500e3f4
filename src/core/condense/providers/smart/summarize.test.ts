import { describe, expect, it } from 'vitest';
import { makeToolExchange, makeLines } from '../../../testing';
import { createCounter } from '../../../testingCounter';
import { MARKER_EXAMPLE } from '../../../messages/markers';
import { createTestSummarizer } from '../../summary/testing';
import {
  createPass,
  preparePass,
  LONG_TEXT,
  createMessagesWithCalls,
  runPasses,
  SUMMARIZE_OPERATION,
  TASK_MESSAGE,
  createOptionsWithModel,
  RESULT_PATH,
  makeInputPath,
} from './testing';

describe('the summarize operation', () => {
  it("puts the model's summary before a marker and describes the tool call in the prompt", async () => {
    const summarizer = createTestSummarizer([
      `<summary>All 40 tests pass ${MARKER_EXAMPLE.at(0)!}x${MARKER_EXAMPLE.at(-1)!}.</summary>`,
    ]);
    const { getTextAt: at, result: made } = await runPasses(
      createMessagesWithCalls(1),
      [createPass({ toolResults: SUMMARIZE_OPERATION })],
      {
        smart: createOptionsWithModel(summarizer),
      },
    );
    expect(at(2, ...RESULT_PATH)).toBe('All 40 tests pass x.\n[summarized from 40 lines]');
    const [request] = summarizer.requests;
    expect(request?.prompt).toMatch(
      /^Result of the call that the first line names:\n<(content-\w+)>\nBash command="run 0"\n\nr0 line 0 [^]*<\/\1>/,
    );
    expect(request?.prompt).toContain('At most 24 words.');
    // 92 tokens are for the summary, the rest for thinking before it.
    expect(request?.maxOutputTokens).toBe(92 + 8_192);
    expect(made.calls).toMatchObject([{ askedTokens: 40, outcome: 'complete', chosen: 'condensing-profile' }]);
    expect(made.steps.at(-1)).toMatchObject({ name: 'One', calls: 1, edits: 1, cost: made.cost });
  });

  it('leaves a thinking model enough output tokens for its answer', async () => {
    const thinks = createTestSummarizer(({ maxOutputTokens }) =>
      Promise.resolve(maxOutputTokens < 2_000 ? 'cut-at-limit' : 'All 40 tests pass.'),
    );
    const { result: made } = await runPasses(
      createMessagesWithCalls(1),
      [createPass({ toolResults: SUMMARIZE_OPERATION })],
      {
        smart: createOptionsWithModel(thinks),
      },
    );
    expect(made.calls).toMatchObject([{ outcome: 'complete' }]);
  });

  it('puts one summary of all parameters into the longest parameter, and keeps parameters that identify the call', async () => {
    const parameters = { file_path: 'a.ts', old_string: makeLines('old', 20), new_string: LONG_TEXT };
    const summarizer = createTestSummarizer(['A constant was renamed.']);
    const messages = [TASK_MESSAGE, ...makeToolExchange('a', 'Edit', parameters, 'done')];
    const { getTextAt: at } = await runPasses(messages, [createPass({ toolParameters: SUMMARIZE_OPERATION })], {
      smart: createOptionsWithModel(summarizer),
    });
    expect(summarizer.requests).toHaveLength(1);
    expect(at(1, ...makeInputPath('file_path'))).toBe('a.ts');
    expect(at(1, ...makeInputPath('new_string'))).toBe('A constant was renamed.\n[summarized from 40 lines]');
    expect(at(1, ...makeInputPath('old_string'))).toBe('[20 lines, summarized beside]');
  });

  it('limits the number of parallel calls and reports which call runs', async () => {
    let running = 0;
    let most = 0;
    const summarizer = createTestSummarizer(async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
      return 'short';
    });
    const reported: string[] = [];
    const onProgress = ({ step }: { step: string }): void => void reported.push(step);
    await runPasses(createMessagesWithCalls(9), [createPass({ toolResults: SUMMARIZE_OPERATION })], {
      smart: createOptionsWithModel(summarizer),
      options: { onProgress },
      config: { parallelCalls: 3 },
    });
    expect(summarizer.requests).toHaveLength(9);
    expect(most).toBe(3);
    expect(reported).toContain('One: call 3 of 9');
    expect(reported).toContain('One: call 9 of 9');
  });

  it('pays only once for the same content, within a run and across runs', async () => {
    const summarizer = createTestSummarizer(['short']);
    const messages = [
      TASK_MESSAGE,
      ...makeToolExchange('a', 'Bash', { command: 'x' }, LONG_TEXT),
      ...makeToolExchange('b', 'Bash', { command: 'x' }, LONG_TEXT),
    ];
    const passes = [createPass({ toolResults: SUMMARIZE_OPERATION })];
    const { provider, config, context } = preparePass(messages, passes, { smart: createOptionsWithModel(summarizer) });
    for (let times = 0; times < 2; times++) {
      const made = await provider.condense({ ...context, counter: createCounter() }, config, {});
      expect(made.edits).toHaveLength(2);
    }
    expect(summarizer.requests).toHaveLength(1);
  });

  it.each(['truncate', 'keep'] as const)(
    'uses the configured fallback if the model call fails: %s',
    async (onFailure) => {
      const summarizer = createTestSummarizer(['short', 'failed', 'short']);
      const pass = createPass({ toolResults: { ...SUMMARIZE_OPERATION, onFailure } });
      const { getTextAt: at, result: made } = await runPasses(createMessagesWithCalls(3), [pass], {
        smart: createOptionsWithModel(summarizer),
        config: { parallelCalls: 1 },
      });
      expect(at(2, ...RESULT_PATH)).toContain('short');
      expect(at(6, ...RESULT_PATH)).toContain('short');
      if (onFailure === 'keep') expect(at(4, ...RESULT_PATH)).toBe(makeLines('r1', 40));
      else expect(at(4, ...RESULT_PATH)).toMatch(/^r1 line 0 .*\[\d+ lines truncated\].*$/s);
      expect(made.notes?.join()).toContain('1 of 3 summaries were not written: The model said: failed.');
    },
  );

  it('stops calling a model that fails three times in a row', async () => {
    const summarizer = createTestSummarizer(['failed']);
    const { result: made } = await runPasses(
      createMessagesWithCalls(9),
      [createPass({ toolResults: SUMMARIZE_OPERATION })],
      {
        smart: createOptionsWithModel(summarizer),
        config: { parallelCalls: 1 },
      },
    );
    expect(summarizer.requests).toHaveLength(3);
    expect(made.edits).toHaveLength(9);
  });

  it('discards a summary that is not shorter', async () => {
    const summarizer = createTestSummarizer([makeLines('longer', 60)]);
    const { result: made } = await runPasses(
      createMessagesWithCalls(1),
      [createPass({ toolResults: SUMMARIZE_OPERATION })],
      {
        smart: createOptionsWithModel(summarizer),
      },
    );
    expect(made.edits).toEqual([]);
    expect(made.calls).toHaveLength(1);
  });

  it('truncates if there is no model, and says so', async () => {
    const { getTextAt: at, result: made } = await runPasses(createMessagesWithCalls(1), [
      createPass({ toolResults: SUMMARIZE_OPERATION }),
    ]);
    expect(at(2, ...RESULT_PATH)).toContain('lines truncated');
    expect(made.notes).toEqual([
      expect.stringMatching(/^1 of 1 summaries were not written: No model for summaries is chosen\./),
    ]);
    expect(made.cost).toBe(0);
  });

  it('masks keys in requests to another vendor', async () => {
    const key = `sk-${'ant0'.repeat(6)}`;
    const messages = [TASK_MESSAGE, ...makeToolExchange('a', 'Bash', {}, `${LONG_TEXT}\n${key}`)];
    const own = createTestSummarizer(['short']);
    await runPasses(messages, [createPass({ toolResults: SUMMARIZE_OPERATION })], {
      smart: createOptionsWithModel(own),
      context: { vendor: 'anthropic' },
    });
    expect(own.requests[0]?.prompt).toContain(key);
    const other = createTestSummarizer(['short'], { vendor: 'openai' });
    await runPasses(messages, [createPass({ toolResults: SUMMARIZE_OPERATION })], {
      smart: createOptionsWithModel(other),
      context: { vendor: 'anthropic' },
    });
    expect(other.requests[0]?.prompt).not.toContain(key);
  });

  it('masks the result and its call before truncating them', async () => {
    const key = `ghp_${'a7Bq9z'.repeat(6)}`;
    const other = createTestSummarizer(['short'], { vendor: 'openai', contextWindow: 4_000 });
    const call = { command: `echo ${'x'.repeat(150)}`, description: `${'y'.repeat(150)} ${key}`, password: 'hunter22' };
    const messages = [TASK_MESSAGE, ...makeToolExchange('a', 'Bash', call, `${key}\n`.repeat(400))];
    await runPasses(messages, [createPass({ toolResults: SUMMARIZE_OPERATION })], {
      smart: createOptionsWithModel(other),
      context: { vendor: 'anthropic' },
    });
    expect(other.requests[0]?.prompt).toContain('[key]');
    expect(other.requests[0]?.prompt).not.toMatch(/a7Bq9z|hunter22/);
  });

  it('fits its request into the model’s window', async () => {
    const summarizer = createTestSummarizer(['short'], { contextWindow: 4_000 });
    const messages = [TASK_MESSAGE, ...makeToolExchange('a', 'Bash', {}, makeLines('a', 4_000))];
    await runPasses(messages, [createPass({ toolResults: SUMMARIZE_OPERATION })], {
      smart: createOptionsWithModel(summarizer),
    });
    expect(createCounter().countText(summarizer.requests[0]?.prompt ?? '')).toBeLessThan(3_600);
  });
});

describe('the budget of a condensation with Smart', () => {
  const pass = createPass({ toolResults: SUMMARIZE_OPERATION });

  it('is checked before each call, and calls above it are not started', async () => {
    const summarizer = createTestSummarizer(['short']);
    const { provider, config, context } = preparePass(createMessagesWithCalls(6), [pass], {
      smart: createOptionsWithModel(summarizer),
    });
    const whole = (await provider.estimate(context, config, {})).cost ?? NaN;
    expect(summarizer.requests).toEqual([]);
    const made = await provider.condense(context, config, { maxCost: whole / 2 });
    expect(summarizer.requests.length).toBeGreaterThan(0);
    expect(summarizer.requests.length).toBeLessThan(6);
    expect(made.cost).toBeLessThanOrEqual(whole / 2);
    expect(made.notes?.join()).toMatch(/of 6 summaries were not written: It would cost about/);
  });

  it('allows no call with an unknown price', async () => {
    const priced = createTestSummarizer(['short']);
    const { profile, vendor, model, accounting, tokenFactor, billing, cacheLifetime } = priced.model;
    const unpriced = { ...priced, model: { profile, vendor, model, accounting, tokenFactor, billing, cacheLifetime } };
    const { result: made } = await runPasses(createMessagesWithCalls(2), [pass], {
      smart: createOptionsWithModel(unpriced),
      options: { maxCost: 1 },
    });
    expect(unpriced.requests).toEqual([]);
    expect(made.notes?.join()).toContain('The price of claude-sonnet-4 is not known');
  });
});
