/**
 * Runs the long task while its engine is killed at random. No request may be lost, the ledger must
 * stay intact, and each death may cost at most the condensation of the pending request.
 */
import { join } from 'node:path';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { listLedgers, openLedger } from '../../src/storage/ledgerStore';
import { Random } from '../generators/random';
import { DONE_ANSWER, longTask, TASK_PROMPT, WINDOW_TOKENS } from '../servers/longTask';
import { openChatEngine } from '../support/chatEngine';
import { isLong } from '../support/long';
import { taskBench } from '../support/taskBench';
import { fake } from '../support/vscode';

const CALLS = isLong ? 120 : 48;
const KILLS = isLong ? 100 : 12;

beforeEach(() => {
  fake.reset();
});

it.each(['lossless', 'truncation'])(
  'with %s, each death of the engine costs at most the current request’s condensation',
  async (provider) => {
    const task = longTask('/home/dev/project', CALLS);
    let requests = 0;
    const bench = await taskBench('/home/dev/project', task, {
      instead: () => {
        requests++;
        return undefined;
      },
    });
    onTestFinished(() => bench.close());
    // The thread's clock advances a minute per reading, so deaths are a minute apart.
    let minutes = 0;
    const { live, thread, deaths } = openChatEngine(join(bench.storage, 'live'), {
      settings: { provider },
      now: () => ++minutes * 60_000,
    });
    const random = new Random(3);
    let kills = 0;
    let uncondensed = 0;
    // The delay starts at a request, so that kills hit its preparation, the answer, or the tools.
    const killer = async (): Promise<void> => {
      while (kills < KILLS) {
        const next = requests + 1;
        await expect.poll(() => requests >= next || requests < 0, { interval: 1 }).toBe(true);
        await new Promise((resolve) => setTimeout(resolve, random.int(60)));
        if (requests < 0) return;
        thread.endThread();
        kills++;
      }
    };
    const killing = killer();
    const window = bench.open({ engine: live });
    const chat = window.chat(bench.tools, 'conversation-1');
    expect(await chat.ask(TASK_PROMPT)).toBe(DONE_ANSWER);
    requests = -1_000_000;
    await killing;
    uncondensed = window.log.filter((line) => line.includes('goes out as it came')).length;
    const figures = bench.figures();
    console.log(
      `${provider}: ${kills} kills, ${figures.requests} requests, ${figures.toolCalls} tool calls, ${uncondensed} as they came, ${figures.refused.length} refused, largest ${figures.largest}`,
    );
    expect(chat.errors).toEqual([]);
    // A request that was not condensed may be rejected as too long; it is sent again once another
    // engine has condensed it.
    const refusals = bench.server.requests.flatMap(({ refusal }) => refusal ?? []);
    expect(refusals.filter((words) => !/prompt is too long|exceed context limit/.test(words))).toEqual([]);
    expect(figures.refused.length).toBeLessThanOrEqual(uncondensed);
    expect(figures.toolCalls).toBe(CALLS);
    expect(figures.largest).toBeLessThanOrEqual(WINDOW_TOKENS);
    expect(uncondensed).toBeLessThanOrEqual(kills);
    expect(deaths).toEqual([]);
    const root = join(bench.storage, 'live');
    const ledgers = await Promise.all((await listLedgers(root)).map(({ about }) => openLedger(root, about)));
    expect(ledgers.map(({ problems }) => problems)).toEqual([[]]);
    const [ledger] = ledgers;
    const edits = ledger?.ledger.condensations.flatMap((one) => one.edits) ?? [];
    expect(edits.length).toBeGreaterThan(0);
    const originals = await ledger?.originals(edits.map(({ before }) => before));
    expect(edits.filter(({ before }) => originals?.get(before) === undefined)).toEqual([]);
  },
);
