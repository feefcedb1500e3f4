/** Published agents in VS Code's terminal, opened by "Open an Agent, Condensed…" and typed to as a person does. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { MARKER_START } from '../../../src/core/messages/markers';
import type { WireName } from '../../../src/gateway/wires/wire';
import { bigTask } from '../../generators/bigTask';
import { INSTALLED, install, makeBed, setUp } from '../../agents/agentRun';
import { REAL_AGENTS } from '../../agents/agents';
import { startUpstream } from '../../agents/upstream';
import type { Scenario } from '../bed';
import { isAlive, running } from '../gateways';
import {
  clearNotifications,
  diffEditor,
  dismiss,
  notification,
  openContainer,
  pick,
  quickInput,
  runCommand,
  screenshot,
  setTheme,
  treeRows,
  until,
  type QuickPickItem,
  type Workbench,
} from '../workbench/index';

const OPEN = 'Context Condenser: Open an Agent, Condensed…';
const DETAILS = 'Context Condenser: Show Condensed Chat Conversations';
const TASK = 'Go through the whole project and put it in order.';
const CALLS = 60;
const WINDOW = 100_000;
const WAIT_MS = 600_000;

interface Typed {
  /** As the list of agents shows it. */
  readonly label: RegExp;
  readonly wire: WireName;
  /** Settings without which it would ask before it works, beside those that it has headless: path below its home, and text. */
  readonly more: (own: { readonly home: string; readonly work: string }) => Readonly<Record<string, string>>;
  /** Keys that leave it, at its prompt. */
  readonly leave: readonly string[];
}

const json = (value: unknown): string => JSON.stringify(value);

