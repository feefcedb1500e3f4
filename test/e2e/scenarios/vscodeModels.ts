/**
 * Tests another extension's agents with a condensed VS Code model. They send no conversation ID,
 * and work on several tasks at the same time.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../../scripts/vscode.mjs';
import { OWN_VSCODE_VENDOR } from '../../../src/core/vendors/ownVendor';
import { startAnthropicServer } from '../../servers/anthropicServer';
import { callsTool, reply } from '../../servers/behaviour';
import { objects } from '../../servers/json';
import type { RecordedRequest } from '../../servers/modelServer';
import { prefixBreaks } from '../../servers/taskFigures';
import type { Scenario } from '../bed';
import { chatProfile, condensedOptions, KEY, setKey } from '../condensedModel';
import { countCondensations } from '../longTask';
import { closeParts, openContainer, runCommand, screenshot, setTheme, treeRows, until } from '../workbench/index';

const STEPS = 24;
const WINDOW = 24_000;
/** Start of each task's title; rows shorten long titles. */
const TITLES = ['Put the nati', 'Put the othe'];

/** Returns the file that a step reads; every third step reads a file again. */
const getFileOfStep = (step: number): number => (step % 3 === 2 ? step - 2 : step);

const hasTools = ({ body }: RecordedRequest): boolean => Array.isArray(body['tools']);

const worksOnTwoTasks: Scenario = async (bed) => {
  const server = await startAnthropicServer({
    apiKey: KEY,
    maxContextTokens: WINDOW,
    script: (request) => {
      const step = objects(request.body['messages']).filter(({ role }) => role === 'assistant').length;
      return hasTools(request)
        ? callsTool({ name: 'read_file', input: { path: `src/native${getFileOfStep(step)}.ts` } })
        : reply(`I look.\n<read_file>\n<path>src/xml${getFileOfStep(step)}.ts</path>\n</read_file>`);
    },
  });
  try {
    const log = join(bed.folder(), 'log');
    const profile = chatProfile(server, { contextWindow: WINDOW, maxOutputTokens: 2_000 });
    const bench = await bed.open({
      ...condensedOptions(profile),
      env: { TASK_SETTING: JSON.stringify({ vendor: OWN_VSCODE_VENDOR, steps: STEPS, log }) },
      developmentExtensions: [join(root, 'test', 'e2e', 'task-extension')],
    });
    await setKey(bench);
    await runCommand(bench, 'Stand-in: Work on Two Tasks');
    await until('both tasks to be done', () => existsSync(log));
    assert.equal(readFileSync(log, 'utf8'), 'done');

    const refused = server.requests.filter(({ status }) => status !== 200);
    assert.deepEqual(
      refused.map(({ refusal }) => refusal),
      [],
    );
    const condensations = countCondensations(bench);
    const tasks = [true, false].map((isNative) => server.requests.filter((request) => hasTools(request) === isNative));
    const breaks = tasks.map((requests) => prefixBreaks(requests).length);
    for (const [at, requests] of tasks.entries()) {
      assert.equal(requests.length, STEPS);
      const last = JSON.stringify(requests.at(-1)?.body);
      assert.ok(!last.includes(at === 0 ? 'src_xml' : 'src_native'), 'nothing of the other task');
    }
    const [native = 0, xml = 0] = breaks;
    bed.report(
      `native tools and XML in the text, ${STEPS} requests each, ${refused.length} refused, ${condensations} condensations, ${native} and ${xml} breaks`,
    );
    assert.ok(condensations >= 2 && native + xml <= condensations);

    await openContainer(bench, 'Context Condenser');
    const isCondensedTold = (texts: readonly string[]): boolean =>
      TITLES.every((title) => texts.filter((text) => text.includes(title) && /−\d+%/.test(text)).length === 1);
    await treeRows(bench, isCondensedTold);
    await closeParts(bench, 'notifications');
    await screenshot(bench, 'vscode-models-dark');
    await setTheme(bench, 'light');
    await screenshot(bench, 'vscode-models-light');
  } finally {
    await server.close();
  }
};

export const condensesTwoTasksOfAnotherExtension: Scenario = Object.assign(worksOnTwoTasks, { lane: 'long' as const });
