import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { makeWatchesFail } from '../../test/support/noWatches';
import { openTestWindow } from '../../test/support/testWindow';
import { fake, Uri, window, workspace, type FakeTerminal, type TerminalProfile } from '../../test/support/vscode';
import { getAgentRuntime } from '../agent/runtime';
import { getLiveLedgerFolder, getRunningFolder } from '../window/background';
import type { Services } from '../window/services';
import { createTerminalProfile, getCondensingOptions, openAgent } from './openAgent';

let home: string;
let bin: string;
let services: Services;
let log: { readonly lines: readonly string[] };

beforeEach(() => {
  ({ home, services, log } = openTestWindow());
  fake.defaults['contextCondenser.automatic'] = true;
  bin = join(home, 'bin');
  mkdirSync(bin);
  vi.stubEnv('PATH', bin);
  vi.stubEnv('PATHEXT', '.EXE');
});

afterEach(() => {
  vi.unstubAllEnvs();
  workspace.workspaceFolders = undefined;
  for (const each of services.context.subscriptions) void each.dispose();
});

const getLastMessage = () => fake.shown.at(-1)!;

/** Puts a program on the path. */
function install(command: string): string {
  const path = join(bin, process.platform === 'win32' ? `${command}.EXE` : command);
  writeFileSync(path, '');
  chmodSync(path, 0o755);
  return path;
}

const terminal = (): FakeTerminal => window.terminals.at(-1)!;

describe('the command “Open an Agent, Condensed…”', () => {
  it('names the agents it looked for if none is installed', async () => {
    writeFileSync(join(bin, 'codex'), 'not a program');
    mkdirSync(join(bin, 'claude'));
    fake.answers = ['Which Agents…'];
    await openAgent(services);
    expect(getLastMessage().message).toMatch(/^None of the \d+ agents that can run condensed was found on PATH\.$/);
    expect(fake.offered[0]).toContainEqual({ label: 'Codex', description: 'codex' });
    expect(window.terminals).toEqual([]);
    expect(await createTerminalProfile(services)).toBeUndefined();
  });

  it('offers the installed agents, and runs the chosen one in its own terminal', async () => {
    const [path] = [install('claude'), install('gemini')];
    workspace.workspaceFolders = [{ uri: Uri.file(home) }];
    fake.picks = ['Claude Code'];
    await openAgent(services);
    expect(fake.offered[0]!.map(({ label }) => label)).toEqual(['$(terminal) Claude Code', '$(terminal) Gemini CLI']);
    expect(fake.offered[0]![0]!.description).toBe(path);
    expect(terminal()).toMatchObject({ name: 'Claude Code, condensed', isShown: true });
    const { cwd, shellArgs, env } = terminal().options;
    expect(cwd).toBe(home);
    expect(shellArgs.slice(0, 2)).toEqual([join(home, 'dist', 'cli.cjs'), 'run']);
    expect(shellArgs.at(-1)).toBe('claude');
    expect(shellArgs.join(' ')).toContain(
      `--announce ${getRunningFolder(services)} --store ${getLiveLedgerFolder(services)}`,
    );
    expect(env).toEqual({ ELECTRON_RUN_AS_NODE: '1' });
    // The folder exists before the agent's gateway starts, so that it can announce itself to this
    // window.
    expect(existsSync(getRunningFolder(services))).toBe(true);
  });

  it('opens nothing and completes no step of the walkthrough if no agent is chosen', async () => {
    install('claude');
    await openAgent(services);
    expect(window.terminals).toEqual([]);
    expect(fake.shown).toEqual([]);
    expect(manifest.contributes.walkthroughs[0]!.steps.at(-1)!.completionEvents).toEqual([
      'onContext:contextCondenser.hasOpenedAgent',
    ]);
    const tick = ['setContext', 'contextCondenser.hasOpenedAgent', true];
    expect(fake.executed).not.toContainEqual(tick);
    fake.picks = ['Claude Code'];
    await openAgent(services);
    expect(fake.executed).toContainEqual(tick);
  });

  it("runs the named agent in the given folder, or in the workspace's folder if the given one is gone", async () => {
    install('codex');
    const folder = join(home, 'project');
    mkdirSync(folder);
    await openAgent(services, 'codex', folder);
    expect(terminal().options.cwd).toBe(folder);
    await openAgent(services, 'codex', join(home, 'gone'));
    expect(terminal().options).not.toHaveProperty('cwd');
    expect(fake.offered).toEqual([]);
    await openAgent(services, 'claude', folder);
    expect(getLastMessage()).toMatchObject({
      kind: 'error',
      message:
        'The agent was not started: the command “claude” is not on PATH. Install it, or add its folder to PATH and restart VS Code.',
    });
    expect(window.terminals).toHaveLength(2);
  });

  it('runs the agent even if the system has no file watches left, which is logged once', async () => {
    makeWatchesFail();
    install('claude');
    await openAgent(services, 'claude');
    await openAgent(services, 'claude');
    expect(window.terminals).toHaveLength(2);
    expect(log.lines.filter((line) => line.includes('ENOSPC'))).toHaveLength(1);
  });

  it('is also available as a terminal profile', async () => {
    install('claude');
    fake.picks = ['Claude Code'];
    // The type is the double's own class.
    const profile = (await createTerminalProfile(services)) as unknown as TerminalProfile;
    expect(profile.options.name).toBe('Claude Code, condensed');
    expect(window.terminals).toEqual([]);
  });

  it('asks to turn condensing on if it is off', async () => {
    install('claude');
    fake.settings['contextCondenser.automatic'] = false;
    await openAgent(services, 'claude');
    expect(getLastMessage()).toMatchObject({
      message: expect.stringMatching(/^Automatic condensing is off/),
      choices: ['Turn On'],
    });
    expect(window.terminals).toEqual([]);
    fake.answers = ['Turn On'];
    await openAgent(services, 'claude');
    expect(fake.settings['contextCondenser.automatic']).toBe(true);
    expect(window.terminals).toHaveLength(1);
  });
});

