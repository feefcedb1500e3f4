import { describe, expect, it } from 'vitest';
import { MessageCounter } from '../../../tokens/messageCounter';
import { createTestSummarizer } from '../../summary/testing';
import { makeToolExchange, makeLines } from '../../../testing';
import {
  createPass,
  createMessagesWithCalls,
  runPasses,
  SUMMARIZE_OPERATION,
  SUPPRESS_OPERATION,
  TASK_MESSAGE,
  createOptionsWithModel,
} from './testing';

describe('passes of Smart', () => {
  it('run in order until the target is met, if their conditions hold', async () => {
    const passes = [
      createPass({ toolResults: { operation: 'truncate', maxLines: 2 } }, { id: 'a', name: 'A' }),
      createPass(
        { toolResults: SUPPRESS_OPERATION },
        {
          id: 'b',
          name: 'B',
          execution: { type: 'conditional', condition: { tokenThreshold: 1_000_000 } },
        },
      ),
      createPass(
        { toolResults: SUPPRESS_OPERATION },
        { id: 'c', name: 'C', execution: { type: 'conditional', condition: { windowPercent: 1 } } },
      ),
      createPass({ toolResults: SUPPRESS_OPERATION }, { id: 'd', name: 'A' }),
      createPass({ toolResults: SUPPRESS_OPERATION }, { id: 'e', name: 'E', enabled: false }),
    ];
    const { result: made } = await runPasses(createMessagesWithCalls(4), passes);
    expect(made.steps.map(({ name, outcome }) => [name, outcome.kind])).toEqual([
      ['A', 'done'],
      ['B', 'skipped'],
      ['C', 'skipped'],
      ['A (2)', 'done'],
    ]);
    const met = await runPasses(createMessagesWithCalls(4), passes, { options: { targetTokens: 700 } });
    expect(met.result.steps.map(({ outcome }) => outcome.kind)).toEqual(['done', 'skipped', 'skipped', 'skipped']);
  });

  it('run only once if the reference check restored nothing, even if a pass is named like the check', async () => {
    let runs = 0;
    const selector = (_message: unknown, index: number): boolean => {
      if (index === 0) runs++;
      return true;
    };
    const pass = createPass(
      { toolResults: SUPPRESS_OPERATION },
      { name: 'Restored references', selection: { type: 'custom', selector } },
    );
    const { result: made } = await runPasses(createMessagesWithCalls(4), [pass], {
      config: { losslessPrelude: { enabled: true } },
    });
    expect(made.edits.map(({ step, operation }) => [step, operation])).toContainEqual([
      'Restored references',
      'suppress',
    ]);
    expect(runs).toBe(1);
  });

  it('are followed by Lossless if text was put back, even if more was put back than the passes removed', async () => {
    const shown = makeLines('shown', 12);
    const isLast = (_message: unknown, index: number): boolean => index === 6;
    const pass = createPass({ toolResults: SUPPRESS_OPERATION }, { selection: { type: 'custom', selector: isLast } });
    // Counts characters outside of markers as tokens, so that in one case the pass leaves the size
    // unchanged.
    const counter = new MessageCounter({ count: (text) => text.replaceAll(/⟦[^⟧]*⟧/gu, '').length });
    let even = 0;
    for (let rest = shown.length - 20; rest < shown.length + 5; rest++) {
      const messages = [
        TASK_MESSAGE,
        ...makeToolExchange('a', 'Probe', {}, `first\n${shown}`),
        ...makeToolExchange('b', 'Probe', {}, `second\n${shown}`),
        ...makeToolExchange('c', 'Probe', {}, `third\n${shown}\n${'x'.repeat(rest)}`),
      ];
      const setup = { config: { losslessPrelude: { enabled: true } } };
      const { result: made } = await runPasses(messages, [pass], { ...setup, context: { counter } });
      const step = made.steps.find(({ name }) => name === 'One');
      if (step?.tokensBefore === step?.tokensAfter) even++;
      const { result: again } = await runPasses(messages, [pass], {
        ...setup,
        context: { counter, edits: made.edits },
      });
      expect(again.edits).toEqual([]);
    }
    expect(even).toBe(1);
  });

  it('that fail are dropped as a whole, and the other passes run', async () => {
    let asked = 0;
    const selector = (): boolean => {
      if (++asked > 3) throw new Error('broken');
      return true;
    };
    const passes = [
      createPass(
        { toolResults: SUPPRESS_OPERATION },
        { id: 'a', name: 'Broken', selection: { type: 'custom', selector } },
      ),
      createPass({ toolResults: { operation: 'truncate', maxLines: 2 } }, { id: 'b', name: 'Whole' }),
    ];
    const { result: made } = await runPasses(createMessagesWithCalls(4), passes);
    expect(made.steps[0]?.outcome).toEqual({ kind: 'failed', reason: 'broken' });
    expect(new Set(made.edits.map(({ step }) => step))).toEqual(new Set(['Whole']));
  });

  it('change nothing if the condensation is cancelled, and its spending is reported', async () => {
    const abort = new AbortController();
    const summarizer = createTestSummarizer(() => {
      if (summarizer.requests.length === 2) abort.abort(new Error('enough'));
      return Promise.resolve('short');
    });
    const ran = runPasses(createMessagesWithCalls(4), [createPass({ toolResults: SUMMARIZE_OPERATION })], {
      smart: createOptionsWithModel(summarizer),
      options: { signal: abort.signal },
      config: { parallelCalls: 1 },
    });
    await expect(ran).rejects.toMatchObject({ message: 'enough', spent: { calls: [{}, {}] } });
  });
});
