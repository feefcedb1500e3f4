import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openTestWindow } from '../../test/support/testWindow';
import * as vscode from 'vscode';
import { startAnthropicServer } from '../../test/servers/anthropicServer';
import { callsTool, reply } from '../../test/servers/behaviour';
import type { ModelServer } from '../../test/servers/modelServer';
import { fake, window } from '../../test/support/vscode';
import type { Services } from '../window/services';
import { createExternalProvider } from '../extensionApi/externalProvider';
import { parseProvider } from '../extensionApi/parse';
import { cutter } from '../extensionApi/testing';
import { condenseNow } from '../commands/condenseNow';
import { listToolWeights } from '../commands/account';
import { readHistory } from '../commands/history';
import { undoLastCondensation } from '../commands/undo';
import { TEST_API_KEY } from '../api/testing';
import { makeLines } from '../core/testing';
import { storeApiKey } from '../settings/keys';
import { profileSchema } from '../settings/profiles';
import { AgentRuntime, getAgentRuntime, listLiveConversations } from './runtime';
import { FakeChat, readInformation } from './testing';
import { findMarkers, MARKER_START } from '../core/messages/markers';

let services: Services;
let log: { readonly lines: readonly string[] };
let server: ModelServer;
let agent: AgentRuntime;

beforeEach(async () => {
  ({ services, log } = openTestWindow());
  server = await startAnthropicServer({ apiKey: TEST_API_KEY, maxContextTokens: 20_000 });
  const profile = profileSchema.parse({
    id: 'work',
    name: 'Work',
    vendor: 'anthropic',
    model: 'claude-sonnet-4-20250514',
    baseUrl: server.url,
    contextWindow: 20_000,
    maxOutputTokens: 2_000,
    offerInChat: true,
    prices: { input: 3, output: 15 },
  });
  fake.settings['contextCondenser.profiles'] = [profile];
  fake.settings['contextCondenser.provider'] = 'truncation';
  await storeApiKey(services.context.secrets, profile, TEST_API_KEY);
  agent = getAgentRuntime(services);
});

afterEach(async () => {
  agent.dispose();
  await server.close();
});

const shown = (): string[] => fake.shown.map(({ message }) => message);
const item = () => fake.statusBar[0]!;

/** Lets the agent read this many files of this many lines, about 11 tokens each. */
async function readFiles(count: number, lineCount = 170): Promise<FakeChat> {
  const [model] = await readInformation(agent.provider);
  const chat = new FakeChat(agent.provider, model!);
  chat.system('You are an agent.');
  chat.user('<userRequest>Read them all.</userRequest>');
  server.play(
    Array.from({ length: count }, (_, index) =>
      callsTool({ name: 'read_file', input: { path: `${index}.ts` } }),
    ).concat([reply('All read.')]),
  );
  for (let index = 0; index < count; index++) {
    const { calls } = await chat.ask();
    chat.result(calls[0]!, makeLines(`file ${index}`, lineCount));
  }
  expect((await chat.ask()).text).toBe('All read.');
  expect(server.requests.map(({ status }) => status)).toEqual(server.requests.map(() => 200));
  return chat;
}

const lastBody = (): string => JSON.stringify(server.requests.at(-1)?.body);

