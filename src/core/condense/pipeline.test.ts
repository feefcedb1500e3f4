import { describe, expect, it } from 'vitest';
import { makeToolExchange, makeLines, user } from '../testing';
import { createCounter } from '../testingCounter';
import { Draft } from './draft/draft';
import { runPipeline } from './pipeline';
import type { PipelineStep } from './draft/steps';
import type { CondensationProgress } from './types';

const counter = createCounter();
const FILE = makeLines('file', 200);
const messages = [user('task'), ...makeToolExchange('a', 'Read', {}, FILE)];

/** Creates a step that cuts this slice of the file's text. */
const createCutStep = (name: string, start: number, end: number, then?: () => void): PipelineStep => ({
  name,
  run(draft) {
    const place = { message: 2, path: ['content', 0, 'content'] };
    draft.cutText(name, place, [{ start, end, marker: name }], {
      contentType: 'toolResults',
      operation: 'cut',
      reason: name,
      strict: false,
    });
    then?.();
  },
});
const fails = (error: unknown) => (): never => {
  throw error;
};

describe('running a pipeline of steps', () => {
  it('runs the steps in order, reports each, and reports progress', async () => {
    const progress: CondensationProgress[] = [];
    const draft = new Draft(messages, counter);
    const steps = await runPipeline(draft, [createCutStep('two', 3_000, 4_000), createCutStep('one', 0, 1_000)], {
      onProgress: (one) => progress.push(one),
    });
    expect(steps.map(({ name, edits: count, outcome }) => [name, count, outcome.kind])).toEqual([
      ['two', 1, 'done'],
      ['one', 1, 'done'],
    ]);
    expect(steps[0]?.tokensAfter).toBe(steps[1]?.tokensBefore);
    expect(steps[1]?.tokensAfter).toBe(draft.tokens);
    expect(progress.map(({ step, done, total }) => `${step} ${done}/${total}`)).toEqual(['two 0/2', 'one 1/2', ' 2/2']);
  });

  it("reports a step's own progress as part of the progress of all steps", async () => {
    const progress: CondensationProgress[] = [];
    const talking: PipelineStep = { name: 'two', run: (_draft, _signal, report) => report?.('call 1 of 2') };
    await runPipeline(new Draft(messages, counter), [createCutStep('one', 0, 1_000), talking], {
      onProgress: (one) => progress.push(one),
    });
    expect(progress).toContainEqual({ step: 'two: call 1 of 2', done: 1, total: 2 });
  });

  it('skips the remaining steps once the target is met', async () => {
    const draft = new Draft(messages, counter);
    const steps = await runPipeline(draft, [createCutStep('a', 0, FILE.length), createCutStep('b', 0, 10)], {
      targetTokens: 100,
    });
    expect(steps[1]).toMatchObject({ edits: 0, tokensBefore: draft.tokens, tokensAfter: draft.tokens });
    expect(steps[1]?.outcome).toEqual({ kind: 'skipped', reason: 'the target was already met' });
  });

  it('drops a failed step’s changes and runs the next step', async () => {
    const draft = new Draft(messages, counter);
    const steps = await runPipeline(
      draft,
      [
        createCutStep('broken', 0, 3_000, fails(new Error('out of luck'))),
        createCutStep('odd', 0, 3_000, fails('a text')),
        createCutStep('good', 0, 1_000),
      ],
      {},
    );
    expect(steps.map(({ outcome }) => outcome)).toEqual([
      { kind: 'failed', reason: 'out of luck' },
      { kind: 'failed', reason: 'a text' },
      { kind: 'done' },
    ]);
    expect(steps[0]).toMatchObject({ edits: 0, tokensAfter: steps[0]!.tokensBefore });
    expect(draft.edits.map(({ step }) => step)).toEqual(['good']);
  });

  it('stops when aborted before or during a step', async () => {
    const draft = new Draft(messages, counter);
    const signal = AbortSignal.abort(new Error('stop'));
    await expect(runPipeline(draft, [createCutStep('a', 0, 10)], { signal })).rejects.toThrow('stop');
    const stop = new AbortController();
    const abort = (): never => {
      stop.abort(new Error('in the middle'));
      throw new Error('whatever');
    };
    await expect(runPipeline(draft, [createCutStep('a', 0, 3_000, abort)], { signal: stop.signal })).rejects.toThrow(
      'in the middle',
    );
    expect(draft.edits).toEqual([]);
  });

  it('lets other work run between steps', async () => {
    const order: string[] = [];
    const step = (name: string): PipelineStep => ({ name, run: () => void order.push(name) });
    setImmediate(() => {
      order.push('other work');
      setImmediate(() => order.push('more of it'));
    });
    await runPipeline(new Draft(messages, counter), [step('one'), step('two')], {});
    expect(order.indexOf('two') - order.indexOf('one')).toBeGreaterThan(1);
  });

  it('notices an abort during a step before the next one starts', async () => {
    const stop = new AbortController();
    let isNextRun = false;
    const steps: PipelineStep[] = [
      { name: 'one', run: () => void setImmediate(() => stop.abort(new Error('stop'))) },
      { name: 'two', run: () => void (isNextRun = true) },
    ];
    const running = runPipeline(new Draft(messages, counter), steps, { signal: stop.signal });
    await expect(running).rejects.toThrow('stop');
    expect(isNextRun).toBe(false);
  });

  it('drops a step whose result is refused, and reports why', async () => {
    const draft = new Draft(messages, counter);
    const refused: PipelineStep = { ...createCutStep('a', 0, 3_000), refuse: () => 'too few facts' };
    const steps = await runPipeline(draft, [refused], {});
    expect(steps).toMatchObject([{ edits: 0, outcome: { kind: 'failed', reason: 'too few facts' } }]);
    expect(draft.edits).toEqual([]);
  });

  it('repeats the steps once if that is worthwhile, never twice, and reports what that changed', async () => {
    const draft = new Draft(messages, counter);
    let runs = 0;
    const growing: PipelineStep = {
      name: 'growing',
      run: (work) => createCutStep('growing', 0, 1_000 * ++runs).run(work),
    };
    const idle: PipelineStep = { name: 'idle', run: () => undefined };
    const steps = await runPipeline(draft, [growing, idle], { shouldRunAgain: () => true });
    expect(runs).toBe(2);
    expect(steps.map(({ name, edits }) => [name, edits])).toEqual([
      ['growing', 1],
      ['idle', 0],
      ['growing', 1],
    ]);
  });

  it('repeats a step only once on text that was put back', async () => {
    const order: string[] = [];
    const watchStep = (_: Draft, { name }: PipelineStep) => {
      order.push(`before ${name}`);
      return async () => (order.push(`after ${name}`), true);
    };
    await runPipeline(new Draft(messages, counter), [{ name: 'a', run: () => void order.push('a') }], { watchStep });
    expect(order).toEqual(['before a', 'a', 'after a', 'before a', 'a', 'after a']);
  });

  it("reports a step's inner steps in its place, and skips later steps if the step ends the round", async () => {
    const report = { name: 'inner', tokensBefore: 3, tokensAfter: 2, edits: 1, timeMs: 0, cost: 0 } as const;
    const inner = { ...report, outcome: { kind: 'done' } } as const;
    const ending: PipelineStep = {
      name: 'outer',
      run: () => undefined,
      result: () => ({ reports: [inner], endsRound: true }),
    };
    const steps = await runPipeline(new Draft(messages, counter), [ending, createCutStep('never', 0, 1_000)], {});
    expect(steps).toEqual([inner]);
  });

  it("releases the steps' resources, also after a cancellation", async () => {
    const draft = new Draft(messages, counter);
    let isFree = false;
    draft.addReleaseListener(() => (isFree = true));
    await expect(runPipeline(draft, [], { signal: AbortSignal.abort(new Error('stop')) })).rejects.toThrow('stop');
    expect(isFree).toBe(true);
  });
});