const AGENTS: Readonly<Record<string, Typed>> = {
  codex: {
    label: /^.*Codex/,
    wire: 'responses',
    more: ({ home, work }) => ({
      '.codex/config.toml': `${readFileSync(join(home, '.codex/config.toml'), 'utf8')}[projects."${work}"]\ntrust_level = "trusted"\n`,
    }),
    leave: ['Control+c', 'Control+c'],
  },
  opencode: { label: /OpenCode/, wire: 'anthropic', more: () => ({}), leave: ['Control+c'] },
  pi: {
    label: /Pi$/,
    wire: 'anthropic',
    more: () => ({ '.pi/agent/settings.json': json({ defaultProvider: 'local', defaultModel: 'scripted' }) }),
    leave: ['Control+c', 'Control+c', 'Control+d'],
  },
  gemini: {
    label: /Gemini CLI/,
    wire: 'gemini',
    more: ({ home }) => {
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
    leave: ['Control+c', 'Control+c'],
  },
};

async function details(bench: Workbench): Promise<readonly QuickPickItem[]> {
  await runCommand(bench, DETAILS);
  return (await quickInput(bench, ({ title, items }) => title.includes(TASK) && items.length > 3)).items;
}

/** A task of an agent, from the list of agents to the end of its gateway. */
function taskOf(name: string): Scenario {
  const scenario: Scenario = async (bed) => {
    const agent = REAL_AGENTS.find((one) => one.name === name);
    const typed = AGENTS[name];
    assert.ok(agent && typed);
    const missing = install(agent);
    if (missing !== undefined) {
      bed.report(`skipped: ${missing}`);
      return;
    }
    // Gemini CLI takes no settings from below a folder that others can write to.
    const root = join(INSTALLED, 'beds', `vscode-${process.pid}-${name}`);
    const { wire } = typed;
    const work = join(root, 'work');
    const own = makeBed(root, bigTask(work, 7, CALLS).files);
    execFileSync('git', ['init', '-q', '-b', 'main'], { cwd: work });
    const countTokens = (text: string): number => Math.ceil(text.length / 2.5);
    const upstream = await startUpstream({ wire, work, calls: CALLS, window: WINDOW, countTokens, faults: [] });
    try {
      const setting = { address: upstream.server.url, wire, window: WINDOW };
      const { PATH: _path, HOME: _home, TERM: _term, ...env } = setUp(own, agent, setting);
      for (const [path, text] of Object.entries(typed.more(own))) {
        mkdirSync(dirname(join(own.home, path)), { recursive: true });
        writeFileSync(join(own.home, path), text);
      }
      writeFileSync(join(own.home, '.profile'), `export PATH='${own.bin}:${dirname(process.execPath)}':"$PATH"\n`);
      const bench = await bed.open({
        folder: work,
        home: own.home,
        env,
        settings: { 'contextCondenser.thresholdTokens': 40_000 },
      });
      const { page } = bench;
      await runCommand(bench, OPEN);
      await quickInput(bench, ({ items }) => items.some(({ label }) => typed.label.test(label)));
      await pick(bench, typed.label);
      await until('the gateway', () => running(bench).length === 1, WAIT_MS);
      const [gateway] = running(bench);
      assert.ok(gateway);
      const terminal = page.locator('.terminal-wrapper .xterm-helper-textarea').first();
      // Typed until it is there to listen, as a person does who looks at the screen.
      await until(
        'the agent to begin',
        async () => {
          if (upstream.seen.some(({ kind }) => kind === 'main')) return true;
          await terminal.focus();
          await page.keyboard.press('Control+u');
          await page.keyboard.type(TASK, { delay: 15 });
          await screenshot(bench, `real-${name}-typed`);
          await page.waitForTimeout(2_000);
          await page.keyboard.press('Enter');
          await page.waitForTimeout(5_000);
          await screenshot(bench, `real-${name}-begins`);
          return upstream.seen.some(({ kind }) => kind === 'main');
        },
        WAIT_MS,
      );
      await openContainer(bench, 'Context Condenser');
      const condensed = (texts: readonly string[]): boolean => texts.some((text) => /-\d+%/.test(text));
      await until('half of the task', () => upstream.made() >= CALLS / 2, WAIT_MS);
      await treeRows(bench, condensed);
      await clearNotifications(bench);
      await screenshot(bench, `real-${name}-dark`);
      await setTheme(bench, 'light');
      await screenshot(bench, `real-${name}-light`);
      // In mid-task: undone, the window loaded anew, and a second one.
      await details(bench);
      await pick(bench, /Undo the Last Condensation/);
      await notification(bench, /[Uu]ndone/);
      await screenshot(bench, `real-${name}-undone`);
      const madeThen = upstream.made();
      await bench.reload();
      const other = await bed.openOn(bench.server, { folder: bed.folder() });
      await openContainer(other, 'Context Condenser');
      await treeRows(other, condensed);
      await screenshot(other, `real-${name}-other-window`);
      await other.close();
      await until('the whole task', () => upstream.made() >= CALLS, WAIT_MS);
      assert.ok(isAlive(gateway.pid) && madeThen < CALLS);
      await details(bench);
      await screenshot(bench, `real-${name}-details`);
      await pick(bench, /Pin Messages/);
      await pick(bench, /^1 · user/);
      await page.locator('.quick-input-widget').getByRole('button', { name: 'OK' }).click();
      await until('the pin', async () => {
        const items = await details(bench);
        await dismiss(bench);
        return items.some(({ description }) => description === '1 pinned');
      });
      await details(bench);
      await pick(bench, /Show Diff/);
      await diffEditor(bench, ({ modified }) => modified.join('\n').includes(MARKER_START));
      await screenshot(bench, `real-${name}-diff`);
      const refusals = upstream.server.requests.filter(({ status = 0 }) => status >= 400);
      const figures = `${upstream.made()} calls, ${upstream.server.requests.length} requests, ${refusals.length} refused`;
      bed.report(`${name}: ${figures}, recall ${json(upstream.recalled())}`);
      for (const { refusal, path } of refusals.slice(0, 3)) bed.report(`${path}: ${refusal ?? ''}`);
      // It ends as its user ends it, and then the terminal waits for Enter.
      await until(
        'the gateway to end',
        async () => {
          if (!isAlive(gateway.pid)) return true;
          await terminal.focus();
          for (const key of [...typed.leave, 'Enter']) await page.keyboard.press(key);
          return false;
        },
        WAIT_MS,
      );
      assert.deepEqual(running(bench), []);
    } finally {
      await upstream.close();
      rmSync(root, { recursive: true, force: true });
    }
  };
  return Object.assign(scenario, { lane: 'long' as const, seconds: 120 });
}

export const isCondensedAsCodexInTheTerminal = taskOf('codex');
export const isCondensedAsOpenCodeInTheTerminal = taskOf('opencode');
export const isCondensedAsPiInTheTerminal = taskOf('pi');
export const isCondensedAsGeminiInTheTerminal = taskOf('gemini');
