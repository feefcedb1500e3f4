/**
 * Runs the long task without VS Code, with provider, engine, SDK and a strict server: first
 * undisturbed, then with failures. `wires.system.test.ts` tests all wires.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createCounter } from '../../src/core/testingCounter';
import { createNativeProvider, createSmartProvider } from '../../src/core/condense';
import { createProfileSummarizer } from '../../src/settings/profileSummarizer';
import { storeApiKey } from '../../src/settings/keys';
import type { ApiProfile } from '../../src/settings/profiles';
import { startAnthropicServer } from '../servers/anthropicServer';
import { neverAnswer, makeOverloadedError, reply, type Behaviour } from '../servers/behaviour';
import {
  DONE_ANSWER,
  longTask,
  MAX_OUTPUT,
  NOTES_PROMPT,
  partPrompt,
  PAUSE_ANSWER,
  PRICES,
  QUESTION,
  recallProof,
  TASK_PROMPT,
  WINDOW_TOKENS,
  NOTES_WRITTEN_ANSWER,
} from '../servers/longTask';
import type { ModelServer } from '../servers/modelServer';
import { figuresText, taskRequests } from '../servers/taskFigures';
import { isLong } from '../support/long';
import { filterCondensations, taskBench, type TaskBench, type TaskBenchOptions } from '../support/taskBench';
import { fake, secretStorage } from '../support/vscode';
import { MARKER_START } from '../../src/core/messages/markers';

const ROOT = '/home/dev/project';
/** Number of calls in the undisturbed task. */
const WHOLE_CALLS = isLong ? 120 : 60;
/**
 * Number of calls in the disturbed task, and the step after its first condensation at which it
 * pauses.
 */
const CALLS = 48;
const PAUSE = 26;
/** Number of calls in a task after which recalling a whole file would exceed the window. */
const SHORT_CALLS = 30;
const GO_ON_PROMPT = partPrompt(1);
const task = longTask(ROOT, CALLS, [PAUSE]);

const open: TaskBench[] = [];
const servers: ModelServer[] = [];
beforeEach(() => {
  fake.reset();
});
afterEach(async () => {
  for (const bench of open.splice(0)) await bench.close();
  for (const server of servers.splice(0)) await server.close();
});
async function benchFor(options?: TaskBenchOptions, root = ROOT, of = task): Promise<TaskBench> {
  const bench = await taskBench(root, of, options);
  open.push(bench);
  return bench;
}
const getText = (behaviour: Behaviour): unknown => (behaviour.kind === 'reply' ? behaviour.text : undefined);
const TRUNCATION = { settings: { provider: 'truncation' } };

describe('a task of many tool calls on a window of 100,000 tokens', () => {
  it.each(['lossless', 'truncation'])('completes with %s, and condensed content can be recalled', async (provider) => {
    const task = longTask(ROOT, WHOLE_CALLS);
    const bench = await benchFor({}, ROOT, task);
    const window = bench.open({ settings: { provider } });
    const chat = window.chat(bench.tools, 'conversation-1');
    expect(await chat.ask(TASK_PROMPT)).toBe(DONE_ANSWER);
    expect(chat.errors).toEqual([]);
    const figures = bench.figures();
    const condensations = filterCondensations(window.events).length;
    console.log(`${provider}\n${figuresText(figures, condensations)}`);
    expect(figures.refused).toEqual([]);
    expect(figures.toolCalls).toBe(WHOLE_CALLS);
    expect(figures.uncondensed.tokens).toBeGreaterThan(isLong ? 400_000 : 200_000);
    expect(figures.largest).toBeLessThanOrEqual(WINDOW_TOKENS - MAX_OUTPUT);
    // Between two condensations, each request exactly extends the previous one.
    expect(figures.breaks).toHaveLength(condensations);
    // Each condensation makes room, so none directly follows another.
    const requests = figures.breaks.map(({ request }) => request);
    expect(requests.filter((request) => requests.includes(request - 1))).toEqual([]);
    expect(figures.cost).toBeLessThan(figures.uncondensed.cost);

    const { line } = task.early;
    expect(await chat.ask(QUESTION)).toBe(line);
    const { wasInView, original, restored } = recallProof(task, bench.server.requests);
    expect(wasInView).toBe(false);
    expect(restored).toBe(original);

    // The tool receives the text instead of the marker in the call's parameters.
    expect(await chat.ask(NOTES_PROMPT)).toBe(NOTES_WRITTEN_ANSWER);
    expect(bench.workspace.text('notes.txt')).toContain(line);
    expect(bench.workspace.text('notes.txt')).not.toContain(MARKER_START);
  });
});

