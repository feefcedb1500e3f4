/**
 * Tests conversations that agents in other processes hold through a gateway. The window lists,
 * condenses and reports them like those of its own chat.
 */
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi, type Mock } from 'vitest';
import { openTestWindow, stubHome } from '../../test/support/testWindow';
import { askInChat } from '../../test/support/askInChat';
import { ConfigurationTarget, fake, workspace, type FakeQuickPick } from '../../test/support/vscode';
import {
  chooseConversation,
  condenseChosenConversation,
  getDefaultConversation,
  resolveConversation,
  loadLiveView,
  subscribeToLiveChanges,
  saveConversationPins,
} from '../commands/chosenConversation';
import { condenseWith } from '../commands/condenseWith';
import { createCounter } from '../core/testingCounter';
import { announceGateway } from '../gateway/announcement';
import { ParsedBody } from '../gateway/bodies';
import { LiveCondenser } from '../gateway/liveCondenser';
import { createLiveRoute } from '../gateway/liveRoute';
import type { LimitNotice } from '../live/conversationSpending';
import { startGateway } from '../gateway/server';
import { findKnownRequest } from '../gateway/wires';
import { makeRequestBody, PATH_BY_WIRE } from '../gateway/wires/testing';
import type { RequestBody } from '../gateway/wires/wire';
import type { ConversationLimits } from '../live/conversationSpending';
import type { LiveConversations } from '../live/liveConversations';
import { createTestBed } from '../live/testing';
import type { LiveSummary } from '../live/types';
import { getRunningFolder } from '../window/background';
import type { Services } from '../window/services';
import { getAgentRuntime, listLiveConversations, type AgentRuntime } from './runtime';

const never = new AbortController().signal;

let services: Services;
let log: { readonly lines: readonly string[] };
let agent: AgentRuntime;
let live: LiveConversations;
let close: () => Promise<void>;
let limits: Mock<(limits: ConversationLimits) => void>;
let tell: (notice: LimitNotice) => void;
/** Makes the agent's requests longer by this many steps of its task. */
let step: (steps: number) => Promise<void>;

beforeEach(async () => {
  const window = openTestWindow();
  ({ services, log } = window);
  stubHome(window.home);
  fake.defaults['contextCondenser.automatic'] = true;
  ({ live } = createTestBed(join(window.home, 'store'), { settings: { provider: 'lossless' } }));
  const listeners: (() => void)[] = [];
  const told: LimitNotice[] = [];
  limits = vi.fn();
  const spending = {
    notices: told,
    onNotice: (listener: () => void) => void listeners.push(listener),
    setLimits: limits,
  };
  tell = (notice) => {
    told.push(notice);
    for (const listener of listeners) listener();
  };
  const gateway = await startGateway({
    routes: new Map(),
    ownRoutes: new Map([['live-x', createLiveRoute(live, { spending })]]),
  });
  const address = gateway.url('live-x');
  await announceGateway(getRunningFolder(services), {
    pid: process.pid,
    address,
    agent: 'Codex',
    folder: '/work/notes',
  });
  agent = getAgentRuntime(services);
  await agent.refreshRunningConversations();
  const condenser = new LiveCondenser({
    live,
    counter: createCounter(),
    addresses: new Map([['a', new URL('http://127.0.0.1:1')]]),
    window: 24_000,
  });
  step = async (steps) => {
    const text = makeRequestBody('anthropic', steps);
    const recognized = findKnownRequest('POST', PATH_BY_WIRE.anthropic)!;
    const read = new ParsedBody(Buffer.from(text), JSON.parse(text) as RequestBody, recognized.wire.list);
    await condenser.prepare(
      { route: 'a', address: new URL('http://127.0.0.1:1'), recognized, headers: {}, read },
      never,
    );
  };
  close = () => gateway.close();
  await step(2);
  await vi.waitFor(() => expect(listLiveConversations(services)).toHaveLength(1));
});