describe('a chat task that outgrows the window', () => {
  it('is condensed, and this is reported in the status bar, the log and an event', async () => {
    const events: unknown[] = [];
    services.condensed.event((event) => events.push(event));
    await readFiles(9);
    expect(lastBody()).toContain(MARKER_START);
    expect(item()).toMatchObject({ isShown: true, command: 'contextCondenser.showLive' });
    expect(item().text).toMatch(/^\$\(archive\) \d+K \/ 20K$/);
    expect(item().tooltip?.shown).toMatch(
      /Read them all\.\n\n[\d,]+ of 20,000 tokens .*\n\nCondenses at 15,000 tokens with Truncation\n\nLast condensed at .* with Truncation: [\d,]+ → [\d,]+ tokens/,
    );
    expect(fake.shown.every(({ kind }) => kind === 'status')).toBe(true);
    expect(shown()[0]).toMatch(/Condensed with Truncation: [\d,]+ → [\d,]+ tokens/);
    expect(log.lines.join('\n')).toMatch(
      /Context condensed using Truncation:[^]* of the whole request \([\d,]+ → [\d,]+ tokens\)[^]* Why: the (threshold was reached|request would not have fit)\. .*Prompt cache: /,
    );
    expect(events[0]).toMatchObject({ source: 'agent', provider: 'truncation' });
    expect(services.last).toMatchObject({ title: 'Read them all.', isLive: true });
  });

  it("is condensed by another extension's provider with its configuration", async () => {
    const registration = services.registered.addProvider(createExternalProvider(parseProvider(cutter)));
    fake.settings['contextCondenser.provider'] = cutter.id;
    fake.settings['contextCondenser.providers'] = { [cutter.id]: { minimum: 1_000 } };
    await readFiles(10);
    expect(log.lines.join('\n')).toContain('Context condensed using Cutter');
    expect(lastBody()).toContain(`${MARKER_START} a file`);
    registration();
  });

  it('shows a notification with the same actions as after a manual condensation, and none if notifications are off', async () => {
    fake.settings['contextCondenser.notifications'] = 'notification';
    fake.answers = ['Show Diff', 'Details', 'Undo'];
    await readFiles(9);
    await vi.waitFor(() => expect(fake.executed.map(([name]) => name)).toContain('vscode.diff'));
    const notification = fake.shown.find(({ choices }) => choices.includes('Undo'));
    expect(notification?.choices).toEqual(['Show Diff', 'Condense With…', 'Undo', 'Details']);
    expect(notification?.message).toMatch(/^Condensed “.+” with [\w, ]+: [\d,]+ → [\d,]+ tokens \(−\d+%\)/);
    fake.shown = [];
    fake.settings['contextCondenser.notifications'] = 'none';
    await readFiles(9);
    expect(fake.shown).toEqual([]);
  });

  it('is stopped by a spending limit, also after a reload, with a link to the setting', async () => {
    fake.settings['contextCondenser.agent.maxCostPerConversation'] = 0.0001;
    fake.settings['contextCondenser.agent.atMaxCost'] = 'stop';
    fake.answers = ['Open Setting'];
    server.play(reply('Done.'));
    const ask = async (runtime: AgentRuntime): Promise<string> => {
      const [model] = await readInformation(runtime.provider);
      const chat = new FakeChat(runtime.provider, model!);
      chat.user('<userRequest>Do it</userRequest>');
      return (await chat.ask()).text;
    };
    expect(await ask(agent)).toBe('Done.');
    await vi.waitFor(() => {
      expect(fake.executed).toContainEqual([
        'workbench.action.openSettings',
        '@id:contextCondenser.agent.maxCostPerConversation',
      ]);
    });
    agent.dispose();
    agent = new AgentRuntime(services);
    await expect(ask(agent)).rejects.toThrow('the request was not sent. To continue, raise');
    expect(server.requests).toHaveLength(1);
  });

  it('is neither condensed nor shown while condensing is off', async () => {
    await vscode.workspace.getConfiguration('contextCondenser').update('automatic', false);
    await readFiles(3);
    expect(listLiveConversations(services)).toEqual([]);
    expect(item().isShown).toBe(false);
    expect(lastBody()).toContain('file 0 line 169');
  });
});

