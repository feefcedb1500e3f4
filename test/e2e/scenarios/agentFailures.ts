/** Tests failures during a task of VS Code's agent, after which the task continues. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createCounter } from '../../../src/core/testingCounter';
import { startAnthropicServer } from '../../servers/anthropicServer';
import { neverAnswer, makeOverloadedError, type Behaviour } from '../../servers/behaviour';
import { objects, type Json } from '../../servers/json';
import {
  DONE_ANSWER,
  longTask,
  longTaskServer,
  NOTES_PROMPT,
  partPrompt,
  PAUSE_ANSWER,
  PRICES,
  QUESTION,
  recallProof,
  TASK_PROMPT,
  WINDOW_TOKENS,
  NOTES_WRITTEN_ANSWER,
} from '../../servers/longTask';
import type { ModelServer, RecordedRequest } from '../../servers/modelServer';
import { scriptedAgent } from '../../servers/scriptedAgent';
import {
  answeredRequests,
  breakText,
  taskFigures,
  taskRequests,
  type PrefixBreak,
  type TaskFigures,
} from '../../servers/taskFigures';
import type { Scenario } from '../bed';
import { chatProfile, PROFILE_NAME, setKey } from '../condensedModel';
import { waitUntilStored, countCondensations, openLongTask, writeProject } from '../longTask';
import { answerText, ask, cancelAnswer, openChat, until } from '../workbench/index';
import { MARKER_START } from '../../../src/core/messages/markers';

const counter = createCounter();
const CALLS = 24;
/** Percentage of the window. It is so low that a few calls are enough to reach it several times. */
const THRESHOLD = 45;
/** Number of calls in each of two windows, which is enough for a condensation. */
const CALLS_IN_TWO = 24;
/** The steps at which the work pauses: after the first condensation, and later. */
const PAUSES = [14, 18] as const;

const computeFigures = (server: ModelServer): TaskFigures =>
  taskFigures(server.requests, (text) => server.tokensOf(text), PRICES);
const says = (behaviour: Behaviour, words: string): boolean => behaviour.kind === 'reply' && behaviour.text === words;

/** True for a break that VS Code causes, because it drops unsaved calls of a canceled turn. */
function isLeftOutByAgent({ request, message }: PrefixBreak, cancelled: RecordedRequest, server: ModelServer): boolean {
  const answered = answeredRequests(server.requests);
  const getMessages = ({ body }: RecordedRequest): readonly Json[] => objects(body['messages']);
  const [next, before] = [answered[request], getMessages(cancelled)];
  const turn = before.findLastIndex((each) => JSON.stringify(each).includes(partPrompt(1)));
  const isNext = next !== undefined && answered.find(({ index }) => index > cancelled.index) === next;
  return isNext && getMessages(next).length < before.length && message >= turn;
}

const overloadsReloadsAndCancels: Scenario = async (bed) => {
  const folder = bed.folder();
  const task = longTask(folder, CALLS, PAUSES);
  const scripted = scriptedAgent(task.turns);
  let steps = 0;
  let isHeld = false;
  const server = await startAnthropicServer({
    ...longTaskServer(task, (text) => counter.countText(text)),
    script(request) {
      const behaviour = scripted(request);
      if (taskRequests([request]).length === 0 || behaviour.kind !== 'reply') return behaviour;
      steps++;
      if (steps === 4) return makeOverloadedError();
      if (steps === 8) return { ...behaviour, fault: { kind: 'cut', after: 1 } };
      if (!isHeld || !says(behaviour, PAUSE_ANSWER)) return behaviour;
      return neverAnswer();
    },
  });
  try {
    // The question is about content that must be removed; another provider might keep it.
    const settings = { 'contextCondenser.provider': 'truncation', 'contextCondenser.threshold': THRESHOLD };
    const bench = await openLongTask(bed, server, folder, task, { settings });
    await ask(bench, partPrompt(0));
    await answerText(bench, (text) => text.includes(PAUSE_ANSWER), 300_000);
    assert.deepEqual(
      computeFigures(server).refused.map(({ status }) => status),
      [529],
    );
    assert.ok(countCondensations(bench) > 0, 'the first part is long enough to be condensed');

    await waitUntilStored(bench, PAUSE_ANSWER);
    await bench.reload();
    await openChat(bench, PROFILE_NAME);
    isHeld = true;
    await ask(bench, partPrompt(1));
    const held = await until(
      'the request that is held',
      () => taskRequests(server.requests).find(({ status }, index) => index > PAUSES[0] && status === undefined),
      300_000,
    );
    const clicked = Date.now();
    await cancelAnswer(bench);
    await held.aborted;
    bed.report(`the model saw the cancel after ${Date.now() - clicked} ms`);

    await ask(bench, partPrompt(2));
    await answerText(bench, (text) => text.includes(DONE_ANSWER), 300_000);
    const figures = computeFigures(server);
    assert.deepEqual(
      figures.refused.map(({ status }) => status),
      [529],
    );
    const own = figures.breaks.filter((each) => !isLeftOutByAgent(each, held, server));
    bed.report(`breaks: ${figures.breaks.length}, of them VS Code's own: ${figures.breaks.length - own.length}`);
    const answered = answeredRequests(server.requests);
    const told = own.map((each) => breakText(answered, each)).join('\n');
    assert.equal(
      own.length,
      countCondensations(bench),
      `the view is the same after the reload; it changed here:\n${told}`,
    );
    assert.ok(figures.largest <= WINDOW_TOKENS, 'no request over the window');
    bed.report(
      `cost $${figures.cost.toFixed(2)}, uncondensed $${figures.uncondensed.cost.toFixed(2)}; largest ${figures.largest}`,
    );

    await ask(bench, QUESTION);
    assert.match(await answerText(bench, (text) => text.includes('LEDGER_GRACE')), /52_417/);
    const { wasInView, original, restored } = recallProof(task, server.requests);
    assert.ok(!wasInView, 'the answer stands nowhere in the view');
    assert.equal(restored, original, 'what was recalled has the hash of the original');

    await ask(bench, NOTES_PROMPT);
    await answerText(bench, (text) => text.includes(NOTES_WRITTEN_ANSWER));
    const notes = readFileSync(task.notes, 'utf8');
    assert.ok(notes.includes(task.early.line) && !notes.includes(MARKER_START), 'no tool gets a marker');
  } finally {
    await server.close();
  }
};

