/** Tests a stored long task of VS Code's chat: its row in the view, and its actions. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { createCounter } from '../../../src/core/testingCounter';
import { startAnthropicServer } from '../../servers/anthropicServer';
import { callsTool, reply } from '../../servers/behaviour';
import { objects, type Json } from '../../servers/json';
import type { RecordedRequest } from '../../servers/modelServer';
import { getBlocks, callId, findResult, scriptedAgent } from '../../servers/scriptedAgent';
import { answeredRequests } from '../../servers/taskFigures';
import type { SharedScenarios, SharedScenario } from '../bed';
import { chatWindow, KEY, newChat } from '../condensedModel';
import { openConversations } from '../home';
import { waitUntilStored, MANY_REQUESTS } from '../longTask';
import {
  answerText,
  ask,
  chooseInMenu,
  clickRow,
  closeParts,
  notification,
  pick,
  rowsBelow,
  saveAs,
  screenshot,
  tooltip,
  treeRows,
  webview,
} from '../workbench/index';
import type { Workbench } from '../workbench/index';

const STEPS = 33;
/** Each of these is read three times, so that Lossless can condense. */
const NAMES = ['alpha', 'beta', 'gamma', 'delta', 'epsilon', 'zeta', 'eta', 'theta', 'iota', 'kappa', 'lambda'];
const PROMPT = 'Read every module three times over';
const DONE = 'Every module was read three times.';
/** The title that the model gives; the row of a live conversation shows the prompt instead. */
const TITLE = 'Modules read thrice';
/** What a condensed row shows of it. */
const ROW = 'Modules read';

const nameAt = (step: number): string => NAMES[step % NAMES.length] ?? '';

const fileText = (name: string): string =>
  Array.from({ length: 150 }, (_, line) => `export const ${name}_${line} = '${name} number ${line} of many';`).join(
    '\n',
  );

/** Returns a file's last line, which a truncated result lacks. */
const lastLine = (name: string): string => `export const ${name}_149 = '${name} number 149 of many';`;

const isStep = ({ body }: RecordedRequest): boolean => objects(body['tools']).length > 0;

const number = (text: string | undefined): number => Number(text?.replaceAll(',', ''));

/** Exports the condensed conversation from its details in one format, and reads the file. */
async function exported(bench: Workbench, form: RegExp, file: string): Promise<string> {
  await clickRow(bench, ROW);
  await (await webview(bench, 'a.button')).getByRole('link', { name: 'Export…' }).click();
  await pick(bench, form);
  await saveAs(bench, file);
  await notification(bench, `Exported to ${basename(file)}.`);
  await closeParts(bench, 'notifications');
  return readFileSync(file, 'utf8');
}

const resultsIn = (messages: readonly Json[]): Json[] =>
  messages.flatMap(getBlocks).filter(({ type }) => type === 'tool_result');