describe('commands on a chat conversation', () => {
  it("let the chat's own model write the summary if no profile is set for it, and report and count the call", async () => {
    const [profile] = fake.settings['contextCondenser.profiles'] as object[];
    fake.settings['contextCondenser.profiles'] = [{ ...profile, prices: { input: 3, output: 15 } }];
    await readFiles(12, 60);
    server.play(reply('## Goal\nRead them all.'));
    const before = server.requests.length;
    await agent.condense(listLiveConversations(services)[0]!.id, 'native');
    expect(server.requests).toHaveLength(before + 1);
    expect(lastBody()).not.toContain('"tools"');
    const told = log.lines.join('\n');
    expect(told).toContain('Context condensed using Summary');
    expect(told).toMatch(/Cost: \$0\.\d+, 1 request to claude-sonnet-4-20250514 \(Work, the conversation’s own\)/);
    expect(told).toContain(
      'No model for summaries is chosen. The conversation’s own model (Work, claude-sonnet-4-20250514) is used.',
    );
    fake.settings['contextCondenser.maxCostPerCondensation'] = 0;
    await agent.condense(listLiveConversations(services)[0]!.id, 'native');
    expect(server.requests).toHaveLength(before + 1);
  });

  it('take effect with the next request, both condensing and undoing', async () => {
    const chat = await readFiles(12, 60);
    expect(lastBody()).not.toContain(MARKER_START);
    fake.onQuickPick = (picker) => {
      picker.accept(picker.items[0]!);
    };
    await condenseNow(services);
    expect(shown().join()).toContain(' with Truncation: ');
    server.play(reply('ok'));
    chat.user('and now?');
    await chat.ask();
    expect(lastBody()).toContain(MARKER_START);
    fake.settings['contextCondenser.provider'] = 'nobody';
    await agent.condense(listLiveConversations(services)[0]!.id);
    expect(shown().at(-1)).toContain('Nothing was condensed. There is no provider "nobody".');
    await undoLastCondensation(services);
    chat.user('again');
    await chat.ask();
    expect(lastBody()).not.toContain(MARKER_START);
    expect(lastBody()).toContain('file 0 line 59');
    fake.settings['contextCondenser.provider'] = 'lossless';
    fake.answers = ['Use Truncation'];
    await agent.condense(listLiveConversations(services)[0]!.id);
    await vi.waitFor(() => {
      expect(listLiveConversations(services)[0]!.condensations.at(-1)).toMatchObject({
        provider: 'truncation',
        isUndone: false,
      });
    });
  });

  it('show the details: actions, excluded edits and pins', async () => {
    await agent.showDetails();
    expect(shown().at(-1)).toContain('No running conversation is being condensed');
    const chat = await readFiles(12, 60);
    fake.picks = ['Condense Now'];
    await agent.showDetails();
    const offered = fake.offered.at(-1)!.map(({ label }) => label);
    expect(offered[0]).toBe('$(archive) Condense Now');
    expect(fake.offered.at(-1)![0]?.detail).toMatch(
      /^Otherwise automatic at [\d,]+ tokens, or at [\d,]+ if the prompt cache has expired$/,
    );
    expect(fake.executed).toContainEqual(['workbench.action.focusActiveEditorGroup']);
    fake.picks = ['Choose What Stays', ''];
    await agent.showDetails();
    // The newest condensation states its reason, and the cache has a row of its own, because a list
    // cuts off long lines.
    const rows = fake.offered.flat();
    expect(rows.map(({ detail }) => detail)).toContain('Why: asked for by hand.');
    expect(rows).toContainEqual({
      label: 'Prompt cache: warm',
      description: expect.stringMatching(/^last request .* earlier; /),
      detail: expect.stringMatching(/^Each later request costs \$\d\.\d{4} less\. .*Pays for itself /),
    });
    expect(fake.offered.at(-1)![0]).toMatchObject({
      label: expect.stringMatching(/^\d+ fewer tokens · result of read_file \d+\.ts, message \d+$/),
      detail: expect.any(String),
    });
    server.play(reply('ok'));
    chat.user('and now?');
    await chat.ask();
    expect(lastBody()).not.toContain(MARKER_START);
    // The excluded edits can be applied again.
    fake.picks = [
      'Choose What Stays',
      fake.offered
        .at(-1)!
        .map(({ label }) => label)
        .join(),
    ];
    await agent.showDetails();
    chat.user('and then?');
    await chat.ask();
    expect(lastBody()).toContain(MARKER_START);
    fake.picks = ['Pin Messages', '1 · user'];
    await agent.showDetails();
    expect(listLiveConversations(services)[0]?.pinned).toEqual([0]);
    fake.picks = ['Tool Definitions', 'Choose the Chat’s Tools'];
    const showQuickPick = vi.spyOn(window, 'showQuickPick');
    await agent.showDetails();
    expect(showQuickPick.mock.lastCall?.[1]).toMatchObject({
      title: 'Read them all: the tokens that its tools take in each request',
    });
    expect(fake.offered.at(-1)!.slice(1)).toMatchObject([
      { label: expect.stringMatching(/^Built in and from extensions: \d+ tokens$/) },
      {
        label: 'read_file',
        description: expect.stringMatching(/^\d+ tokens · calls here: 12, in other conversations: 0/),
      },
    ]);
    expect(fake.executed.at(-1)).toEqual(['workbench.action.chat.configureTools']);
    // The panel's account shows the same tools.
    expect(listToolWeights(services)).toMatchObject([
      { title: 'Read them all.', agent: 'VS Code', tools: [{ name: 'read_file', calls: 12, callsElsewhere: 0 }] },
    ]);
    for (const action of ['Show Diff', 'Undo the Last', 'Redo', 'Settings']) {
      fake.picks = [action];
      await agent.showDetails();
    }
    expect(fake.executed.map(([name]) => name)).toEqual(
      expect.arrayContaining(['vscode.diff', 'workbench.action.openSettings']),
    );
    for (const left of [[], ['Pin Messages'], ['Choose What Stays']]) {
      fake.picks = left;
      await agent.showDetails();
    }
  });

  it('offer a choice among several conversations', async () => {
    await readFiles(1);
    const [model] = await readInformation(agent.provider);
    const other = new FakeChat(agent.provider, model!, { _conversationId: 'c2' });
    other.user('<userRequest>Another task</userRequest>');
    await other.ask();
    fake.picks = ['Read them all.', 'Condense Now'];
    await agent.showDetails();
    expect(fake.offered[0]!.map(({ label }) => label)).toEqual([
      '$(comment-discussion) Another task',
      '$(comment-discussion) Read them all.',
    ]);
    expect(shown().at(-1)).toContain('Nothing was condensed');
    fake.picks = [];
    await agent.showDetails();
  });
});

