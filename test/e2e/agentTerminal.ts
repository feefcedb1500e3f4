/**
 * Operates agents that run with a gateway in VS Code's terminal: opens them from the list, shows
 * details, and ends them at the prompt.
 */
import assert from 'node:assert/strict';
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../scripts/vscode.mjs';
import type { ModelServer } from '../servers/modelServer';
import { startRelay, type Relay } from '../servers/relay';
import type { Bed, SharedScenarios } from './bed';
import { isAlive, listRunningGateways, type RunningGateway } from './gateways';
import { dismiss, pick, quickInput, runCommand, until, type QuickPickItem, type Workbench } from './workbench/index';

const OPEN = 'Context Condenser: Open an Agent, Condensed…';
const GATEWAY = 'Context Condenser: Open a Gateway for Agent Extensions…';
const DETAILS = 'Context Condenser: Show Condensed Chat Conversations';

export const STEPS = 60;
export const HALF = STEPS / 2;

/** A fake Claude Code that stops after the allowed number of requests, at first {@link HALF}. */
export interface StandIn {
  readonly bench: Workbench;
  readonly home: string;
  /** Allows this many requests in total. */
  readonly allow: (requests: number) => void;
  /** Returns what the agent printed, one line per request. */
  readonly said: () => string[];
  /** Resets the allowed requests and the log for the next agent. */
  readonly reset: () => void;
}

/** Opens a window in which the fake agent is installed; it sends its requests to this address. */
export async function openWithStandIn(bed: Bed, address: string): Promise<StandIn> {
  const home = bed.folder();
  const bin = join(home, 'bin');
  mkdirSync(bin);
  copyFileSync(join(root, 'test', 'e2e', 'stand-in-agent', 'claude.cjs'), join(bin, 'claude'));
  chmodSync(join(bin, 'claude'), 0o755);
  const [go, log] = [join(home, 'go'), join(home, 'log')];
  const allow = (requests: number): void => {
    writeFileSync(go, String(requests));
  };
  allow(HALF);
  // VS Code reads PATH from the login shell.
  writeFileSync(join(home, '.profile'), `export PATH='${bin}':"$PATH"\n`);
  const bench = await bed.open({
    folder: bed.folder({ 'notes.md': '# notes\n' }),
    home,
    env: {
      ANTHROPIC_BASE_URL: address,
      ANTHROPIC_API_KEY: 'sk-test-stand-in',
      STAND_IN_GO: go,
      STAND_IN_LOG: log,
      STAND_IN_STEPS: String(STEPS),
    },
  });
  const said = (): string[] => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []);
  const reset = (): void => {
    allow(HALF);
    rmSync(log, { force: true });
  };
  return { bench, home, allow, said, reset };
}

/** What the scenarios of a window share: the fake agent, and the relay to the current vendor. */
const standIns = new WeakMap<Workbench, { readonly standIn: StandIn; readonly relay: Relay }>();

/** Opens a window with the fake agent; each scenario has its own vendor. */
export const gatewayWindow: SharedScenarios['open'] = async (bed) => {
  const relay = await startRelay();
  bed.atEnd(() => relay.close());
  const standIn = await openWithStandIn(bed, relay.url);
  standIns.set(standIn.bench, { standIn, relay });
  return standIn.bench;
};

/** Makes the shared window's agents use this vendor. */
export function switchVendor(bench: Workbench, { url }: ModelServer): StandIn {
  const shared = standIns.get(bench);
  assert.ok(shared);
  shared.relay.leadTo(url);
  shared.standIn.reset();
  return shared.standIn;
}

/** Runs “Open an Agent, Condensed…”. Returns the list of installed agents. */
export async function listAgentsToOpen(bench: Workbench, label: RegExp): Promise<readonly QuickPickItem[]> {
  await runCommand(bench, OPEN);
  return (await quickInput(bench, ({ items }) => items.some((item) => label.test(item.label)))).items;
}

/** Runs “Open a Gateway for Agent Extensions…”. Returns the list of its addresses. */
export async function listAddresses(bench: Workbench): Promise<readonly QuickPickItem[]> {
  await runCommand(bench, GATEWAY);
  return (await quickInput(bench, ({ items }) => items.some(({ label }) => label === 'Anthropic'))).items;
}

export const waitForGateway = (bench: Workbench, timeout?: number): Promise<RunningGateway> =>
  until(
    'the gateway',
    () => (listRunningGateways(bench).length === 1 ? listRunningGateways(bench)[0] : undefined),
    timeout,
  );

/** Opens the details of a live conversation. */
export async function openConversationDetails(bench: Workbench, title: string): Promise<readonly QuickPickItem[]> {
  await runCommand(bench, DETAILS);
  return (await quickInput(bench, (shown) => shown.title.includes(title) && shown.items.length > 3)).items;
}

export async function chooseAction(bench: Workbench, title: string, action: RegExp): Promise<void> {
  await openConversationDetails(bench, title);
  await pick(bench, action);
}

/** Opens a conversation's details until they show something, and closes them. */
export const waitForDetails = (
  bench: Workbench,
  title: string,
  what: string,
  isShown: (item: QuickPickItem) => boolean,
): Promise<unknown> =>
  until(what, async () => {
    const items = await openConversationDetails(bench, title);
    await dismiss(bench);
    return items.some(isShown);
  });

/** Pins the first message of a conversation, and checks that it is pinned. */
export async function pinFirst(bench: Workbench, title: string): Promise<void> {
  await chooseAction(bench, title, /Pin Messages/);
  await pick(bench, /^1 · user/);
  await bench.page.locator('.quick-input-widget').getByRole('button', { name: 'OK' }).click();
  await waitForDetails(bench, title, 'the pin', ({ description }) => description === '1 pinned');
}

/** Presses keys in the terminal. */
export async function press({ page }: Workbench, ...keys: readonly string[]): Promise<void> {
  await page.locator('.terminal-wrapper .xterm-helper-textarea').first().focus();
  for (const key of keys) await page.keyboard.press(key);
}

/**
 * Presses keys until the gateway has ended, because the terminal waits for Enter after its agent
 * has ended.
 */
export const pressUntilEnded = (
  bench: Workbench,
  { pid }: RunningGateway,
  keys: readonly string[],
  timeout?: number,
): Promise<unknown> =>
  until(
    'the gateway to end',
    async () => {
      if (!isAlive(pid)) return true;
      await press(bench, ...keys);
      return false;
    },
    timeout,
  );
