/**
 * Tests published agents in VS Code's terminal, which are opened with “Open an Agent, Condensed…”
 * and used by typing.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isRecord } from '../../../src/core/messages/blocks';
import { MARKER_START } from '../../../src/core/messages/markers';
import type { WireName } from '../../../src/gateway/wires/wire';
import { bigTask } from '../../generators/bigTask';
import { INSTALLED, install, makeAgentFolders, setUp } from '../../agents/agentRun';
import { REAL_AGENTS } from '../../agents/agents';
import { countBreaks } from '../../agents/breaks';
import { listItems, startUpstream, type Upstream } from '../../agents/upstream';
import type { Scenario } from '../bed';
import {
  chooseAction,
  listAgentsToOpen,
  openConversationDetails,
  pinFirst,
  press,
  pressUntilEnded,
  waitForGateway,
} from '../agentTerminal';
import {
  askGateway,
  canListProcesses,
  isAlive,
  checkGone,
  listProcesses,
  listGatewayProcesses,
  type RunningGateway,
} from '../gateways';
import { countCondensations } from '../longTask';
import { STATUS_ITEM } from '../liveStatus';
import {
  closeParts,
  clickNotification,
  diffEditor,
  dismiss,
  notification,
  notifications,
  openContainer,
  pick,
  screenshot,
  setTheme,
  treeRows,
  until,
  type Workbench,
} from '../workbench/index';

const TASK = 'Go through the whole project and put it in order.';
/** Number of tool calls in the task, and the number of calls after which the user interrupts. */
const CALLS = 60;
const HALF = CALLS / 2;
const WINDOW = 100_000;
const WAIT_MS = 600_000;

interface Typed {
  /** The agent's name in the list. */
  readonly label: RegExp;
  readonly wire: WireName;
  /**
   * Returns additional settings that avoid confirmations: their paths below the agent's home
   * folder, and their text.
   */
  readonly additionalFiles: (own: { readonly home: string; readonly work: string }) => Readonly<Record<string, string>>;
  /** Keys that interrupt the agent's request. */
  readonly cancelKeys: readonly string[];
  /**
   * True if an interrupted agent forgets how far the task was (seen in Gemini CLI 0.61), so that
   * the whole task must be repeated.
   */
  readonly forgets?: boolean;
  /** Keys that exit the agent at its prompt. */
  readonly exitKeys: readonly string[];
}

const json = (value: unknown): string => JSON.stringify(value);

const AGENTS: Readonly<Record<string, Typed>> = {
  codex: {
    label: /^.*Codex/,
    wire: 'responses',
    additionalFiles: ({ home, work }) => ({
      '.codex/config.toml': `${readFileSync(join(home, '.codex/config.toml'), 'utf8')}[projects."${work}"]\ntrust_level = "trusted"\n`,
    }),
    cancelKeys: ['Escape'],
    exitKeys: ['Control+c', 'Control+c'],
  },
  opencode: {
    label: /OpenCode/,
    wire: 'anthropic',
    additionalFiles: () => ({}),
    cancelKeys: ['Escape', 'Escape'],
    exitKeys: ['Control+c'],
  },
  pi: {
    label: /Pi$/,
    wire: 'anthropic',
    additionalFiles: () => ({
      '.pi/agent/settings.json': json({ defaultProvider: 'local', defaultModel: 'scripted' }),
    }),
    cancelKeys: ['Escape'],
    exitKeys: ['Control+c', 'Control+c', 'Control+d'],
  },
  gemini: {
    label: /Gemini CLI/,
    wire: 'gemini',
    additionalFiles: ({ home }) => {
      const path = '.gemini/settings.json';
      const settings = JSON.parse(readFileSync(join(home, path), 'utf8')) as { security: object };
      return {
        [path]: json({
          ...settings,
          security: { ...settings.security, folderTrust: { enabled: false } },
          model: { name: 'gemini-2.5-pro' },
          tools: { allowed: ['run_shell_command', 'read_file'] },
        }),
      };
    },
    cancelKeys: ['Escape'],
    forgets: true,
    exitKeys: ['Control+c', 'Control+c'],
  },
};

/** An agent that works, and its gateway. */
interface AtWork {
  readonly bench: Workbench;
  readonly name: string;
  readonly gateway: RunningGateway;
}

/** True if the gateway's agent runs. This is assumed if processes can't be listed. */
const isAgentRunning = ({ gateway }: AtWork): boolean => !canListProcesses() || listProcesses(gateway.pid).length > 1;