describe('the command line with which VS Code starts a gateway', () => {
  const line = async (settings: Record<string, unknown>): Promise<string> => {
    // Settings change between two tasks of the extension host.
    await Promise.resolve();
    for (const [name, value] of Object.entries(settings)) fake.settings[`contextCondenser.${name}`] = value;
    return getCondensingOptions().join(' ');
  };

  it('omits settings that have their default values', async () => {
    expect(await line({})).toBe('--threshold 75');
    expect(await line({ threshold: 60, thresholdTokens: 90_000 })).toBe('--threshold 60 --threshold-tokens 90000');
    expect(await line({ threshold: 75, thresholdTokens: 0, 'agent.targetPercent': 40 })).toBe(
      '--threshold 75 --target 40',
    );
  });

  it('includes how new results are condensed', async () => {
    const noise = { 'agent.noiseOnArrival': true };
    expect(await line({ 'agent.onArrival': 'off', 'agent.largeResultPercent': 0 })).toBe(
      '--threshold 75 --on-arrival off --large-result 0',
    );
    expect(await line({ 'agent.onArrival': 'lossless', 'agent.largeResultPercent': 12.5, ...noise })).toBe(
      '--threshold 75 --noise-on-arrival --large-result 12.5',
    );
  });

  it('includes a provider that can run outside a VS Code window, with its configuration', async () => {
    expect(await line({ provider: 'truncation', truncation: { minimumTokens: 40 } })).toBe(
      '--threshold 75 --provider truncation --config {"minimumTokens":40}',
    );
    expect(await line({ provider: 'smart', smart: 'file-aware' })).toBe(
      '--threshold 75 --provider smart --config file-aware',
    );
  });

  it('includes the provider that follows Lossless only if one is set', async () => {
    expect(await line({ 'agent.whenNotEnough': 'nothing' })).toBe('--threshold 75 --when-not-enough nothing');
    expect(await line({ 'agent.whenNotEnough': 'fileAware' })).toBe('--threshold 75 --when-not-enough file-aware');
    expect(await line({ 'agent.whenNotEnough': undefined, provider: 'lossless' })).toBe(
      '--threshold 75 --when-not-enough nothing',
    );
    expect(await line({ provider: undefined, lossless: { prefixes: false } })).toBe(
      '--threshold 75 --config {"prefixes":false}',
    );
    // VS Code returns this if nothing is set.
    expect(await line({ lossless: {} })).toBe('--threshold 75');
  });

  it('omits a provider that needs a model or another extension', async () => {
    expect(await line({ provider: 'native', native: { keepLast: 3 } })).toBe('--threshold 75');
    expect(await line({ provider: 'of.another', providers: { 'of.another': { size: 1 } } })).toBe('--threshold 75');
  });
});

it("a VS Code window in agent mode finds the agent's gateway", async () => {
  install('claude');
  await openAgent(services, 'claude');
  expect(getAgentRuntime(services).listConversations()).toEqual([]);
});
