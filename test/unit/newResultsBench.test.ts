/**
 * Tests the benchmark that condenses the new results of recorded sessions, and the section of
 * docs/research/benchmarks.md that it writes.
 */
import { describe, expect, it } from 'vitest';
import { cutNewResults } from '../../src/core/condense/lossless/newResults';
import { makeCodeLines, makeExchange, numberLines, TASK_MESSAGE } from '../../src/core/condense/lossless/testing';
import { Draft } from '../../src/core/condense/draft/draft';
import { applyEdits } from '../../src/core/condense/edits/applyEdits';
import { createCounter } from '../../src/core/testingCounter';
import type { NewResultsPoint } from '../bench/newResultsBench';
import { isBelowThreshold, replay, RemovedLineCheck, type ReplayedRun } from '../bench/liveReplay';
import { newResultsSection, NEW_RESULTS_TITLE } from '../bench/newResultsSection';

const readFile = (from: number, to: number) =>
  makeExchange(
    'Read',
    { file_path: 'src/a.ts', offset: from, limit: to - from + 1 },
    numberLines(makeCodeLines('a', from, to), from),
  );
const messages = [TASK_MESSAGE, ...readFile(1, 90), ...readFile(30, 60)];

describe("the benchmark's proof that text removed from new results is still in the request", () => {
  const request = async () => {
    const draft = new Draft(messages, createCounter(), [], messages.length - 1);
    const { edits } = await cutNewResults(draft, { lossless: true });
    return applyEdits(messages, edits);
  };

  it('holds if the request contains the removed lines, and fails if one is missing', async () => {
    const sent = await request();
    expect(sent.edits).toHaveLength(1);
    new RemovedLineCheck('one').assert(sent, false);
    const shown = JSON.stringify(sent.messages).replace('const a45 =', 'const other =');
    const lost = { ...sent, messages: JSON.parse(shown) as typeof sent.messages };
    expect(() => {
      new RemovedLineCheck('one').assert(lost, false);
    }).toThrow(/^one: message 4 lost the line " *const a45 =/);
  });

  it('is repeated after a condensation, but not for a request that only grows', async () => {
    const sent = await request();
    const check = new RemovedLineCheck('one');
    check.assert(sent, false);
    const shown = JSON.stringify(sent.messages).replace('const a45 =', 'const other =');
    const lost = { ...sent, messages: JSON.parse(shown) as typeof sent.messages };
    check.assert(lost, false);
    expect(() => {
      check.assert(lost, true);
    }).toThrow('lost the line');
  });
});

it('a replay in the benchmark counts the same whether it is timed or uses known counts', async () => {
  const answers = [...messages, { role: 'assistant', content: 'Done.' } as const];
  const run = { name: 'one', messages: answers, window: Infinity, settings: {} };
  const timed = await replay(run);
  const { times, ...figures } = await replay({ ...run, counter: createCounter() });
  expect(times).toHaveLength(3);
  expect(timed).toMatchObject(figures);
  expect(figures.leftOut).toBeGreaterThan(0);
  const whole = await replay({ ...run, settings: { newResults: 'off' } });
  expect(figures.cost).toBeLessThan(whole.cost);
});

it('a replay in the benchmark in a window that requests never fill equals one without a window', async () => {
  const run = { name: 'one', messages: [...messages, { role: 'assistant', content: 'Done.' } as const], settings: {} };
  const endless = await replay({ ...run, window: Infinity });
  expect([200_000, 1_000].map((window) => isBelowThreshold(window, endless))).toEqual([true, false]);
  expect(await replay({ ...run, window: 200_000 })).toEqual({ ...endless, times: expect.any(Array) as number[] });
});

describe('the page section on new results', () => {
  const run = (cost: number, condensations = 0): ReplayedRun => ({
    requests: 3,
    cost,
    condensations,
    largest: 100,
    leftOut: 10,
    received: 100,
    times: [],
  });
  const bound: NewResultsPoint['bound'] = { chars: 10, cost: 10, sameFile: [2, 1], anywhere: [3, 2] };
  const point = (name: string, window: number, cost: number): NewResultsPoint => ({
    name,
    agent: 'claude-code',
    window,
    without: run(100, 2),
    with: run(cost, 1),
    ...(window === Infinity && { withoutProtection: run(cost - 1), withoutNoise: run(cost - 2) }),
    bound,
  });

  it('says whether the aims are reached and which sessions cost more', () => {
    const text = newResultsSection([point('claude-code/a', Infinity, 89), point('claude-code/a', 128_000, 102)]);
    expect(text.startsWith(`${NEW_RESULTS_TITLE}\n`)).toBe(true);
    expect(text).toContain('without a limit, −10 % of the cost, is reached: −11.0 %.');
    expect(text).toContain('in 128K, −6 % of the cost, is not reached: 2.0 %.');
    expect(text).toContain('Dearer than 1 % for it, by the timing of condensations: a in 128K (2.0 %).');
    expect(text).toContain('| claude-code, no limit | 1 | 3 | 10.0 % | −11.0 % | 2 → 1 | 0 | −11.0 % |');
    expect(text).toContain('| all | −11.0 % | −12.0 % | −13.0 % |');
  });

  it('says if no session costs more', () => {
    expect(newResultsSection([point('a', Infinity, 100.5)])).toContain('No session is dearer than 1 % for it.');
  });
});
