import assert from 'node:assert/strict';
import { join } from 'node:path';
import { startAnthropicServer } from '../../servers/anthropicServer';
import { callsTool, neverAnswer, makeErrorResponse, reply, type Behaviour } from '../../servers/behaviour';
import type { ModelServer, RecordedRequest } from '../../servers/modelServer';
import { startOpenAIServer } from '../../servers/openaiServer';
import type { SharedScenarios, SharedScenario } from '../bed';
import { chatWindow, KEY, newChat, pickCondensed, PROFILE_NAME } from '../condensedModel';
import {
  answerText,
  ask,
  cancelAnswer,
  clickNotification,
  diffEditor,
  notification,
  quickInput,
  runCommand,
  screenshot,
  setTheme,
  until,
} from '../workbench/index';
import type { Workbench } from '../workbench/index';
import { STATUS_ITEM, statusText } from '../liveStatus';
import { runInHelper } from '../workbench/helper';
import { MARKER_START } from '../../../src/core/messages/markers';

/** True for a step of the task, and false for the chat's own small requests. */
const isStep = ({ body }: RecordedRequest): boolean => Array.isArray(body['tools']);

const listSteps = (server: ModelServer): readonly RecordedRequest[] => server.requests.filter(isStep);

const refusals = (server: ModelServer): unknown[] =>
  server.requests.flatMap(({ status, index, refusal = '' }) =>
    status === 200 ? [] : [`request ${index}: ${status ?? 'unanswered'} ${refusal}`],
  );

/**
 * Answers each step with the result of `act`, which gets the step's number from 0. The chat's small
 * requests, such as for a title, get another answer.
 */
const stepping = (act: (step: number, request: RecordedRequest) => Behaviour) => {
  let step = 0;
  return (request: RecordedRequest): Behaviour => (isStep(request) ? act(step++, request) : reply('A title'));
};

const readFile = (path: string): Behaviour =>
  callsTool({ name: 'read_file', input: { filePath: path, startLine: 1, endLine: 400 } });

const readIn = ({ folder = '' }: Workbench, name: string): Behaviour => readFile(join(folder, name));

/** Runs a scenario with a server that is closed afterwards. */
async function on(server: Promise<ModelServer>, run: (server: ModelServer) => Promise<void>): Promise<void> {
  const started = await server;
  try {
    await run(started);
  } finally {
    await started.close();
  }
}

const answersWithTools: SharedScenario = async (bench) => {
  const thinking = 'The file is small, so all of it is read.';
  const afterwards = 'One line, and it greets.';
  const script = stepping((step) =>
    step === 0
      ? { ...readIn(bench, 'hello.txt'), thinking }
      : reply(['The file ', 'says hello.'], { thinking: afterwards }),
  );
  // This model returns thinking only on request.
  const model = 'claude-opus-5-5';
  await on(startAnthropicServer({ apiKey: KEY, script, strict: { byModel: true } }), async (server) => {
    await newChat(bench, server, {
      files: { 'hello.txt': 'hello from the file\n' },
      profile: { model, contextWindow: 200_000 },
    });
    await ask(bench, 'What does hello.txt say?');
    assert.match(await answerText(bench, (text) => text.includes('hello')), /The file says hello\./);
    await showThinking(bench, [thinking, afterwards]);
    await screenshot(bench, 'agent-thinking-dark');
    assert.equal(listSteps(server).length, 2);
    assert.deepEqual(refusals(server), []);
    assert.match(JSON.stringify(listSteps(server)[1]?.body), /hello from the file/);
    const log = bench.server.outputText('Context Condenser');
    assert.ok(!log.includes(KEY), 'no key in the log');
  });
};

/** Expands an answer's collapsed parts until its steps and thinking are visible. */
async function showThinking({ page }: Workbench, thoughts: readonly string[]): Promise<void> {
  const answer = page.locator('.interactive-item-container.interactive-response').last();
  const folded = answer.locator(
    'details.completed-response-disclosure:not([open]) > summary, [role="button"][aria-expanded="false"]:visible',
  );
  const shown = answer.locator('.chat-thinking-item:visible');
  await until(`the thinking in the chat: ${thoughts.join(' … ')}`, async () => {
    // An expanded part may contain more, and parts that are redrawn are found the next time.
    if ((await folded.count()) > 0) {
      await folded
        .first()
        .click({ timeout: 2_000 })
        .catch(() => undefined);
      return false;
    }
    const seen = (await shown.allInnerTexts()).join('\n');
    return thoughts.every((thought) => seen.includes(thought));
  });
}

/** Creates a file with some thousand tokens of unique lines. */
const bigFile = (name: string): string =>
  Array.from({ length: 300 }, (_, line) => `export const ${name}_${line} = '${name} number ${line} of many';`).join(
    '\n',
  );

