/** Tests the long task in VS Code's agent mode, with a strict server. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createCounter } from '../../../src/core/testingCounter';
import { startAnthropicServer } from '../../servers/anthropicServer';
import {
  DONE_ANSWER,
  longTask,
  longTaskServer,
  NOTES_PROMPT,
  PRICES,
  QUESTION,
  recallProof,
  TASK_PROMPT,
  WINDOW_TOKENS,
  NOTES_WRITTEN_ANSWER,
} from '../../servers/longTask';
import { figuresText, taskFigures } from '../../servers/taskFigures';
import type { NewResultsMode } from '../../../src/live/types';
import type { Bed, Scenario } from '../bed';
import { countCondensations, openLongTask } from '../longTask';
import { answerText, ask, screenshot } from '../workbench/index';
import { MARKER_START } from '../../../src/core/messages/markers';

/**
 * Each mode of condensing new results has its own run. Comparing their reports shows what each mode
 * saves (docs/decisions/0030).
 */
const runsToItsEndOnASmallWindow = async (bed: Bed, newResults: NewResultsMode): Promise<void> => {
  const folder = bed.folder();
  const task = longTask(folder);
  const counter = createCounter();
  const server = await startAnthropicServer(longTaskServer(task, (text) => counter.countText(text)));
  try {
    const bench = await openLongTask(bed, server, folder, task, {
      settings: { 'contextCondenser.agent.onArrival': newResults },
    });
    await ask(bench, TASK_PROMPT);
    await answerText(bench, (text) => text.includes(DONE_ANSWER), 900_000);
    await screenshot(bench, `long-task-${newResults}-dark`);
    const figures = taskFigures(server.requests, (text) => server.tokensOf(text), PRICES);
    const condensations = countCondensations(bench);
    bed.report(`new results: ${newResults}\n${figuresText(figures, condensations)}`);
    assert.deepEqual(figures.refused, []);
    assert.equal(figures.toolCalls, 120);
    assert.ok(figures.uncondensed.tokens > 400_000, 'the task would have reached 400,000 tokens');
    assert.ok(figures.largest <= WINDOW_TOKENS, 'no request over the window');
    assert.equal(figures.breaks.length, condensations, 'the prefix changes with a condensation, and only then');
    assert.ok(figures.cost < figures.uncondensed.cost, 'cheaper than uncondensed');

    await ask(bench, QUESTION);
    const answer = await answerText(bench, (text) => text.includes('LEDGER_GRACE_SECONDS'));
    assert.ok(answer.includes('52_417'), answer);
    const { wasInView, original, restored } = recallProof(task, server.requests);
    assert.ok(!wasInView, 'the answer stands nowhere in the view');
    assert.equal(restored, original, 'what was recalled has the hash of the original');
    await screenshot(bench, `long-task-${newResults}-recall-dark`);

    await ask(bench, NOTES_PROMPT);
    await answerText(bench, (text) => text.includes(NOTES_WRITTEN_ANSWER));
    const notes = readFileSync(task.notes, 'utf8');
    assert.ok(notes.includes(task.early.line) && !notes.includes(MARKER_START), 'no tool gets a marker');
  } finally {
    await server.close();
  }
};

const inTheLongLane = { seconds: 1_000, lane: 'long' as const };

export const oneHundredAndTwentyToolCalls: Scenario = Object.assign(
  (bed: Bed) => runsToItsEndOnASmallWindow(bed, 'lossless'),
  inTheLongLane,
);

export const oneHundredAndTwentyToolCallsWithNewResultsWhole: Scenario = Object.assign(
  (bed: Bed) => runsToItsEndOnASmallWindow(bed, 'off'),
  inTheLongLane,
);