const terminalText = async ({ page }: Workbench): Promise<string> =>
  (await page.locator('.terminal-wrapper .xterm-rows > div').allInnerTexts())
    .map((row) => row.trim())
    .join('\n')
    .trim();

/** The progress of the agent that a scenario waits for. */
interface AwaitedProgress<T> {
  readonly what: string;
  readonly isDone: () => T | undefined | false;
  /** What the user does at each check until the progress is made. */
  readonly userAction?: () => Promise<void>;
}

/** Waits like `until`, but fails with the terminal's text if the agent has exited. */
async function untilAgent<T>(at: AtWork, { what, isDone, userAction }: AwaitedProgress<T>): Promise<T> {
  const { bench, name } = at;
  let text = '';
  const came = await until(
    what,
    async () => {
      // The agent is checked before its progress, because progress that it made before it exited
      // counts.
      const isAtWork = isAgentRunning(at);
      const done = isDone();
      if (done !== undefined && done !== false) return { done };
      // The last text is kept, because an Enter key that the agent didn't read closes its terminal.
      text = (await terminalText(bench)) || text;
      if (!isAtWork) return { hasLeft: true };
      await userAction?.();
      return undefined;
    },
    WAIT_MS,
  );
  if ('done' in came) return came.done;
  await screenshot(bench, `real-${name}-left`);
  const shown = await notifications(bench);
  throw new Error([`The agent has left, and not ${what}:`, text, ...shown.map((one) => one.text)].join('\n'));
}

/** Waits for an event while the agent works. */
function waitForEvent<T>(at: AtWork, what: string, coming: Promise<T>): Promise<T> {
  let come: { readonly value: T } | undefined;
  void coming.then((value) => {
    come = { value };
  });
  return untilAgent(at, { what, isDone: () => come }).then(({ value }) => value);
}

/** Types a prompt again until the agent reads it. */
async function repeatPrompt(at: AtWork, moment: string, prompt: string, isTaken: () => boolean): Promise<void> {
  const { bench, name } = at;
  const { page } = bench;
  const types = async (): Promise<void> => {
    await press(bench, 'Control+u');
    await page.keyboard.type(prompt, { delay: 15 });
    await screenshot(bench, `real-${name}-${moment}-typed`);
    await page.waitForTimeout(2_000);
    await page.keyboard.press('Enter');
    await page.waitForTimeout(5_000);
    await screenshot(bench, `real-${name}-${moment}`);
  };
  await untilAgent(at, { what: `taken "${prompt}"`, isDone: isTaken, userAction: types });
}

/**
 * Tests that a condensation which the user requests and cancels while the gateway is busy has no
 * effect.
 */
async function cancelsCondensing({ bench, name, gateway }: AtWork): Promise<void> {
  const condensations = async () =>
    (await askGateway(gateway, { do: 'list' })).conversations.map((one) => one.condensations);
  const before = await condensations();
  process.kill(gateway.pid, 'SIGSTOP');
  try {
    await chooseAction(bench, TASK, /Condense Now/);
    await notification(bench, /^Condensing the conversation of/);
    await screenshot(bench, `real-${name}-condensing`);
    await clickNotification(bench, /^Condensing the conversation of/, 'Cancel');
    await until('the progress to go', async () => (await notifications(bench)).every(({ busy }) => !busy));
  } finally {
    process.kill(gateway.pid, 'SIGCONT');
  }
  assert.deepEqual(await condensations(), before, 'nothing is condensed');
}

/** Lists the requests that wait for the vendor. */
const listWaiting = ({ server }: Upstream): unknown[] =>
  server.requests.filter(({ status, isAborted }) => status === undefined && !isAborted);

/**
 * Interrupts a pending request as a user does, and repeats this if the agent only retries the
 * request.
 */
async function interruptRequest(at: AtWork, cancel: readonly string[], upstream: Upstream): Promise<void> {
  const { bench, name } = at;
  await untilAgent(at, { what: 'sent a request', isDone: () => listWaiting(upstream).length > 0 });
  const breaks = async (): Promise<void> => {
    await press(bench, ...cancel);
    await bench.page.waitForTimeout(5_000);
  };
  await untilAgent(at, { what: 'broken it off', isDone: () => listWaiting(upstream).length === 0, userAction: breaks });
  await screenshot(bench, `real-${name}-cancelled`);
}