it('the tooltip, the details and the history show how often an agent read again what a reference had replaced', async () => {
  const [model] = await readInformation(agent.provider);
  const chat = new FakeChat(agent.provider, model!);
  chat.system('You are an agent.');
  chat.user('<userRequest>Read the file</userRequest>');
  const file = makeLines('const rate', 60).split('\n');
  const tooltip = (): string => (item().tooltip as vscode.MarkdownString).value.replaceAll('\\', '');
  const read = async (startLine: number, endLine: number): Promise<void> => {
    server.play(callsTool({ name: 'read_file', input: { filePath: '/src/a.ts', startLine, endLine } }));
    const { calls } = await chat.ask();
    chat.result(calls[0]!, file.slice(startLine - 1, endLine).join('\n'));
    server.play(reply('ok'));
  };
  await read(1, 60);
  await read(10, 50);
  await chat.ask();
  expect(tooltip()).toMatch(/Left out of one new result: \d+ tokens/);
  expect(tooltip()).not.toContain('Read again');
  await read(11, 49);
  await chat.ask();
  const once = 'Read again right after a reference: once; that file has been sent whole since then';
  expect(tooltip()).toContain(once);
  fake.picks = [];
  await agent.showDetails();
  const undo = fake.offered.at(-1)!.find(({ label }) => label.includes('Send New Results Whole'));
  expect(undo?.description).toContain(once);
  // Edits of new results are saved after their request.
  await vi.waitFor(async () => {
    const { entries } = await readHistory(services, new AbortController().signal);
    expect(entries).toMatchObject([{ place: 'live', provider: 'on-arrival', rereads: 1 }]);
  }, 10_000);
});

