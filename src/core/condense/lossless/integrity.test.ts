import { describe, expect, it } from 'vitest';
import { DEFAULT_TOOLS } from '../../messages/tools';
import type { ApiMessage } from '../../messages/types';
import { cutsOf } from '../../testing';
import { Draft } from '../draft/draft';
import { Pace } from '../../pace';
import { runSteps, type DraftStep } from '../draft/steps';
import { brokenCuts, keepingReferences, restoreBroken, RESTORED, restoredNotes, restoredReferences } from './integrity';
import { LINE_OPERATIONS, repeatedLines } from './repeatedLines';
import { lineNumbers } from './lineNumbers';
import { code, counter, did, read, resultAt, TASK } from './testing';

const A = code('a', 1, 40);
const FILE = { file_path: '/work/a.ts' };
const messages: readonly ApiMessage[] = [
  TASK,
  ...did('Read', FILE, `${read(A)}\nfirst`),
  ...did('Read', FILE, `${read(A)}\nlast`),
];
const KEPT = { message: 4, path: ['content', 0, 'content'] };

/** Takes out the copy that was kept. */
const takeKept: DraftStep = {
  name: 'take',
  run(draft) {
    const end = draft.text(KEPT).length;
    draft.cut('take', KEPT, [{ start: 0, end, marker: 'taken' }], {
      contentType: 'toolResults',
      operation: 'cut',
      reason: 'test',
      strict: false,
    });
    return Promise.resolve();
  },
};

/** A draft on what a condensation before has left. */
async function condensed(): Promise<Draft> {
  const first = new Draft(messages, counter);
  for (const step of [...repeatedLines(DEFAULT_TOOLS, 'latest', LINE_OPERATIONS), lineNumbers(DEFAULT_TOOLS)]) {
    await step.run(first, new Pace());
  }
  const draft = new Draft(messages, counter, first.edits);
  expect(resultAt(draft, 2)).toBe('[lines 1-40, shown later]\nfirst');
  // From here on the check only looks at what has changed.
  expect(await restoreBroken(draft, new Pace())).toBe(0);
  return draft;
}

/** A stretch is always over. */
class Busy extends Pace {
  turns = 0;
  override get isDue(): boolean {
    return true;
  }
  override yieldNow(): Promise<void> {
    this.turns++;
    return Promise.resolve();
  }
}

