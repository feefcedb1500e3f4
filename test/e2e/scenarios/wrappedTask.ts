/**
 * Tests the long task with a condensed VS Code model, as it is for users of Copilot without a key.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../../scripts/vscode.mjs';
import { OWN_VSCODE_VENDOR } from '../../../src/core/vendors/ownVendor';
import { bigTask } from '../../generators/bigTask';
import { DONE_ANSWER, TASK_PROMPT } from '../../servers/longTask';
import type { Scenario } from '../bed';
import { pickCondensed } from '../condensedModel';
import { countCondensations, MANY_REQUESTS, writeProject } from '../longTask';
import { agentOptions, answerText, ask, openChat, screenshot } from '../workbench/index';

/** The declared window and the real one, in tokens; the first rejection reveals the difference. */
const DECLARED = 120_000;
const LIMIT = 90_000;

/** Prices of GPT-4.1 in US dollars per million input tokens. */
const PRICES = { input: 2, cacheRead: 0.5 };

interface MeteredRequest {
  readonly tokens: number;
  readonly cached: number;
  readonly isTooLong: boolean;
}

const runsOnAModelOfVsCode: Scenario = async (bed) => {
  // VS Code logs each rejection by a model, with the extension that asked.
  bed.expectError(/prompt token count of \d+ exceeds the limit of/);
  const folder = bed.folder();
  const task = bigTask(folder, 7);
  writeProject(folder, task.files);
  const outside = bed.folder();
  const [script, log] = [join(outside, 'task.json'), join(outside, 'log.jsonl')];
  writeFileSync(script, JSON.stringify({ declared: DECLARED, limit: LIMIT, steps: task.steps, done: DONE_ANSWER }));
  writeFileSync(log, '');
  const wrappedModelId = 'condenser-metered/m1';
  const options = agentOptions(OWN_VSCODE_VENDOR, wrappedModelId.replace('/', ':'));
  const bench = await bed.open({
    ...options,
    folder,
    env: { METERED_TASK: script, METERED_LOG: log },
    models: [...(options.models ?? []), { name: 'Metered', vendor: 'condenser-metered' }],
    settings: { ...options.settings, ...MANY_REQUESTS },
    machineSettings: { 'contextCondenser.agent.wrappedModels': [wrappedModelId] },
    developmentExtensions: [join(root, 'test', 'e2e', 'metered-model')],
  });
  await openChat(bench, 'Metered Model');
  await pickCondensed(bench, 'Metered Model');
  await ask(bench, TASK_PROMPT);
  await answerText(bench, (text) => text.includes(DONE_ANSWER), 900_000);
  await screenshot(bench, 'wrapped-long-task-dark');

  const lines = readFileSync(log, 'utf8').trimEnd().split('\n');
  const requests = lines.map((line) => JSON.parse(line) as MeteredRequest);
  const refusedRequests = requests.filter(({ isTooLong }) => isTooLong);
  const answeredRequests = requests.filter(({ isTooLong }) => !isTooLong);
  const sum = (field: 'tokens' | 'cached'): number => answeredRequests.reduce((all, each) => all + each[field], 0);
  const condensations = countCondensations(bench);
  const share = Math.round((100 * sum('cached')) / sum('tokens'));
  const breaks = answeredRequests.filter(
    ({ cached }, index) => index > 0 && cached < (answeredRequests[index - 1]?.tokens ?? 0),
  );
  const dollars = (sum('tokens') - sum('cached')) * PRICES.input + sum('cached') * PRICES.cacheRead;
  bed.report(
    `${answeredRequests.length} requests, ${refusedRequests.length} refused in Copilot's words, largest ${Math.max(...answeredRequests.map(({ tokens }) => tokens))} ` +
      `of ${LIMIT} tokens (${DECLARED} declared), ${condensations} condensations, ${breaks.length} breaks, ` +
      `${share} % of the input from the cache, $${(dollars / 1e6).toFixed(2)} for it`,
  );
  assert.equal(answeredRequests.length, task.steps.length + 1, 'each step was asked once');
  assert.ok(refusedRequests.length <= 1, 'the first refusal names the window: no other follows');
  assert.ok(condensations > 3);
  assert.ok(share > 75);
  const logText = bench.server.outputText('Context Condenser');
  assert.ok(!logText.includes('could not be understood'), 'the refusal was understood');
};

export const theLongTaskOnAModelOfVsCode: Scenario = Object.assign(runsOnAModelOfVsCode, {
  seconds: 1_000,
  lane: 'long' as const,
});
