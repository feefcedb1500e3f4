import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { makeWatchesFail } from '../../test/support/noWatches';
import { openTestWindow } from '../../test/support/testWindow';
import { fake, window, workspace } from '../../test/support/vscode';
import { GATEWAY_TERMINAL_NAME } from '../agent/names';
import { getAgentRuntime } from '../agent/runtime';
import { announceGateway } from '../gateway/announcement';
import { getRunningFolder } from '../window/background';
import type { Services } from '../window/services';
import { openGateway } from './openGateway';

let services: Services;
let log: { readonly lines: readonly string[] };
let server: Server;
/** The windows' questions to the gateway. */
let asked: string[];
/** True if the gateway refuses to end. */
let isStubborn: boolean;

beforeEach(async () => {
  ({ services, log } = openTestWindow());
  fake.defaults['contextCondenser.automatic'] = true;
  asked = [];
  isStubborn = false;
  server = createServer((request, response) => {
    let text = '';
    request.on('data', (part) => (text += String(part)));
    request.on('end', () => {
      const body = JSON.parse(text) as { do: string; after?: number };
      asked.push(body.do);
      // A `list` request with `after` is answered only when something changes, which never happens
      // here.
      if (body.do === 'list' && body.after !== undefined) return;
      if (body.do === 'list') response.end(JSON.stringify({ state: 1, conversations: [] }));
      else response.end(JSON.stringify(isStubborn ? { error: 'It is busy.' } : {}));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterEach(() => {
  for (const each of services.context.subscriptions) void each.dispose();
  server.closeAllConnections();
  server.close();
});

const last = () => fake.shown.at(-1)!;
const getBaseUrl = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}/s3cret`;

/** Announces the gateway as a running one does. */
const announceRunningGateway = (): Promise<() => Promise<void>> =>
  announceGateway(getRunningFolder(services), {
    pid: process.pid,
    address: `${getBaseUrl()}/live`,
    folder: '/work/notes',
    addresses: { anthropic: `${getBaseUrl()}/anthropic`, own: `${getBaseUrl()}/own` },
  });

describe('the command “Open a Gateway for Agent Extensions…”', () => {
  it('starts a gateway in a terminal, and shows its addresses once it runs', async () => {
    fake.picks = ['Anthropic'];
    const opening = openGateway(services);
    await vi.waitFor(() => expect(window.terminals).toHaveLength(1));
    const { options, isShown } = window.terminals[0]!;
    expect(isShown).toBe(true);
    expect(options.shellArgs[1]).toBe('gateway');
    expect(options.shellArgs.join(' ')).toContain(`--announce ${getRunningFolder(services)}`);
    await announceRunningGateway();
    await getAgentRuntime(services).refreshRunningConversations();
    await opening;
    expect(fake.offered[0]!.map(({ label }) => label)).toEqual([
      '$(copy) Anthropic',
      '$(copy) own',
      '$(debug-stop) End the Gateway',
    ]);
    // The secret is only copied, and never shown.
    expect(JSON.stringify(fake.offered[0]!.map(({ description }) => description))).not.toContain('s3cret');
    expect(fake.clipboard).toBe(`${getBaseUrl()}/anthropic`);
    expect(last().message).toMatch(/^Copied\. .* base URL of Anthropic,/);
  });

  it('detects the gateway even if the system has no file watches left', async () => {
    makeWatchesFail();
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const opening = openGateway(services);
    await vi.waitFor(() => expect(window.terminals).toHaveLength(1));
    await announceRunningGateway();
    vi.advanceTimersByTime(2_000);
    await opening;
    expect(fake.offered[0]!.map(({ label }) => label)).toContain('$(copy) Anthropic');
  });

  it('starts only one gateway if called twice before it is ready', async () => {
    const both = [openGateway(services), openGateway(services)];
    await vi.waitFor(() => expect(window.terminals).toHaveLength(1));
    await announceRunningGateway();
    await getAgentRuntime(services).refreshRunningConversations();
    await Promise.all(both);
    expect(window.terminals).toHaveLength(1);
  });

  it('shows the addresses of a running gateway instead of starting another one', async () => {
    await announceRunningGateway();
    fake.picks = ['own', undefined];
    await openGateway(services);
    expect(fake.clipboard).toBe(`${getBaseUrl()}/own`);
    fake.clipboard = '';
    await openGateway(services);
    expect(fake.clipboard).toBe('');
    expect(window.terminals).toEqual([]);
  });

  it('stops the gateway, and reports failures', async () => {
    await announceRunningGateway();
    isStubborn = true;
    fake.picks = ['End the Gateway', 'End the Gateway'];
    await openGateway(services);
    expect(last()).toMatchObject({ kind: 'error', message: 'It is busy.' });
    isStubborn = false;
    fake.shown = [];
    await openGateway(services);
    expect(asked.filter((question) => question === 'end')).toHaveLength(2);
    expect(fake.shown).toEqual([]);
  });

  it('shows no addresses if its terminal closes before the gateway runs', async () => {
    const opening = openGateway(services);
    await vi.waitFor(() => expect(window.terminals).toHaveLength(1));
    window.createTerminal({ name: 'another', shellArgs: [], env: {} }).close();
    window.terminals[0]!.close();
    await opening;
    expect(fake.offered).toEqual([]);
    expect(fake.shown).toEqual([]);
  });

  it('starts no gateway while condensing is off', async () => {
    fake.settings['contextCondenser.automatic'] = false;
    await openGateway(services);
    expect(last().message).toMatch(/^Automatic condensing is off/);
    expect(window.terminals).toEqual([]);
  });
});

describe('a gateway started from a window', () => {
  it('does not start if the workspace turns condensing off, with a message', async () => {
    fake.workspaceSettings['contextCondenser.automatic'] = false;
    fake.answers = ['Turn On', undefined];
    await openGateway(services);
    expect(window.terminals).toHaveLength(0);
    expect(last().message).toContain('The settings of this workspace turn automatic condensing off');
  });

  it('stops when condensing is turned off in the window, unless it belongs to another window', async () => {
    await announceRunningGateway();
    await getAgentRuntime(services).refreshRunningConversations();
    window.createTerminal({ name: 'zsh', shellArgs: [], env: {} });
    await workspace.getConfiguration('contextCondenser').update('automatic', false);
    expect(asked).not.toContain('end');
    await workspace.getConfiguration('contextCondenser').update('automatic', true);
    const opening = openGatewayTerminal();
    isStubborn = true;
    await workspace.getConfiguration('contextCondenser').update('automatic', false);
    await vi.waitFor(() => expect(log.lines).toContain('It is busy.'));
    expect(asked).toContain('end');
    opening.close();
  });

  it('can be restarted from the window after it died', async () => {
    const takeBack = await announceRunningGateway();
    await getAgentRuntime(services).refreshRunningConversations();
    fake.answers = ['Start It Here'];
    await takeBack();
    await getAgentRuntime(services).refreshRunningConversations();
    await vi.waitFor(() => expect(fake.executed).toContainEqual(['contextCondenser.openGateway']));
    expect(last()).toMatchObject({ kind: 'warning', choices: ['Start It Here'] });
  });
});

/** Opens the gateway's terminal like this window does. */
const openGatewayTerminal = () => window.createTerminal({ name: GATEWAY_TERMINAL_NAME, shellArgs: [], env: {} });
