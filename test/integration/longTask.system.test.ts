/** The long task of issue 5 without VS Code: the provider, the engine, the vendor's SDK and a strict server. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  DONE,
  longTask,
  MAX_OUTPUT,
  NOTES_PROMPT,
  QUESTION,
  recallProof,
  TASK_PROMPT,
  WINDOW,
  WRITTEN,
} from '../servers/longTask';
import { smartProvider } from '../../src/core/condense';
import { figuresText } from '../servers/taskFigures';
import { condensationsIn, taskBench, type TaskBench } from '../support/taskBench';
import { fake } from '../support/vscode';
import { MARKER_START } from '../../src/core/messages/markers';

const ROOT = '/home/dev/project';
const task = longTask(ROOT);
/** Of a task behind which a file that is recalled whole is too much for the window. */
const CALLS = 30;

let bench: TaskBench;
beforeEach(async () => {
  fake.reset();
  bench = await taskBench(ROOT, task);
});
afterEach(() => bench.close());

describe('a task of 120 tool calls on a window of 100,000 tokens', () => {
  it.each(['lossless', 'truncation'])(
    'runs to its end with %s, and what was condensed away is recalled',
    async (provider) => {
      const window = bench.open({ settings: { provider } });
      const chat = window.chat(bench.tools, 'conversation-1');
      expect(await chat.ask(TASK_PROMPT)).toBe(DONE);
      expect(chat.errors).toEqual([]);
      const figures = bench.figures();
      const condensations = condensationsIn(window.events).length;
      console.log(`${provider}\n${figuresText(figures, condensations)}`);
      expect(figures.refused).toEqual([]);
      expect(figures.toolCalls).toBe(120);
      expect(figures.uncondensed.tokens).toBeGreaterThan(400_000);
      expect(figures.largest).toBeLessThanOrEqual(WINDOW - MAX_OUTPUT);
      // Between two condensations each request begins with the one before, byte for byte.
      expect(figures.breaks).toHaveLength(condensations);
      // Each leaves room: none is followed by another at the next request.
      const requests = figures.breaks.map(({ request }) => request);
      expect(requests.filter((request) => requests.includes(request - 1))).toEqual([]);
      expect(figures.cost).toBeLessThan(figures.uncondensed.cost);

      const { line } = task.early;
      expect(await chat.ask(QUESTION)).toBe(line);
      const { wasInView, original, restored } = recallProof(task, bench.server.requests);
      expect(wasInView).toBe(false);
      expect(restored).toBe(original);

      // The marker that the model writes into a call's parameters is its original when the tool gets it.
      expect(await chat.ask(NOTES_PROMPT)).toBe(WRITTEN);
      expect(bench.workspace.text('notes.txt')).toContain(line);
      expect(bench.workspace.text('notes.txt')).not.toContain(MARKER_START);
    },
  );
});

describe('a question whose answer is recalled in parts, with which the request would not fit', () => {
  it('is answered: what makes room leaves what was recalled', async () => {
    const short = longTask(ROOT, CALLS);
    const other = await taskBench(ROOT, short);
    const options = { settings: { provider: 'truncation' }, providers: [smartProvider()], systemTokens: 25_600 };
    try {
      const window = other.open(options);
      const chat = window.chat(other.tools, 'conversation-1');
      expect(await chat.ask(TASK_PROMPT)).toBe(DONE);
      const before = condensationsIn(window.events).length;
      expect(await chat.ask(QUESTION)).toBe(short.early.line);
      expect(condensationsIn(window.events).slice(before)).toMatchObject([
        { decision: { reason: 'window' }, outcome: { provider: 'smart' } },
      ]);
    } finally {
      await other.close();
    }
  });
});