describe('the check', () => {
  it('gives the thread back wherever it looks at a message or a call for the first time', async () => {
    const calls = 20;
    const long = [TASK, ...Array.from({ length: calls }, (_, at) => did('Read', FILE, `${read(A)}\n${at}`)).flat()];
    const pace = new Busy();
    await restoreBroken(new Draft(long, counter), pace);
    // All but the task: the messages of the original and of the view are read, their calls' layouts learnt, and the view's lines counted.
    const behindTask = long.length - 1;
    expect(pace.turns).toBeGreaterThanOrEqual(3 * behindTask + 2 * calls);
  });

  it('finds nothing where all that was left out stands', async () => {
    const draft = await condensed();
    expect(await brokenCuts(messages, draft.messages, draft.shown.flat())).toEqual([]);
  });

  it('finds cuts whose kept copy is gone, and restores them', async () => {
    const draft = await condensed();
    await takeKept.run(draft, new Pace());
    const broken = await brokenCuts(messages, draft.messages, draft.shown.flat());
    expect(broken.map(({ place, line }) => [place.message, line])).toEqual([[2, A[0]]]);
    expect(await restoreBroken(draft, new Pace())).toBe(1);
    expect(resultAt(draft, 2)).toBe(`${read(A)}\nfirst`);
    expect(cutsOf(draft.edits).at(-1)).toMatchObject({ step: RESTORED, cuts: [], strict: true });
    expect(draft.tokens).toBe(counter.messages(draft.messages));
    expect(await restoreBroken(draft, new Pace())).toBe(0);
  });

  it('runs after a step, which may then work on what was restored', async () => {
    const draft = await condensed();
    let runs = 0;
    const counted: DraftStep = { name: 'take', run: (...args) => (runs++, takeKept.run(...args)) };
    await keepingReferences(counted).run(draft, new Pace());
    expect(runs).toBe(2);
    expect(resultAt(draft, 2)).toBe(`${read(A)}\nfirst`);
    const idle: DraftStep = { name: 'idle', run: () => Promise.resolve() };
    await keepingReferences(idle).run(draft, new Pace());
  });

  it('tells how many places were restored', async () => {
    const draft = await condensed();
    const { edits } = await runSteps(draft, [keepingReferences(takeKept)], {});
    expect(restoredNotes(edits)).toEqual([expect.stringContaining('One place was restored')]);
    const [first] = edits.filter(({ step }) => step === RESTORED);
    expect(restoredNotes([first!, first!])).toEqual([expect.stringContaining('2 places were restored')]);
    expect(restoredNotes([])).toEqual([]);
  });

  it('restores at the end what a step broke that was not followed by the check', async () => {
    const draft = await condensed();
    const { steps } = await runSteps(draft, [takeKept, restoredReferences(DEFAULT_TOOLS)], {});
    expect(steps.at(-1)).toMatchObject({ name: RESTORED, edits: 1 });
    expect(await brokenCuts(messages, draft.messages, draft.shown.flat())).toEqual([]);
  });

  it('has nothing to do at the end of a run that changed nothing', async () => {
    const { steps } = await runSteps(new Draft(messages, counter), [restoredReferences(DEFAULT_TOOLS)], {});
    expect(steps).toMatchObject([{ name: RESTORED, edits: 0, outcome: { kind: 'done' } }]);
  });

  it('finds a number whose line before is gone', async () => {
    const only = [TASK, ...did('Read', FILE, read(A))];
    const draft = new Draft(only, counter);
    await lineNumbers(DEFAULT_TOOLS).run(draft, new Pace());
    const place = { message: 2, path: ['content', 0, 'content'] };
    const info = { contentType: 'toolResults', operation: 'cut', reason: 'test', strict: false } as const;
    const end = draft.text(place).indexOf(A[20] ?? '') - 1;
    draft.cut('take', place, [{ start: 0, end, marker: 'some text' }], info);
    const broken = await brokenCuts(only, draft.messages, draft.shown.flat());
    expect(broken.map(({ cut, line }) => [only[2] && cut.text, line])).toEqual([['', '']]);
    expect(await restoreBroken(draft, new Pace())).toBe(1);
    expect(resultAt(draft, 2).split('\n').slice(0, 2)).toEqual(['[some text]', `    21→${A[20] ?? ''}`]);
  });

  it('takes a marker that tells the lines for the line before', async () => {
    const only = [TASK, ...did('Read', FILE, read(A))];
    const draft = new Draft(only, counter);
    await lineNumbers(DEFAULT_TOOLS).run(draft, new Pace());
    const place = { message: 2, path: ['content', 0, 'content'] };
    const info = { contentType: 'toolResults', operation: 'cut', reason: 'test', strict: false } as const;
    const end = draft.text(place).indexOf(A[20] ?? '') - 1;
    draft.cut('take', place, [{ start: 0, end, marker: 'lines 1-20 are gone' }], info);
    expect(await brokenCuts(only, draft.messages, draft.shown.flat())).toEqual([]);
  });

  it('knows cuts of messages that it does not have for nothing', async () => {
    const place = { message: 9, path: ['content'] };
    expect(await brokenCuts([TASK], [TASK], [{ place, cuts: [{ start: 0, end: 1, text: '' }] }])).toEqual([]);
  });
});

describe('a step that is followed by the check', () => {
  it('is skipped where it says so, as it would be alone', () => {
    const skip = (): string => 'not now';
    const step = keepingReferences({ name: 'a', skip, run: () => Promise.resolve() });
    expect(step).toMatchObject({ name: 'a', skip });
  });
});