afterEach(async () => {
  agent.dispose();
  live.dispose();
  await close();
});

const last = () => fake.shown.at(-1)!;
const one = (): LiveSummary => listLiveConversations(services)[0]!;
const condensed = (): Promise<void> =>
  vi.waitFor(() => expect(listLiveConversations(services)[0]?.condensations).toHaveLength(1));

describe("an agent's conversation that runs in another process", () => {
  it('is reported like a chat conversation: by a notification with Undo and Show Diff, in the log, and to other extensions', async () => {
    const events: unknown[] = [];
    services.condensed.event((event) => events.push(event));
    fake.settings['contextCondenser.notifications'] = 'notification';
    fake.answers = ['Show Diff'];
    await step(40);
    await condensed();
    await vi.waitFor(() => expect(fake.executed.map(([name]) => name)).toContain('vscode.diff'));
    const told = fake.shown.find(({ choices }) => choices.includes('Undo'));
    expect(told).toMatchObject({
      message: expect.stringMatching(/^Codex: condensed with Lossless, [\d,]+ → [\d,]+ tokens/),
      choices: ['Undo', 'Show Diff'],
    });
    expect(log.lines.join('\n')).toContain('Codex: condensed with Lossless, ');
    expect(events).toMatchObject([{ source: 'agent', conversation: one().id, provider: 'lossless' }]);
    expect(services.last).toMatchObject({ conversation: one().id, isLive: true });
    await agent.undo(one().id);
    await vi.waitFor(() => expect(one().condensations[0]?.isUndone).toBe(true));
    await agent.undo('of nobody');
  });

  it('can be undone from the notification', async () => {
    fake.settings['contextCondenser.notifications'] = 'notification';
    fake.answers = ['Undo'];
    await step(40);
    await vi.waitFor(() => expect(one().condensations[0]?.isUndone).toBe(true));
    await vi.waitFor(() => expect(last()).toMatchObject({ kind: 'information', choices: [] }));
  });

  it('is reported in the status bar if notifications are set to appear there', async () => {
    fake.settings['contextCondenser.notifications'] = 'statusBar';
    await step(40);
    const message: unknown = expect.stringMatching(/^\$\(archive\) Codex: condensed with Lossless, /);
    await vi.waitFor(() => expect(fake.shown).toContainEqual(expect.objectContaining({ kind: 'status', message })));
  });

  it('follows changed spending limits, and messages about them link to the setting', async () => {
    await workspace.getConfiguration('contextCondenser').update('agent.maxCostPerDay', 3, ConfigurationTarget.Global);
    await vi.waitFor(() => expect(limits.mock.calls).toEqual([[{ perConversation: 0, perDay: 3, stops: false }]]));
    fake.answers = ['Open Setting'];
    tell({ words: 'It has cost a lot.', about: 'day' });
    await vi.waitFor(() => expect(fake.executed.at(-1)?.[1]).toBe('@id:contextCondenser.agent.maxCostPerDay'));
    expect(last()).toMatchObject({ message: 'It has cost a lot.', choices: ['Open Setting'] });
  });

  it('says why nothing was condensed when the user condenses it manually, and describes an error', async () => {
    await agent.condense(one().id, 'lossless');
    expect(last()).toMatchObject({ kind: 'information', message: expect.stringMatching(/^Nothing was condensed\./) });
    await agent.condense(one().id, 'of.another');
    expect(last().message).toMatch(/^Nothing was condensed\. .*of\.another/);
  });
});