/** Makes the model read files that together exceed its window. */
async function readsBeyondTheWindow(
  bench: Workbench,
  settings: object,
  run: (server: ModelServer) => Promise<void>,
): Promise<void> {
  const names = ['alpha', 'beta', 'gamma', 'delta', 'epsilon', 'zeta'];
  const files = Object.fromEntries(names.map((name) => [`${name}.ts`, bigFile(name)]));
  const script = stepping((step) => {
    const name = names[step];
    return name === undefined ? reply('All read.') : readIn(bench, `${name}.ts`);
  });
  const contextWindow = 60_000;
  await on(startAnthropicServer({ apiKey: KEY, script, maxContextTokens: contextWindow }), async (server) => {
    await newChat(bench, server, {
      files,
      profile: { contextWindow, maxOutputTokens: 8_000 },
      settings: { 'contextCondenser.provider': 'truncation', ...settings },
    });
    await ask(bench, 'Read all files');
    assert.equal(await answerText(bench, (text) => text.includes('All read.')), 'All read.');
    assert.deepEqual(refusals(server), []);
    assert.equal(listSteps(server).length, names.length + 1);
    await run(server);
  });
}

/** This runs before other scenarios that condense, because it expects a single conversation. */
const condensesAndTellsIt: SharedScenario = (bench) =>
  readsBeyondTheWindow(bench, { 'contextCondenser.notifications': 'notification' }, async (server) => {
    const words = await notification(bench, 'Condensed “');
    assert.match(words.text, /: [\d,]+ → [\d,]+ tokens \(−[\d.]+%\)/);
    assert.deepEqual(words.buttons, ['Show Diff', 'Condense With…', 'Undo', 'Details']);
    assert.match(JSON.stringify(listSteps(server).at(-1)?.body), new RegExp(MARKER_START));
    assert.match(await statusText(bench), /\d+K \/ 60K/);
    await screenshot(bench, 'agent-notice-dark');
    await bench.page.locator(`${STATUS_ITEM} a`).hover();
    await bench.page.locator('.monaco-hover:visible', { hasText: 'Condensed' }).first().waitFor();
    await screenshot(bench, 'agent-tooltip-dark');
    await bench.page.locator(`${STATUS_ITEM} a`).click();
    const details = await quickInput(bench, ({ items }) => items.length > 4, 'the details');
    assert.match(details.items.map(({ label }) => label).join('\n'), /Condense Now\nPause Condensing\nShow Diff\nUndo/);
    await screenshot(bench, 'agent-details-dark');
    await bench.page.keyboard.press('Escape');
    // Without this, the status bar's item would get the focus back, and its hover would cover the
    // notification.
    await runInHelper(bench, { commands: [['workbench.action.focusActiveEditorGroup']] });
    await setTheme(bench, 'light');
    await screenshot(bench, 'agent-notice-light');
    await clickNotification(bench, 'Condensed “', 'Show Diff');
    await diffEditor(bench, ({ modified }) => modified.some((line) => line.includes(MARKER_START)));
    await screenshot(bench, 'agent-diff-light');
    await runCommand(bench, 'Context Condenser: Undo the Last Condensation');
    await notification(bench, /undone|reverted/i);
  });

/**
 * The files contain no repetition, so that Lossless removes little, and File-Aware runs at any
 * threshold.
 */
const actsAtTheThreshold: SharedScenario = async (bench, bed) => {
  for (const [percent, whenNotEnough] of [
    [15, undefined],
    [50, undefined],
    [75, undefined],
    [50, 'nothing'],
  ] as const) {
    const settings = {
      'contextCondenser.provider': undefined,
      'contextCondenser.threshold': percent,
      'contextCondenser.agent.whenNotEnough': whenNotEnough,
      'contextCondenser.notifications': 'none',
    };
    await readsBeyondTheWindow(bench, settings, async () => {
      const name = `agent-threshold-${percent}${whenNotEnough === undefined ? '' : '-nothing'}`;
      await bench.page.locator(`${STATUS_ITEM} a`).hover();
      const hover = bench.page.locator('.monaco-hover:visible', { hasText: 'Condenses at' }).first();
      await hover.waitFor();
      const tooltip = await hover.innerText();
      bed.report(`${name}: ${await statusText(bench)}\n${tooltip}`);
      await screenshot(bench, `${name}-tooltip-dark`);
      const follows = ' with Lossless, then Smart (File-Aware) if that is not enough';
      assert.equal(tooltip.includes(follows), whenNotEnough === undefined, tooltip);
      if (percent < 75 && whenNotEnough === undefined)
        assert.match(tooltip, /Last condensed at .*Smart \(File-Aware\): /);
      await bench.page.locator(`${STATUS_ITEM} a`).click();
      const first = await quickInput(bench, ({ items }) => items.length > 0, 'the details or conversations');
      if (!first.items.some(({ label }) => label.includes('Pause Condensing'))) {
        await bench.page.keyboard.press('Enter');
        await quickInput(bench, ({ items }) => items.some(({ label }) => label.includes('Pause')), 'the details');
      }
      await screenshot(bench, `${name}-details-dark`);
      await bench.page.keyboard.press('Escape');
      await runInHelper(bench, { commands: [['workbench.action.focusActiveEditorGroup']] });
    });
  }
};