const showsCondensesAndExportsAStoredTaskOfThirtyThreeSteps: SharedScenario = async (bench, bed) => {
  const { folder = '' } = bench;
  const counter = createCounter();
  const steps = Array.from({ length: STEPS }, (_, step) => {
    const filePath = join(folder, `${nameAt(step)}.ts`);
    return callsTool({ name: 'read_file', input: { filePath, startLine: 1, endLine: 400 } });
  });
  const play = scriptedAgent([{ prompt: PROMPT, steps: [...steps, reply(DONE)] }]);
  const server = await startAnthropicServer({
    apiKey: KEY,
    script: (request) => (isStep(request) ? play(request) : reply(TITLE)),
    countTokens: (text) => counter.countText(text),
  });
  try {
    await newChat(bench, server, {
      files: Object.fromEntries(NAMES.map((name) => [`${name}.ts`, fileText(name)])),
      profile: { contextWindow: 200_000 },
      // Without condensing, the last request contains the complete conversation, to compare with.
      settings: { ...MANY_REQUESTS, 'contextCondenser.automatic': false },
    });
    await ask(bench, PROMPT);
    await answerText(bench, (said) => said.includes(DONE));
    await waitUntilStored(bench, DONE);

    const last = answeredRequests(server.requests).at(-1);
    assert.ok(last);
    const results = steps.map((_, step) => findResult(last, callId(0, step)) ?? '');
    assert.deepEqual(
      results.flatMap((result, step) => (result.includes(lastLine(nameAt(step))) ? [] : [step])),
      [],
      'every step has its whole result in the last request',
    );
    const least = results.reduce((sum, result) => sum + counter.countText(result), 0);
    const most = counter.countText(JSON.stringify(last.body));

    await openConversations(bench);
    // There is no space between label and description.
    const row = new RegExp(`^${ROW}.*…\\s*\\d+% · (?:now|\\d+[mhd])$`);
    await rowsBelow(bench, /^\s*VS Code/, (texts) => texts.some((text) => row.test(text)));
    const words = await tooltip(bench, ROW);
    const [, share, tokens] = /Context window: (?:≈ )?(\d+)% full: (?:≈ )?([\d,]+)/.exec(words) ?? [];
    await screenshot(bench, 'stored-chat-dark', true);
    bed.report(`row: ${share}%, ${tokens} tokens; results ${least}, last request ${most}\n${words}`);
    // The agent records the server's counts, but its transcript lacks results.
    const { input_tokens: input = 0, cache_read_input_tokens: read = 0, ...usage } = last.usage ?? {};
    const { cache_creation_input_tokens: written = 0, output_tokens: output = 0 } = usage;
    assert.equal(
      number(tokens),
      [input, read, written, output].map(Number).reduce((sum, each) => sum + each, 0),
    );
    assert.match(words, /by the last recorded request/);
    assert.match(words, /of 200,000/, 'the window is that of the model in the chat');
    assert.match(words, /File: .*[\\/]chatSessions[\\/]/);
    const messages = number(/can be condensed: ([\d,]+) tokens/.exec(words)?.[1]);
    assert.ok(messages >= least && messages <= most, `${messages}, not ${least} to ${most}`);

    await chooseInMenu(bench, ROW, 'Condense');
    const done = await notification(bench, 'Condensed “');
    const [, before, after] = /([\d,]+) → ([\d,]+) tokens/.exec(done.text) ?? [];
    bed.report(done.text);
    assert.equal(number(before), messages, 'the result begins with the size in the tooltip');
    assert.ok(number(after) < number(before) / 2, 'two of three readings are left out');
    await treeRows(bench, (texts) => texts.some((text) => new RegExp(`${ROW}.*−\\d+%`).test(text)));
    await screenshot(bench, 'stored-chat-condensed-dark');
    await closeParts(bench, 'notifications');

    const whole = JSON.parse(await exported(bench, /^Anthropic Messages$/, join(folder, 'whole.json'))) as Json;
    const wholeResults = resultsIn(objects(whole['messages'])).map((result) => JSON.stringify(result));
    assert.equal(wholeResults.length, STEPS);
    wholeResults.forEach((result, step) => {
      assert.ok(result.includes(lastLine(nameAt(step))), `the result of step ${step}: ${result.slice(-200)}`);
    });
    const copy = JSON.parse(
      await exported(bench, /^Anthropic Messages \(condensed\)$/, join(folder, 'condensed.json')),
    ) as Json;
    assert.equal(resultsIn(objects(copy['messages'])).length, STEPS, 'each call keeps its result');
    const markdown = await exported(bench, /^Markdown \(condensed\)$/, join(folder, 'condensed.md'));
    for (const text of [JSON.stringify(copy), markdown]) {
      assert.ok(text.includes(PROMPT) && text.includes(DONE));
      assert.deepEqual(
        NAMES.filter((name) => !text.includes(lastLine(name))),
        [],
        'one reading of each file is left',
      );
    }
  } finally {
    await server.close();
  }
};

export const storedChat: SharedScenarios = {
  open: chatWindow,
  scenarios: { showsCondensesAndExportsAStoredTaskOfThirtyThreeSteps },
  seconds: 40,
};
