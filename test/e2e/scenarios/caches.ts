/**
 * Tests that tooltip, details, log and `/report` show each state of the cache: warm, cold, unknown
 * and none.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../../scripts/vscode.mjs';
import { startAnthropicServer } from '../../servers/anthropicServer';
import { callsTool, reply, type Behaviour, type ScriptedCall } from '../../servers/behaviour';
import type { Bed, Scenario } from '../bed';
import { chatProfile, condensedOptions, KEY, pickCondensed, PROFILE_NAME, setKey } from '../condensedModel';
import { leaveStatus, openDetails, reportInChat, statusText, statusTooltip } from '../liveStatus';
import { runInHelper } from '../workbench/helper';
import {
  answerText,
  ask,
  closeParts,
  dismiss,
  notification,
  openChat,
  outputPanel,
  pick,
  runCommand,
  screenshot,
  until,
  useSettings,
  type Workbench,
} from '../workbench/index';

const WINDOW = 100_000;
const DONE = 'All read.';
const WRAPPED = 'condenser-metered/m1';
const METERED_NAME = 'Metered Model';
const NAMES = ['alpha', 'beta', 'gamma', 'delta', 'epsilon', 'zeta', 'eta', 'theta'];

const bigFile = (name: string): string =>
  Array.from({ length: 300 }, (_, line) => `export const ${name}_${line} = '${name} number ${line} of many';`).join(
    '\n',
  );

const SETTINGS = {
  'contextCondenser.threshold': 60,
  'contextCondenser.agent.coldPercent': 40,
  'contextCondenser.agent.onArrival': 'off',
  'contextCondenser.notifications': 'none',
};

interface Stage {
  readonly bench: Workbench;
  readonly bed: Bed;
  /** Applies the test's settings, with these fields of the profile changed. */
  readonly use: (profile?: object) => Promise<void>;
  /** Makes the selected model read these files in a new turn. */
  readonly read: (prompt: string, names: readonly string[]) => Promise<void>;
}

/**
 * Opens a window with a VS Code model that is billed per token, and with a profile's model. Both
 * read the files of the turn.
 */
async function openBoth(bed: Bed): Promise<{ readonly stage: Stage; readonly close: () => Promise<void> }> {
  const folder = bed.folder(Object.fromEntries(NAMES.map((name) => [`${name}.ts`, bigFile(name)])));
  const outside = bed.folder();
  const [task, log] = [join(outside, 'task.json'), join(outside, 'log.jsonl')];
  writeFileSync(log, '');
  let waiting: ScriptedCall[] = [];
  let turn = 0;
  const play = (): void => {
    const steps = waiting.map((call) => ({ text: 'I read on.', calls: [call] }));
    writeFileSync(task, JSON.stringify({ declared: WINDOW, limit: WINDOW, turn: turn++, steps, done: DONE }));
  };
  play();
  const act = (): Behaviour => {
    const call = waiting.shift();
    return call ? callsTool(call) : reply(DONE);
  };
  const server = await startAnthropicServer({
    apiKey: KEY,
    maxContextTokens: WINDOW,
    script: ({ body }) => (Array.isArray(body['tools']) ? act() : reply('A title')),
  });
  const profile = (more: object = {}) =>
    chatProfile(server, { contextWindow: WINDOW, maxOutputTokens: 8_000, ...more });
  const options = condensedOptions(profile(), { 'contextCondenser.agent.wrappedModels': [WRAPPED] });
  const bench = await bed.open({
    ...options,
    folder,
    env: { METERED_TASK: task, METERED_LOG: log },
    models: [...(options.models ?? []), { name: 'Metered', vendor: 'condenser-metered' }],
    developmentExtensions: [join(root, 'test', 'e2e', 'metered-model')],
  });
  await setKey(bench);
  await openChat(bench, METERED_NAME);
  const read: Stage['read'] = async (prompt, names) => {
    waiting = names.map((name) => ({
      name: 'read_file',
      input: { filePath: join(folder, `${name}.ts`), startLine: 1, endLine: 400 },
    }));
    play();
    await ask(bench, prompt);
    await answerText(bench, (text) => text.includes(DONE));
  };
  const use: Stage['use'] = (more) => useSettings(bench, { ...SETTINGS, 'contextCondenser.profiles': [profile(more)] });
  return { stage: { bench, bed, use, read }, close: () => server.close() };
}

/**
 * Checks that the tooltip, the details, the log and `/report` all show which cache state a
 * conversation's newest condensation assumed.
 */