/** Checks that the status bar shows the gateway's state. */
async function checkStatus(bench: Workbench, gateway: RunningGateway): Promise<void> {
  const [conversation] = (await askGateway(gateway, { do: 'list' })).conversations;
  assert.ok(conversation);
  const [tokens, all] = [conversation.tokens, conversation.contextWindow].map((size) => Math.round(size / 1_000));
  const item = bench.page.locator(STATUS_ITEM);
  await until(`${tokens}K / ${all}K in the status bar`, async () =>
    (await item.innerText()).includes(`${tokens}K / ${all}K`),
  );
}

/** Finds the long texts in a value, except system prompts, JSON arguments and encrypted content. */
function* longTexts(value: unknown): Generator<string> {
  if (typeof value === 'string' && value.length > 300) yield value;
  if (Array.isArray(value)) for (const one of value as unknown[]) yield* longTexts(one);
  else if (isRecord(value) && value['role'] !== 'developer' && value['role'] !== 'system')
    for (const [key, one] of Object.entries(value))
      if (!/^arguments$|encrypted|ignature/.test(key)) yield* longTexts(one);
}

/**
 * Checks that the gateway's conversation contains every line that was ever sent, and no markers.
 */
async function checkOriginals(gateway: RunningGateway, upstream: Upstream): Promise<void> {
  const { conversations } = await askGateway(gateway, { do: 'list' });
  const conversation = conversations.toSorted((a, b) => a.messages - b.messages).at(-1);
  assert.ok(conversation);
  const { view } = await askGateway(gateway, { do: 'view', conversation: conversation.id });
  const kept = [...longTexts(view?.original)].join('\n');
  assert.ok(!kept.includes(MARKER_START));
  const whole = new Set(kept.split('\n'));
  const main = upstream.seen.filter(({ kind }) => kind === 'main');
  const sent = new Set(main.flatMap(({ record }) => [...longTexts(listItems(record.body))]));
  const lines = new Set([...sent].flatMap((text) => text.split('\n')));
  assert.ok(lines.size > CALLS * 20);
  // A condensed line may have lost its prefix, so it may be part of another line.
  const lost = [...lines].filter((line) => !line.includes(MARKER_START) && !whole.has(line) && !kept.includes(line));
  assert.deepEqual(lost.slice(0, 5), []);
}