const cancelsAtOnce: SharedScenario = async (bench, bed) => {
  const script = stepping(() => neverAnswer());
  await on(startAnthropicServer({ apiKey: KEY, script }), async (server) => {
    await newChat(bench, server);
    await ask(bench, 'Wait for me');
    const request = await until('the request', () => listSteps(server)[0]);
    await cancelAnswer(bench);
    const clicked = Date.now();
    await request.aborted;
    bed.report(`the server saw the connection closed ${Date.now() - clicked} ms after the click`);
  });
};

const tellsErrorsInWords: SharedScenario = async (bench) => {
  const script = stepping(() => makeErrorResponse(403, 'permission_error', 'This key may not use the model.'));
  await on(startAnthropicServer({ apiKey: KEY, script }), async (server) => {
    await newChat(bench, server);
    await ask(bench, 'Hello');
    const response = bench.page.locator('.interactive-item-container.interactive-response').last();
    await until(
      'the error in the chat',
      async () => (await response.innerText()).includes('may not use the model'),
      30_000,
    );
    const shown = await response.innerText();
    await screenshot(bench, 'agent-error-dark');
    assert.equal(shown.split('Scripted: The key has no access to this model or function.').length, 2, shown);
    assert.doesNotMatch(shown, /\.cjs|at async|provideLanguageModelChatResponse/);
    assert.equal(listSteps(server).length, 1, 'what is hopeless is not asked again');
  });
};

/** This runs first, because nothing may be condensed in the window yet. */
const offIsOff: SharedScenario = async (bench) => {
  const script = stepping(() => reply('Hello from the model.'));
  await on(startAnthropicServer({ apiKey: KEY, script }), async (server) => {
    await newChat(bench, server, {
      profile: { cacheLifetime: 'none' },
      settings: { 'contextCondenser.automatic': false },
    });
    await ask(bench, 'Hello');
    await answerText(bench, (text) => text.includes('Hello from the model.'));
    assert.deepEqual(refusals(server), []);
    const { messages, system, tools } = listSteps(server)[0]?.body ?? {};
    assert.doesNotMatch(JSON.stringify([messages, system]), /cache_control|condensed:|condensed-content/);
    assert.doesNotMatch(JSON.stringify(tools), /contextCondenser_recall/);
    assert.equal(await bench.page.locator(STATUS_ITEM).count(), 0);
  });
};

const runsOnOpenAi: SharedScenario = async (bench) => {
  const script = stepping((step) => (step === 0 ? readIn(bench, 'hello.txt') : reply('It says hello.')));
  await on(startOpenAIServer({ apiKey: KEY, script }), async (server) => {
    await newChat(bench, server, {
      files: { 'hello.txt': 'hello from the file\n' },
      profile: (address: string) => ({ vendor: 'openai', api: 'responses', model: 'gpt-5', baseUrl: `${address}/v1` }),
    });
    await ask(bench, 'What does hello.txt say?');
    await answerText(bench, (text) => text.includes('It says hello.'));
    assert.deepEqual(refusals(server), []);
  });
};

/** Condenses for another extension's model, which requires no key. */
const wrapsAModelOfVsCode: SharedScenario = async (bench) => {
  await on(startAnthropicServer({ apiKey: KEY, script: reply('A title') }), async (server) => {
    await newChat(bench, server, {
      files: { 'hello.txt': 'hello\n' },
      settings: { 'probe.offersModel': true, 'contextCondenser.agent.wrappedModels': ['condenser-probe/m1'] },
    });
    await pickCondensed(bench, 'Probe Model', 'agent-wrapped-models-dark');
    await ask(bench, 'List the files');
    assert.match(await answerText(bench, (text) => text.includes('I saw')), /I saw [^]*hello\.txt/);
    // No other model has a window of this size: it is the model's input limit plus our reserve for
    // the answer.
    await until('the status bar', async () => / \/ 131K$/.test(await statusText(bench)));
    await screenshot(bench, 'agent-wrapped-dark');
    assert.deepEqual(listSteps(server), [], 'our own model is not asked');
    // The chat keeps the selected model, so the next scenario's is selected again.
    await pickCondensed(bench, PROFILE_NAME);
  });
};

const showsItsModelsOnce: SharedScenario = async (bench) => {
  const script = stepping(() => reply('ok'));
  await on(startAnthropicServer({ apiKey: KEY, script }), async (server) => {
    await newChat(bench, server);
    await bench.page.locator('.interactive-input-part .model-picker-name').first().click();
    const rows = bench.page.locator('.action-widget .monaco-list-row');
    await until('the model picker', async () => (await rows.count()) > 0);
    const named = (await rows.allInnerTexts()).filter((text) => text.includes(`${PROFILE_NAME} · condensed`));
    await screenshot(bench, 'agent-models-dark');
    assert.equal(named.length, 1);
    await bench.page.keyboard.press('Escape');
  });
};

export const agent: SharedScenarios = {
  open: chatWindow,
  scenarios: {
    offIsOff,
    condensesAndTellsIt,
    actsAtTheThreshold,
    answersWithTools,
    runsOnOpenAi,
    cancelsAtOnce,
    tellsErrorsInWords,
    showsItsModelsOnce,
    wrapsAModelOfVsCode,
  },
  seconds: 100,
};