describe("the panel's preview of a running conversation", () => {
  it('shows the conversation after it was loaded, and follows it', async () => {
    const name = getDefaultConversation(services);
    expect(name).toEqual({ kind: 'live', id: one().id });
    // The conversation's messages are in another process.
    expect(() => resolveConversation(services, name)).toThrow('no longer in memory');
    await loadLiveView(services, name);
    expect(resolveConversation(services, name)).toMatchObject({ kind: 'live', id: one().id, pinned: [] });
    const changed = vi.fn();
    const subscription = subscribeToLiveChanges(services, changed);
    await live.pin(one().id, 0);
    await vi.waitFor(() => expect(changed).toHaveBeenCalled());
    subscription.dispose();
    await loadLiveView(services, { kind: 'file', path: 'any' });
  });

  it('offers the next actions although the messages are in another process', async () => {
    const { id, title } = one();
    const choice = { provider: 'lossless', config: undefined };
    services.last = { conversation: id, title, isLive: true, choice, tokensAfter: 1 };
    const shown: string[] = [];
    fake.onQuickPick = (picker) => {
      shown.push(picker.title);
      picker.hide();
    };
    await condenseWith(services);
    expect(shown).toHaveLength(1);
    expect(fake.shown).toEqual([]);
    services.last = { ...services.last, conversation: 'gone' };
    await condenseWith(services);
    expect(last()).toMatchObject({ kind: 'error' });
    await agent.undo('gone');
    expect(last().message).toBe('Nothing was undone. The conversation is no longer in memory.');
  });

  it('pins exactly the messages that were chosen', async () => {
    const name = getDefaultConversation(services);
    const pinned = (numbers: readonly number[]): Promise<void> =>
      vi.waitFor(() => expect(one().pinned).toEqual(numbers));
    await saveConversationPins(services, name, [0, 1]);
    await pinned([0, 1]);
    await saveConversationPins(services, name, [1, 2]);
    await pinned([1, 2]);
  });

  it('condenses without the excluded messages', async () => {
    await condenseChosenConversation(services, getDefaultConversation(services), [], []);
    expect(last().message).toMatch(/^Nothing was condensed\./);
  });

  it('lets the user choose among running conversations', async () => {
    fake.onQuickPick = (picker) => {
      picker.accept(picker.items[0]!);
    };
    expect(await chooseConversation(services)).toEqual({ kind: 'live', id: one().id });
    fake.onQuickPick = (picker) => {
      picker.hide();
    };
    expect(await chooseConversation(services)).toBeUndefined();
  });
});

describe('the @condenser chat participant', () => {
  const ask = (command?: string) => askInChat(services, command);

  it('previews the picked conversation although its messages are in another process', async () => {
    fake.onQuickPick = (picker) => {
      picker.accept(picker.items[0]!);
    };
    const { text, buttons, result } = await ask('preview');
    expect(result.errorDetails).toBeUndefined();
    expect(text).toContain('Nothing was changed.');
    expect(buttons[0]?.arguments).toEqual([{ live: one().id }]);
  });

  it('keeps the selection on “Open file…” while more conversations appear in the list', async () => {
    let picker: FakeQuickPick | undefined;
    fake.onQuickPick = (shown) => {
      picker = shown;
      shown.activeItems = shown.items.slice(-1);
    };
    const asked = ask('report');
    await vi.waitFor(() => expect(picker?.busy).toBe(false));
    expect(picker?.activeItems[0]?.label).toBe('$(folder-opened) Open file…');
    expect(picker?.items).toContain(picker?.activeItems[0]);
    picker?.hide();
    await asked;
  });

  it('offers the running conversations, and reports on the one that the user picked', async () => {
    expect((await ask()).buttons.map(({ command }) => command)).toContain('contextCondenser.showLive');
    fake.onQuickPick = (picker) => {
      picker.accept(picker.items[0]!);
    };
    const before = await ask('report');
    expect(before.text).toMatch(/[\d,]+ of 24,000 tokens\n- Condenses at [\d,]+ tokens with Lossless/);
    expect(before.buttons.map(({ title }) => title)).toEqual(['Condense This Conversation']);
    expect(before.buttons[0]?.arguments).toEqual([{ live: one().id }]);
    await step(40);
    await condensed();
    expect((await ask('report')).buttons.map(({ title }) => title)).toEqual(['Details…', 'Condense This Conversation']);
  });
});