async function checkFourPlaces({ bench, bed }: Stage, name: string, title: string, words: RegExp): Promise<void> {
  const tooltip = await statusTooltip(bench, words);
  await screenshot(bench, `cache-${name}-tooltip-dark`);
  await leaveStatus(bench);
  const details = await openDetails(bench, title);
  await screenshot(bench, `cache-${name}-details-dark`);
  // Labels in this list are never truncated, so they can be matched in full.
  const rows = details.map(({ label, description }) => `${label} (${description})`);
  assert.match(rows.join('\n'), words);
  await dismiss(bench);
  await runCommand(bench, 'Context Condenser: Show Log');
  await outputPanel(bench, (lines) => words.test(lines.join(' ').replaceAll(/\s+/g, ' ')));
  await screenshot(bench, `cache-${name}-log-dark`);
  const logged = bench.server.outputText('Context Condenser').trimEnd().split('\n');
  await closeParts(bench, 'panel');
  const report = await reportInChat(bench, title, words);
  await screenshot(bench, `cache-${name}-report-dark`);
  const why = logged.findLast((line) => words.test(line)) ?? '';
  bed.report(`${name}: ${await statusText(bench)}\n${tooltip}\nlog: ${why}\n/report: ${report}`);
}

const newChat = (bench: Workbench): Promise<string> =>
  runInHelper(bench, { commands: [['workbench.action.chat.newChat']] });

const seconds = (what: string, since: number, count: number): Promise<true> =>
  until(what, () => Date.now() - since > count * 1_000, (count + 60) * 1_000);

/** Names of the files to read; the last three repeat the first three. */
const TWICE = ['alpha', 'beta', 'gamma', 'alpha', 'beta', 'gamma'];

const isToldInFourWords: Scenario = async (bed) => {
  const { stage, close } = await openBoth(bed);
  const { bench, use, read } = stage;
  try {
    await use();
    await pickCondensed(bench, METERED_NAME);
    await read('Read the first letters', ['alpha']);
    let last = Date.now();
    // If a request reads from the cache after a pause, the cache lives at least that long.
    await seconds('a pause of the conversation', last, 30);
    await read('Read the others', ['beta', 'gamma', 'delta', 'epsilon', 'zeta', 'eta', 'theta']);
    last = Date.now();
    const warm = /Prompt cache: warm \(last request .+ earlier; a request still read from it after \d+ seconds\)/;
    await checkFourPlaces(stage, 'warm', 'Read the first letters', warm);

    await read('Read the last letter twice', ['theta', 'theta']);
    last = Date.now();
    await seconds('a longer pause', last, 60);
    await openDetails(bench, 'Read the first letters');
    await pick(bench, /Condense Now/);
    await notification(bench, /^Condensed /);
    await closeParts(bench, 'notifications');
    const unknown =
      /Prompt cache: unknown \(last request .+ earlier; it read [\d,]+ of [\d,]+ tokens from the cache; how long this model’s prompts are kept is not known\)/;
    await checkFourPlaces(stage, 'unknown', 'Read the first letters', unknown);

    await newChat(bench);
    await pickCondensed(bench, PROFILE_NAME);
    await read('Compare the letters', TWICE);
    await pickCondensed(bench, METERED_NAME);
    await read('Compare them again', ['delta']);
    const otherModel = /Prompt cache: cold \(this model was not sent the conversation before\)/;
    await checkFourPlaces(stage, 'cold-other-model', 'Compare the letters', otherModel);

    await newChat(bench);
    await pickCondensed(bench, PROFILE_NAME);
    await read('Have a break', TWICE);
    await seconds('the vendor’s five minutes', Date.now(), 302);
    await read('Go on after the break', ['delta']);
    const cold =
      /Prompt cache: cold \(last request 5 minutes earlier; the vendor keeps prompts for at most 5 minutes\)/;
    await checkFourPlaces(stage, 'cold', 'Have a break', cold);

    await newChat(bench);
    await use({ cacheLifetime: 'none' });
    await pickCondensed(bench, PROFILE_NAME);
    await read('Read without a cache', [...TWICE, ...TWICE]);
    const none = /Prompt cache: none \(the last answer reports nothing read or written\)/;
    await checkFourPlaces(stage, 'none', 'Read without a cache', none);
  } finally {
    await close();
  }
};

export const caches: Scenario = Object.assign(isToldInFourWords, { seconds: 700, lane: 'long' as const });
