/**
 * Tests the default provider at thresholds of 15, 50 and 75 %, with and without repetition: what
 * ran, when, and what the user saw.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { startAnthropicServer } from '../../servers/anthropicServer';
import { callsTool, reply } from '../../servers/behaviour';
import type { ModelServer, RecordedRequest } from '../../servers/modelServer';
import type { Scenario } from '../bed';
import { PRICES } from '../../servers/longTask';
import { taskFigures } from '../../servers/taskFigures';
import { chatProfile, condensedOptions, KEY, PROFILE_NAME, setKey } from '../condensedModel';
import { leaveStatus, openDetails, statusText, statusTooltip } from '../liveStatus';
import { runInHelper } from '../workbench/helper';
import { answerText, ask, dismiss, openChat, screenshot, useSettings, type Workbench } from '../workbench/index';

const WINDOW = 100_000;
const DONE = 'All read.';
const FILES = 24;

const fileText = (name: string): string =>
  Array.from({ length: 150 }, (_, line) => `export const ${name}_${line} = '${name} number ${line} of many';`).join(
    '\n',
  );

const makeName = (index: number): string => `part${String.fromCodePoint(97 + index)}`;

interface Task {
  readonly threshold: number;
  readonly repeats: boolean;
  readonly whenNotEnough?: 'nothing';
}

/** A row of the report's table. */
interface Row {
  readonly name: string;
  readonly ran: readonly string[];
  /** Tokens of the first request and of the largest, as counted by the vendor. */
  readonly first: number;
  readonly largest: number;
  /**
   * Cost in US dollars: the actual cost, and the cost without condensing if the cache were ideal.
   */
  readonly cost: number;
  readonly uncondensed: number;
  readonly breaks: number;
  readonly status: string;
  readonly tooltip: string;
}

const isStep = ({ body }: RecordedRequest): boolean => Array.isArray(body['tools']);

/** Lists the files to read: each file once, or each pair of files twice. */
const readings = (repeats: boolean): string[] =>
  Array.from({ length: FILES }, (_, step) => makeName(repeats ? Math.floor(step / 4) * 2 + (step % 2) : step));

const TASKS: readonly Task[] = [
  ...[15, 50, 75].flatMap((threshold): Task[] => [
    { threshold, repeats: false },
    { threshold, repeats: true },
  ]),
  { threshold: 50, repeats: false, whenNotEnough: 'nothing' },
];

/**
 * Lists the condensations in a part of the log: what ran, the request's size before and after, and
 * why.
 */
const condensedIn = (log: string): string[] =>
  log
    .split('Context condensed using ')
    .slice(1)
    .map((told) => {
      const [by = ''] = told.split(':');
      const total = /\(([\d,]+ → [\d,]+) tokens\)\n - Cost/.exec(told)?.[1] ?? '?';
      const why = /Why: ([^.]*)\./.exec(told)?.[1] ?? '?';
      return `${by}: ${total}; ${why}`;
    });

/**
 * Makes the model read a task's files in a new chat.
 * @returns a row of the table
 */
async function runTask(bench: Workbench, server: ModelServer, task: Task, own: () => object): Promise<Row> {
  const { threshold, repeats, whenNotEnough } = task;
  const name = `${threshold}-${repeats ? 'repeats' : 'different'}${whenNotEnough === undefined ? '' : '-nothing'}`;
  await useSettings(bench, {
    ...own(),
    'contextCondenser.threshold': threshold,
    'contextCondenser.agent.whenNotEnough': whenNotEnough,
    'contextCondenser.notifications': 'none',
  });
  const asked = server.requests.length;
  const logged = bench.server.outputText('Context Condenser').length;
  const names = readings(repeats);
  let step = 0;
  server.play((request) => {
    if (!isStep(request)) return reply('A title');
    const file = names[step++];
    const input = { filePath: join(bench.folder ?? '', `${file ?? ''}.ts`), startLine: 1, endLine: 400 };
    return file === undefined ? reply(DONE) : callsTool({ name: 'read_file', input });
  });
  await runInHelper(bench, { commands: [['workbench.action.chat.newChat']] });
  await openChat(bench, PROFILE_NAME);
  const title = `Read the files at ${name}`;
  await ask(bench, title);
  await answerText(bench, (text) => text.includes(DONE));
  const requests = server.requests.slice(asked).filter(isStep);
  const tooltip = await statusTooltip(bench, /Condenses at/);
  await screenshot(bench, `threshold-${name}-tooltip-dark`);
  await leaveStatus(bench);
  await openDetails(bench, title);
  await screenshot(bench, `threshold-${name}-details-dark`);
  await dismiss(bench);
  const figures = taskFigures(requests, (text) => server.tokensOf(text), PRICES);
  const [begins] = requests.map(({ body }) => server.tokensOf(JSON.stringify(body)));
  const ran = condensedIn(bench.server.outputText('Context Condenser').slice(logged));
  assert.equal(requests.length, names.length + 1);
  assert.deepEqual(figures.refused, []);
  const { largest, cost, breaks, uncondensed } = figures;
  const sums = { largest, cost, uncondensed: uncondensed.cost, breaks: breaks.length };
  return { name, ran, first: begins ?? 0, ...sums, status: await statusText(bench), tooltip };
}

const actsWhenItSays: Scenario = async (bed) => {
  const files = Object.fromEntries(
    Array.from({ length: FILES }, (_, i) => [`${makeName(i)}.ts`, fileText(makeName(i))]),
  );
  const server = await startAnthropicServer({ apiKey: KEY, maxContextTokens: WINDOW });
  try {
    const profile = chatProfile(server, { contextWindow: WINDOW, maxOutputTokens: 8_000 });
    const options = condensedOptions(profile);
    const bench = await bed.open({ ...options, folder: bed.folder(files) });
    await setKey(bench);
    const getOwnSettings = (): object => ({ ...options.settings, ...options.machineSettings });
    const rows: Row[] = [];
    for (const task of TASKS) rows.push(await runTask(bench, server, task, getOwnSettings));
    for (const { name, first, largest, cost, uncondensed, breaks, status, ran, tooltip } of rows) {
      const dollars = `$${cost.toFixed(3)}, uncondensed $${uncondensed.toFixed(3)}`;
      const head = `${name}: ${first} tokens at first, ${largest} at most; ${breaks} breaks; ${dollars}; ${status}`;
      bed.report([head, ...ran, ...tooltip.split('\n')].join('\n    '));
    }
    for (const [index, { threshold, repeats, whenNotEnough }] of TASKS.entries()) {
      const { ran, largest, name } = rows[index] ?? { ran: [], largest: 0, name: '' };
      assert.ok(largest <= WINDOW, name);
      if (whenNotEnough === 'nothing')
        assert.ok(
          ran.every((one) => one.includes('would not have fit')),
          name,
        );
      else if (!repeats) assert.match(ran[0] ?? '', /Smart \(File-Aware\).*the threshold was reached/, name);
      // Repetition is already removed from new results, so a high threshold is not reached.
      if (repeats && threshold === 75) assert.deepEqual(ran, [], name);
    }
  } finally {
    await server.close();
  }
};

export const theDefault: Scenario = Object.assign(actsWhenItSays, { seconds: 200, lane: 'long' as const });