/** Tests an agent's whole task, from the list to the end of its gateway. */
function makeTask(name: string): Scenario {
  const scenario: Scenario = async (bed) => {
    const agent = REAL_AGENTS.find((one) => one.name === name);
    const typed = AGENTS[name];
    assert.ok(agent && typed);
    const missing = await install(agent);
    if (missing !== undefined) {
      bed.report(`skipped: ${missing}`);
      return;
    }
    // Gemini CLI ignores settings in folders that others can write to, so this is not the temporary
    // folder.
    const root = join(INSTALLED, 'beds', `vscode-${process.pid}-${name}`);
    const { wire } = typed;
    const work = join(root, 'work');
    const calls = typed.forgets === true ? CALLS + HALF : CALLS;
    const own = makeAgentFolders(root, bigTask(work, 7, calls).files);
    execFileSync('git', ['init', '-q', '-b', 'main'], { cwd: work });
    const countTokens = (text: string): number => Math.ceil(text.length / 2.5);
    const upstream = await startUpstream({ wire, work, calls, window: WINDOW, countTokens, faults: [] });
    try {
      const setting = { address: upstream.server.url, wire, window: WINDOW };
      const { PATH: _path, HOME: _home, TERM: _term, ...env } = setUp(own, agent, setting);
      for (const [path, text] of Object.entries(typed.additionalFiles(own))) {
        mkdirSync(dirname(join(own.home, path)), { recursive: true });
        writeFileSync(join(own.home, path), text);
      }
      writeFileSync(join(own.home, '.profile'), `export PATH='${own.bin}:${dirname(process.execPath)}':"$PATH"\n`);
      const bench = await bed.open({
        folder: work,
        home: own.home,
        // If one of these is set, Gemini CLI 0.61 ignores the terminal and exits with 42
        // (isHeadlessMode in its bundle).
        env: { ...env, CI: undefined, GITHUB_ACTIONS: undefined },
        // The test can read a terminal only if it is rendered as text.
        settings: { 'contextCondenser.thresholdTokens': 40_000, 'terminal.integrated.gpuAcceleration': 'off' },
      });
      await listAgentsToOpen(bench, typed.label);
      await pick(bench, typed.label);
      const gateway = await waitForGateway(bench, WAIT_MS);
      const begun = (): boolean => upstream.seen.some(({ kind }) => kind === 'main');
      const holding = upstream.hold(HALF);
      const at: AtWork = { bench, name, gateway };
      await until('the agent to start', () => isAgentRunning(at), WAIT_MS);
      await repeatPrompt(at, 'begins', TASK, begun);
      await openContainer(bench, 'Context Condenser');
      const condensed = (texts: readonly string[]): boolean => texts.some((text) => /−\d+%/.test(text));
      // The task is idle now, because the vendor does not answer.
      const goOn = await waitForEvent(at, 'done half of the task', holding);
      await treeRows(bench, condensed);
      await closeParts(bench, 'notifications');
      await screenshot(bench, `real-${name}-dark`);
      await setTheme(bench, 'light');
      await screenshot(bench, `real-${name}-light`);
      await cancelsCondensing(at);
      await interruptRequest(at, typed.cancelKeys, upstream);
      await checkStatus(bench, gateway);
      assert.ok(isAlive(gateway.pid));
      goOn();
      const pausing = upstream.pause((HALF + calls) / 2);
      const madeBefore = upstream.made();
      const goesOn = (): boolean => upstream.made() > madeBefore;
      await repeatPrompt(at, 'goes-on', 'Go on with it.', goesOn);
      // Undo, reload and a second window are tested during the task. By then, an agent that forgot
      // its task and started again has a new conversation, which is condensed, too.
      const answer = await waitForEvent(at, 'done three quarters of the task', pausing);
      await treeRows(bench, condensed);
      await chooseAction(bench, TASK, /Undo the Last Condensation/);
      await notification(bench, /[Uu]ndone/);
      await screenshot(bench, `real-${name}-undone`);
      assert.ok(upstream.made() < calls);
      answer();
      await bench.reload();
      const other = await bed.openOn(bench.server, { folder: bed.folder() });
      await openContainer(other, 'Context Condenser');
      await treeRows(other, condensed);
      await screenshot(other, `real-${name}-other-window`);
      await other.close();
      await untilAgent(at, { what: 'done the whole task', isDone: () => upstream.made() >= calls });
      assert.ok(isAlive(gateway.pid));
      await openConversationDetails(bench, TASK);
      await screenshot(bench, `real-${name}-details`);
      await dismiss(bench);
      await pinFirst(bench, TASK);
      await chooseAction(bench, TASK, /Show Diff/);
      await diffEditor(bench, ({ modified }) => modified.join('\n').includes(MARKER_START));
      await screenshot(bench, `real-${name}-diff`);
      // Some agents clear old results themselves and no longer send them; the gateway's
      // conversation follows.
      if (agent.replacedResults === undefined) await checkOriginals(gateway, upstream);
      const { conversations } = await askGateway(gateway, { do: 'list' });
      assert.equal(conversations.length, 1, 'it is one conversation');
      const refusals = upstream.server.requests.filter(({ status = 0 }) => status >= 400);
      const breaks = countBreaks(upstream.seen, agent.replacedResults);
      bed.report(
        `${name}: ${upstream.made()} calls, ${upstream.server.requests.length} requests, ${refusals.length} refused, ` +
          `${countCondensations(bench)} condensations, ${breaks.all} breaks (${breaks.own} its own), recall ${json(upstream.recalled())}`,
      );
      for (const { refusal, path } of refusals.slice(0, 3)) bed.report(`${path}: ${refusal ?? ''}`);
      // The agent exits when the user says so, and then the terminal waits for Enter.
      const began = listGatewayProcesses(bench);
      await pressUntilEnded(bench, gateway, [...typed.exitKeys, 'Enter'], WAIT_MS);
      await checkGone(bench, began, agent.requestLogs);
    } finally {
      await upstream.close();
      rmSync(root, { recursive: true, force: true });
    }
  };
  return Object.assign(scenario, { lane: 'long' as const, seconds: 120 });
}

export const isCondensedAsCodexInTheTerminal = makeTask('codex');
export const isCondensedAsOpenCodeInTheTerminal = makeTask('opencode');
export const isCondensedAsPiInTheTerminal = makeTask('pi');
export const isCondensedAsGeminiInTheTerminal = makeTask('gemini');
