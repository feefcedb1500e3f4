import { describe, expect, it } from 'vitest';
import { DEFAULT_TOOLS } from '../../messages/tools';
import type { ApiMessage } from '../../messages/types';
import { listCuts } from '../../testing';
import { Draft } from '../draft/draft';
import { runPipeline } from '../pipeline';
import type { MechanicalStep } from '../draft/steps';
import {
  findCutsWithBrokenReferences,
  restoreBrokenCuts,
  RESTORED_REFERENCES_STEP_NAME,
  describeRestoredReferences,
  createRestorerOfBrokenReferences,
} from './integrity';
import { LINE_OPERATIONS, createRepeatedLinesStep } from './repeatedLines';
import { createLineNumbersStep } from './lineNumbers';
import { makeCodeLines, counter, makeExchange, numberLines, getShownResult, TASK_MESSAGE } from './testing';

const A = makeCodeLines('a', 1, 40);
const FILE = { file_path: '/work/a.ts' };
const messages: readonly ApiMessage[] = [
  TASK_MESSAGE,
  ...makeExchange('Read', FILE, `${numberLines(A)}\nfirst`),
  ...makeExchange('Read', FILE, `${numberLines(A)}\nlast`),
];
const KEPT = { message: 4, path: ['content', 0, 'content'] };

/** Removes the copy that was kept. */
const takeKept: MechanicalStep = {
  name: 'take',
  run(draft) {
    const end = draft.getText(KEPT).length;
    draft.cutText('take', KEPT, [{ start: 0, end, marker: 'taken' }], {
      contentType: 'toolResults',
      operation: 'cut',
      reason: 'test',
      strict: false,
    });
  },
};

/** Creates a draft on top of an earlier condensation. */
function createCondensedDraft(): Draft {
  const first = new Draft(messages, counter);
  for (const step of [
    ...createRepeatedLinesStep(DEFAULT_TOOLS, 'latest', LINE_OPERATIONS),
    createLineNumbersStep(DEFAULT_TOOLS),
  ]) {
    step.run(first);
  }
  const draft = new Draft(messages, counter, first.edits);
  expect(getShownResult(draft, 2)).toBe('[lines 1-40, shown later]\nfirst');
  // From here on, the check looks only at changes.
  expect(restoreBrokenCuts(draft)).toBe(0);
  return draft;
}

describe('the check of references after a condensation', () => {
  it('finds nothing wrong if all removed lines are still in the conversation', () => {
    const draft = createCondensedDraft();
    expect(findCutsWithBrokenReferences(messages, draft.messages, draft.shown.flat())).toEqual([]);
  });

  it('restores cuts whose kept copy is gone', () => {
    const draft = createCondensedDraft();
    takeKept.run(draft);
    const broken = findCutsWithBrokenReferences(messages, draft.messages, draft.shown.flat());
    expect(broken.map(({ place, line }) => [place.message, line])).toEqual([[2, A[0]]]);
    expect(restoreBrokenCuts(draft)).toBe(1);
    expect(getShownResult(draft, 2)).toBe(`${numberLines(A)}\nfirst`);
    expect(listCuts(draft.edits).at(-1)).toMatchObject({ step: RESTORED_REFERENCES_STEP_NAME, cuts: [], strict: true });
    expect(draft.tokens).toBe(counter.countMessages(draft.messages));
    expect(restoreBrokenCuts(draft)).toBe(0);
  });

  it('runs after a step of a pipeline, and later steps may condense what it restored', async () => {
    const draft = createCondensedDraft();
    let runs = 0;
    const counted: MechanicalStep = { name: 'take', run: (...args) => (runs++, takeKept.run(...args)) };
    await runPipeline(draft, [counted], { watchStep: createRestorerOfBrokenReferences() });
    expect(runs).toBe(2);
    expect(getShownResult(draft, 2)).toBe(`${numberLines(A)}\nfirst`);
  });

  it('reports the number of restored places', async () => {
    const draft = createCondensedDraft();
    await runPipeline(draft, [takeKept], { watchStep: createRestorerOfBrokenReferences() });
    const { edits } = draft;
    expect(describeRestoredReferences(edits)).toEqual([expect.stringContaining('One place was restored')]);
    const [first] = edits.filter(({ step }) => step === RESTORED_REFERENCES_STEP_NAME);
    expect(describeRestoredReferences([first!, first!])).toEqual([expect.stringContaining('2 places were restored')]);
    expect(describeRestoredReferences([])).toEqual([]);
  });

  it('finds a line whose number no longer follows from the line before it', () => {
    const only = [TASK_MESSAGE, ...makeExchange('Read', FILE, numberLines(A))];
    const draft = new Draft(only, counter);
    createLineNumbersStep(DEFAULT_TOOLS).run(draft);
    const place = { message: 2, path: ['content', 0, 'content'] };
    const info = { contentType: 'toolResults', operation: 'cut', reason: 'test', strict: false } as const;
    const end = draft.getText(place).indexOf(A[20] ?? '') - 1;
    draft.cutText('take', place, [{ start: 0, end, marker: 'some text' }], info);
    const broken = findCutsWithBrokenReferences(only, draft.messages, draft.shown.flat());
    expect(broken.map(({ cut, line }) => [only[2] && cut.text, line])).toEqual([['', '']]);
    expect(restoreBrokenCuts(draft)).toBe(1);
    expect(getShownResult(draft, 2).split('\n').slice(0, 2)).toEqual(['[some text]', `    21→${A[20] ?? ''}`]);
  });

  it('accepts a marker with line numbers as the line before', () => {
    const only = [TASK_MESSAGE, ...makeExchange('Read', FILE, numberLines(A))];
    const draft = new Draft(only, counter);
    createLineNumbersStep(DEFAULT_TOOLS).run(draft);
    const place = { message: 2, path: ['content', 0, 'content'] };
    const info = { contentType: 'toolResults', operation: 'cut', reason: 'test', strict: false } as const;
    const end = draft.getText(place).indexOf(A[20] ?? '') - 1;
    draft.cutText('take', place, [{ start: 0, end, marker: 'lines 1-20 are gone' }], info);
    expect(findCutsWithBrokenReferences(only, draft.messages, draft.shown.flat())).toEqual([]);
  });

  it('ignores cuts in messages that are not part of the checked conversation', () => {
    const place = { message: 9, path: ['content'] };
    expect(
      findCutsWithBrokenReferences([TASK_MESSAGE], [TASK_MESSAGE], [{ place, cuts: [{ start: 0, end: 1, text: '' }] }]),
    ).toEqual([]);
  });
});