describe("the chat's recall tool", () => {
  it('returns condensed content by reference and by search words', async () => {
    await readFiles(9);
    const { reference } = findMarkers(lastBody())[0]!;
    const text = async (input: unknown): Promise<string> =>
      (await agent.recall.invokeTool(input)).content
        .map((part) => (part as vscode.LanguageModelTextPart).value)
        .join('');
    expect(await text({ references: [reference], words: '', pattern: '', fromLine: 1, toLine: 3 })).toContain(
      'file 0 line 1',
    );
    expect(await text({ references: reference })).toContain('file 0');
    expect(await text({ words: 'file 0 line 7' })).toContain('file 0 line 7');
    expect(await text({ references: ['ffffff'] })).not.toContain('file 0');
    expect(await text({ references: 7 })).toContain('Nothing was recalled');
  });
});

describe("VS Code's own models", () => {
  const model = { vendor: 'other', id: 'm', name: 'Other', family: 'f', maxInputTokens: 10_000 };

  it('can be picked, are then offered with condensing as well, and are remembered', async () => {
    const choosesAnother = { ...model, id: 'auto', name: 'Auto', maxInputTokens: 0 };
    fake.models = [model, choosesAnother, { ...model, vendor: 'context-condenser', id: 'own' }];
    fake.picks = ['Other'];
    fake.answers = ['Choose in the Chat'];
    await agent.chooseWrappedModels();
    expect(fake.executed.at(-1)).toEqual(['workbench.action.chat.openModelPicker']);
    expect(fake.offered[0]!.map(({ label }) => label)).toEqual(['Other']);
    expect(shown()).toEqual([expect.stringContaining('Choose “Other · condensed” in the chat’s model picker')]);
    expect(fake.settings['contextCondenser.agent.wrappedModels']).toEqual(['other/m']);
    await vi.waitFor(async () =>
      expect((await agent.catalog.listModels()).map(({ id }) => id)).toEqual(['work', 'other:m']),
    );
    fake.models = [];
    await agent.catalog.refreshModels();
    expect((await agent.catalog.listModels()).map(({ id }) => id)).toEqual(['work', 'other:m']);
    fake.picks = ['other/m'];
    await agent.chooseWrappedModels();
    expect(fake.offered.at(-1)![0]).toMatchObject({ label: 'other/m', description: 'currently unavailable' });
  });

  it('are reported as missing, with a hint where to get some, if VS Code has none', async () => {
    for (const [answer, command] of [
      ['Manage Language Models', 'workbench.action.chat.manage'],
      ['Manage Models', 'contextCondenser.manageProfiles'],
    ] as const) {
      fake.answers = [answer];
      await agent.chooseWrappedModels();
      expect(fake.executed.at(-1)).toEqual([command]);
    }
  });
});

it('invalid settings are reported and replaced by their defaults, and invalid entries of a list are ignored', async () => {
  await vscode.workspace.getConfiguration('contextCondenser').update('agent.declaredWindow', -5);
  await vscode.workspace.getConfiguration('contextCondenser').update('agent.wrappedModels', ['no-slash']);
  await vscode.workspace.getConfiguration('contextCondenser').update('agent.summaryWaitSeconds', 999);
  for (const words of [
    'contextCondenser.agent.declaredWindow: must be at least 0; found -5. 1000000 is used.',
    'contextCondenser.agent.wrappedModels › entry 1: must be a model as vendor/id; found "no-slash". It is ignored.',
    'contextCondenser.agent.summaryWaitSeconds: must be at most 300; found 999. 30 is used.',
  ]) {
    expect(
      log.lines.filter((line) => line.includes(words)),
      words,
    ).toHaveLength(1);
    expect(
      fake.shown.some(({ message }) => message.includes(words)),
      words,
    ).toBe(true);
  }
  expect((await readInformation(agent.provider))[0]?.maxInputTokens).toBe(998_000);
});

it('a VS Code window has only one agent mode', () => {
  expect(getAgentRuntime(services)).toBe(agent);
});