describe('a question whose recalled answer is too large for the request', () => {
  it('is answered, because making room for it spares recalled content', async () => {
    const short = longTask(ROOT, SHORT_CALLS);
    const bench = await benchFor({}, ROOT, short);
    const window = bench.open({
      settings: { provider: 'truncation' },
      providers: [createSmartProvider()],
      systemTokens: 25_600,
    });
    const chat = window.chat(bench.tools, 'conversation-1');
    expect(await chat.ask(TASK_PROMPT)).toBe(DONE_ANSWER);
    const before = filterCondensations(window.events).length;
    expect(await chat.ask(QUESTION)).toBe(short.early.line);
    expect(filterCondensations(window.events).slice(before)).toMatchObject([
      { decision: { reason: 'window' }, outcome: { provider: 'smart' } },
    ]);
  });
});

describe('a long task that is condensed continues', () => {
  it('after a reload midway, with the same condensed messages', async () => {
    const bench = await benchFor();
    const before = bench.open(TRUNCATION);
    const chat = before.chat(bench.tools, 'one');
    expect(await chat.ask(TASK_PROMPT)).toBe(PAUSE_ANSWER);
    const made = filterCondensations(before.events).length;
    expect(made).toBeGreaterThan(0);
    before.live.dispose();

    const after = bench.open(TRUNCATION);
    chat.moveTo(after.chat(bench.tools));
    expect(await chat.ask(GO_ON_PROMPT)).toBe(DONE_ANSWER);
    const figures = bench.figures();
    expect(figures.refused).toEqual([]);
    expect(figures.breaks).toHaveLength(made + filterCondensations(after.events).length);
    expect(after.live.active()?.condensations.length).toBe(figures.breaks.length);
    expect(await chat.ask(QUESTION)).toBe(task.early.line);
  });

  it('after a reload, even if the chat does not name its conversation', async () => {
    const bench = await benchFor();
    const before = bench.open(TRUNCATION);
    const chat = before.chat(bench.tools);
    expect(await chat.ask(TASK_PROMPT)).toBe(PAUSE_ANSWER);
    const sent = bench.figures().requests;
    const after = bench.open(TRUNCATION);
    chat.moveTo(after.chat(bench.tools));
    expect(await chat.ask(GO_ON_PROMPT)).toBe(DONE_ANSWER);
    const { breaks, refused } = bench.figures();
    expect(refused).toEqual([]);
    expect(breaks.map(({ request }) => request)).not.toContain(sent);
    expect(breaks).toHaveLength([...before.events, ...after.events].filter(({ kind }) => kind === 'condensed').length);
  });

  it('after a cancellation midway, which reaches the model at once', async () => {
    let held = 0;
    const bench = await benchFor({
      instead: (behaviour) => (getText(behaviour) === PAUSE_ANSWER && held++ === 0 ? neverAnswer() : undefined),
    });
    const window = bench.open(TRUNCATION);
    const chat = window.chat(bench.tools, 'one');
    const asked = chat.ask(TASK_PROMPT);
    const last = await bench.server.request(PAUSE);
    expect(last.body['stream']).toBe(true);
    chat.cancel();
    expect(await asked).toBe('');
    await last.aborted;
    expect(await chat.ask(GO_ON_PROMPT)).toBe(DONE_ANSWER);
    expect(chat.errors).toEqual([]);
    expect(bench.figures().breaks).toHaveLength(filterCondensations(window.events).length);
  });

  it('after overloads and interrupted streams, without repeating a condensation', async () => {
    let asked = 0;
    const bench = await benchFor({
      instead: (behaviour) => {
        asked++;
        if (asked === 5 || asked === 19) return makeOverloadedError();
        if (behaviour.kind !== 'reply' || (asked !== 21 && asked !== 12)) return undefined;
        return { ...behaviour, fault: { kind: 'cut', after: 1 } };
      },
    });
    const window = bench.open(TRUNCATION);
    const chat = window.chat(bench.tools, 'one');
    expect(await chat.ask(TASK_PROMPT)).toBe(PAUSE_ANSWER);
    expect(await chat.ask(GO_ON_PROMPT)).toBe(DONE_ANSWER);
    const figures = bench.figures();
    expect(figures.refused.map(({ status }) => status)).toEqual([529, 529]);
    expect(figures.breaks).toHaveLength(filterCondensations(window.events).length);
  });

  it('in two windows at once, each with its own task', async () => {
    const other = '/home/dev/other';
    const first = await benchFor();
    const second = await benchFor({ storage: first.storage }, other, longTask(other, CALLS, [PAUSE]));
    const runs = [first, second].map(async (bench, index) => {
      const window = bench.open(TRUNCATION);
      const chat = window.chat(bench.tools, `conversation-${index}`);
      expect(await chat.ask(TASK_PROMPT)).toBe(PAUSE_ANSWER);
      expect(await chat.ask(GO_ON_PROMPT)).toBe(DONE_ANSWER);
      const figures = bench.figures();
      expect(figures.refused).toEqual([]);
      expect(figures.breaks).toHaveLength(filterCondensations(window.events).length);
      expect(window.live.list()).toHaveLength(1);
      expect(await chat.ask(QUESTION)).toBe(task.early.line);
    });
    await Promise.all(runs);
  });

  it('after an earlier message is edited, with an unchanged beginning', async () => {
    const bench = await benchFor();
    const window = bench.open(TRUNCATION);
    const chat = window.chat(bench.tools, 'one');
    await chat.ask(TASK_PROMPT);
    const edited = chat.messages.length;
    await chat.ask(GO_ON_PROMPT);
    const before = taskRequests(bench.server.requests).length;
    expect(await chat.edit(edited, QUESTION)).toBe(task.early.line);
    const [again] = taskRequests(bench.server.requests).slice(before);
    expect(again?.status).toBe(200);
    expect(JSON.stringify(again?.body['messages'])).toContain(MARKER_START);
    await chat.ask(GO_ON_PROMPT);
    expect(bench.figures().refused).toEqual([]);
  });

  it('if the window is smaller than assumed', async () => {
    const bench = await benchFor({ maxContextTokens: 60_000 });
    const chat = bench.open(TRUNCATION).chat(bench.tools, 'one');
    expect(await chat.ask(TASK_PROMPT)).toBe(PAUSE_ANSWER);
    expect(await chat.ask(GO_ON_PROMPT)).toBe(DONE_ANSWER);
    expect(chat.errors).toEqual([]);
    expect(bench.figures().refused.length).toBeGreaterThan(0);
  });

  it.each(['never answers', 'answers'])('if the summarizing model %s', async (how) => {
    const server = await startAnthropicServer({
      script:
        how === 'answers' ? reply('## Goal\nPut the project in order.\n## Done\nFiles were read.') : neverAnswer(),
    });
    servers.push(server);
    const profile: ApiProfile = {
      id: 'summarizer',
      name: 'Summarizer',
      vendor: 'anthropic',
      model: 'claude-sonnet-4-20250514',
      baseUrl: server.url,
      prices: PRICES,
    };
    await storeApiKey(secretStorage, profile, 'key');
    const condensing = await createProfileSummarizer(profile, { counter: createCounter(), secrets: secretStorage });
    if (!('summarize' in condensing)) throw new Error(condensing.reason);
    const native = createNativeProvider({ select: () => ({ summarizer: condensing, chosen: 'condensing-profile' }) });
    const bench = await benchFor();
    const window = bench.open({
      providers: [native],
      settings: { provider: 'native', mayUseNative: true, backgroundPercent: 60, waitMs: 300, giveUpMs: 2_000 },
    });
    const chat = window.chat(bench.tools, 'one');
    expect(await chat.ask(TASK_PROMPT)).toBe(PAUSE_ANSWER);
    expect(await chat.ask(GO_ON_PROMPT)).toBe(DONE_ANSWER);
    const figures = bench.figures();
    expect(chat.errors).toEqual([]);
    expect(figures.refused).toEqual([]);
    expect(server.requests.length).toBeGreaterThan(0);
    const providers = new Set(filterCondensations(window.events).map(({ outcome }) => outcome.provider));
    expect(providers).toEqual(new Set([how === 'answers' ? 'native' : 'truncation']));
    window.live.dispose();
  });
});