export const goesOnAfterOverloadCutStreamReloadAndCancel = Object.assign(overloadsReloadsAndCancels, { seconds: 900 });

const twoWindowsWhoseSummaryNeverComes: Scenario = async (bed) => {
  const silent = await startAnthropicServer({ script: neverAnswer() });
  const folders = [bed.folder(), bed.folder()] as const;
  const tasks = folders.map((folder) => longTask(folder, CALLS_IN_TWO));
  const scripts = tasks.map(({ turns }) => scriptedAgent(turns));
  const findWindow = (request: RecordedRequest): number => (JSON.stringify(request.body).includes(folders[1]) ? 1 : 0);
  const [task] = tasks;
  assert.ok(task);
  const server = await startAnthropicServer({
    ...longTaskServer(task, (text) => counter.countText(text)),
    script: (request) => scripts[findWindow(request)]?.(request) ?? neverAnswer(),
  });
  const summarizer = chatProfile(silent, { id: 'silent', name: 'Silent', offerInChat: false });
  const settings = {
    'contextCondenser.provider': 'native',
    'contextCondenser.condensingProfile': 'silent',
    // Makes each failed attempt take the same time in both windows.
    'contextCondenser.agent.summaryWaitSeconds': 3,
  };
  try {
    const first = await openLongTask(bed, server, folders[0], task, { profiles: [summarizer], settings });
    const second = await bed.openOn(first.server, { folder: folders[1], agent: true });
    writeProject(folders[1], task.files);
    // Each window of code-server has its own secret store.
    await setKey(first, 'Silent');
    await setKey(second);
    await setKey(second, 'Silent');
    await openChat(second, PROFILE_NAME);
    for (const bench of [first, second]) await ask(bench, TASK_PROMPT);
    for (const bench of [first, second]) await answerText(bench, (text) => text.includes(DONE_ANSWER), 600_000);
    assert.ok(silent.requests.length > 0, 'the model that summarizes was asked');
    const figures = folders.map((_, index) =>
      taskFigures(
        server.requests.filter((request) => findWindow(request) === index),
        (text) => server.tokensOf(text),
        PRICES,
      ),
    );
    for (const { refused, toolCalls, breaks } of figures) {
      assert.deepEqual(refused, []);
      assert.equal(toolCalls, CALLS_IN_TWO);
      assert.ok(breaks.length > 0);
    }
    const breaks = figures.reduce((sum, each) => sum + each.breaks.length, 0);
    assert.equal(breaks, countCondensations(first), 'neither window disturbs the other');
  } finally {
    await Promise.all([silent.close(), server.close()]);
  }
};

export const goesOnInTwoWindowsWhoseSummaryNeverComes = Object.assign(twoWindowsWhoseSummaryNeverComes, {
  seconds: 1_000,
  // In every run, test/integration/longTask.system.test.ts covers two windows and a summary that
  // never arrives.
  lane: 'long' as const,
});
