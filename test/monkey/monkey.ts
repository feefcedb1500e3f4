/**
 * Uses chats, commands, settings and the panel at random, from a seed, while the model misbehaves,
 * and checks what must always be true.
 */
import assert from 'node:assert/strict';
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { AgentRuntime } from '../../src/agent/runtime';
import { readInformation } from '../../src/agent/testing';
import type { LiveSummary } from '../../src/live/types';
import { condenseNow } from '../../src/commands/condenseNow';
import type { Services } from '../../src/window/services';
import { undoLastCondensation } from '../../src/commands/undo';
import { createCounter } from '../../src/core/testingCounter';
import { openTestPanel, type TestPanel } from '../../src/panel/testing';
import { storeApiKey } from '../../src/settings/keys';
import { profileSchema, type ApiProfile } from '../../src/settings/profiles';
import { Random } from '../generators/random';
import { Workspace } from '../generators/workspace';
import { startAnthropicServer } from '../servers/anthropicServer';
import { reply } from '../servers/behaviour';
import { longTask, TOKEN_FACTOR } from '../servers/longTask';
import type { ModelServer, RecordedRequest } from '../servers/modelServer';
import { workspaceTools } from '../support/agentTools';
import { ChatAgent } from '../support/chatAgent';
import { testServices } from '../support/services';
import { fake, secretStorage } from '../support/vscode';
import { MisbehavingModel } from './misbehaving';

const WINDOW = 40_000;
const CHATS = 3;
/** A longer chat is closed, and another one is started. */
const MAX_MESSAGES = 160;
const SYSTEM = 'You are an expert AI programming assistant. '.repeat(50);

export interface MonkeyOptions {
  readonly seed: number;
  readonly steps: number;
  /** An empty folder. */
  readonly folder: string;
  /** Folder of the bundles, which contain the workers. */
  readonly bundles: string;
  readonly sample: string;
}

export interface MonkeyReport {
  readonly condensations: number;
  readonly requests: number;
  /** Messages with which the strict server rejected requests as invalid. */
  readonly invalid: readonly string[];
  /**
   * Number of requests with more tokens than the window; from the first ones, the client learns how
   * the server counts.
   */
  readonly tooLong: number;
  /** How often the messages were compared while condensing was switched off. */
  readonly comparedOff: number;
  /** Bytes by which the heap is larger at the end than after the first tenth of the run. */
  readonly heapGrowth: number;
  /** Megabytes in the heap after each tenth of the run. */
  readonly heap: readonly number[];
}

type Action = 'ask' | 'cancel' | 'edit' | 'reload' | 'newChat' | 'command' | 'file' | 'setting' | 'panel' | 'off';
const WEIGHTS: Readonly<Record<Action, number>> = {
  ask: 10,
  cancel: 2,
  edit: 1,
  reload: 0.7,
  newChat: 0.3,
  command: 5,
  file: 0.7,
  setting: 3,
  panel: 3,
  off: 0.5,
};

export async function runMonkey(options: MonkeyOptions): Promise<MonkeyReport> {
  const monkey = await Monkey.start(options);
  try {
    return await monkey.run(options.steps);
  } finally {
    await monkey.stop();
  }
}

class Monkey {
  private chats: ChatAgent[] = [];
  private made = 0;
  private requests = 0;
  private condensations = 0;
  private tooLong = 0;
  private comparedOff = 0;
  private readonly invalid: string[] = [];
  private readonly panel: TestPanel;

  private constructor(
    private readonly options: MonkeyOptions,
    private readonly random: Random,
    private readonly workspace: Workspace,
    private readonly model: MisbehavingModel,
    private readonly server: ModelServer,
    private readonly services: Services,
    private readonly log: { readonly lines: string[] },
    private agent: AgentRuntime,
  ) {
    services.condensed.event(() => this.condensations++);
    this.panel = openTestPanel();
    this.panel.page.receive({ type: 'ready', version: 1 });
  }

  static async start(options: MonkeyOptions): Promise<Monkey> {
    const random = new Random(options.seed);
    const task = longTask('/home/dev/project', 1);
    const workspace = new Workspace('/home/dev/project');
    for (const [path, text] of task.files) workspace.write(path, text);
    const model = new MisbehavingModel(random.fork(), workspace);
    const counter = createCounter();
    const server = await startAnthropicServer({
      script: model.answer,
      maxContextTokens: WINDOW,
      countTokens: (text) => Math.ceil(counter.countText(text) * TOKEN_FACTOR),
    });
    mkdirSync(join(options.folder, 'extension'));
    symlinkSync(options.bundles, join(options.folder, 'extension', 'dist'));
    const { services, log } = testServices(join(options.folder, 'extension'), join(options.folder, 'storage'));
    const profiles = ['work', 'cheap'].map((id) => makeProfile(id, server.url));
    fake.settings['contextCondenser.profiles'] = profiles;
    fake.settings['contextCondenser.condensingProfile'] = 'cheap';
    for (const profile of profiles) await storeApiKey(secretStorage, profile, 'key');
    return new Monkey(options, random, workspace, model, server, services, log, new AgentRuntime(services));
  }

  async run(steps: number): Promise<MonkeyReport> {
    const heap: number[] = [];
    for (let step = 0; step < steps; step++) {
      const action = this.random.weighted(WEIGHTS);
      try {
        await this.act(action);
      } catch (error) {
        throw new Error(`seed ${this.options.seed}, step ${step} (${action}): ${String(error)}`, { cause: error });
      }
      this.look();
      if ((step + 1) % Math.ceil(steps / 10) === 0 || step + 1 === steps) heap.push(await this.heap());
    }
    return {
      condensations: this.condensations,
      requests: this.requests,
      invalid: this.invalid,
      tooLong: this.tooLong,
      comparedOff: this.comparedOff,
      heapGrowth: (heap.at(-1) ?? 0) - (heap[0] ?? 0),
      heap: heap.map((bytes) => Math.round(bytes / 1e6)),
    };
  }

  async stop(): Promise<void> {
    this.agent.dispose();
    this.panel.page.dispose();
    await this.server.close();
    rmSync(this.options.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  private async act(action: Action): Promise<void> {
    switch (action) {
      case 'ask':
        await (await this.chat()).ask(`Please look at ${this.random.pick(this.workspace.paths)}.`);
        return;
      case 'cancel':
        return this.cancel();
      case 'edit':
        return this.edit();
      case 'reload':
        return this.reload();
      case 'newChat':
        this.chats.splice(this.random.int(CHATS), 1);
        return;
      case 'command':
        return this.command();
      case 'file':
        return this.condenseFile();
      case 'setting':
        this.setting();
        return;
      case 'panel':
        return this.talkToPanel();
      case 'off':
        return this.offIsOff();
    }
  }

  private async chat(): Promise<ChatAgent> {
    this.chats = this.chats.filter(({ messages }) => messages.length < MAX_MESSAGES);
    while (this.chats.length < CHATS) this.chats.push(await this.chatOn(this.agent, `chat-${++this.made}`));
    return this.random.pick(this.chats);
  }

  private async chatOn({ provider }: AgentRuntime, conversationId?: string): Promise<ChatAgent> {
    const models = await readInformation(provider);
    const model = models.find(({ id }) => id.includes('work')) ?? models[0];
    assert.ok(model, 'the chat has a model');
    return new ChatAgent({
      respond: (messages, options, progress, token) =>
        provider.provideResponse(model, messages, options, progress, token),
      tools: workspaceTools(this.workspace),
      system: SYSTEM,
      ...(conversationId !== undefined && { conversationId }),
    });
  }

  /** Cancels an answer that never comes. */
  private async cancel(): Promise<void> {
    const chat = await this.chat();
    this.model.isSilent = true;
    const before = this.server.requests.length;
    const askedPrompt = chat.ask('This one is stopped.');
    const heldRequest = await this.server.request(before);
    chat.cancel();
    await Promise.all([askedPrompt, heldRequest.aborted]);
    this.model.isSilent = false;
  }

  /** Replaces an earlier message of the user. */
  private async edit(): Promise<void> {
    const chat = await this.chat();
    const users = chat.messages.flatMap(({ role, content }, index) =>
      role === 1 && JSON.stringify(content).includes('userRequest') ? [index] : [],
    );
    if (users.length > 0) await chat.edit(this.random.pick(users), 'Another way, please.');
  }

  /** Simulates a reload of the window, which loses everything in memory. */
  private async reload(): Promise<void> {
    this.agent.dispose();
    this.agent = new AgentRuntime(this.services);
    for (const chat of this.chats) chat.moveTo(await this.chatOn(this.agent));
  }

  private async command(): Promise<void> {
    const liveChats = this.agent.chat;
    const list: readonly LiveSummary[] = liveChats.list();
    if (list.length === 0) return;
    const { id, messages } = this.random.pick(list);
    const message = this.random.int(messages);
    switch (this.random.int(7)) {
      case 0:
        await this.agent.condense(id);
        return;
      case 1:
        await liveChats.undo(id);
        return;
      case 2:
        await liveChats.redo(id);
        return;
      case 3: {
        const edits = (await liveChats.view(id))?.edits ?? [];
        if (edits.length > 0) await liveChats.toggleEdit(id, this.random.pick(edits).id);
        return;
      }
      case 4:
        await liveChats.pin(id, message);
        return;
      case 5:
        await liveChats.unpin(id, message);
        return;
      default:
        await undoLastCondensation(this.services);
    }
  }

  /** Runs “Condense Context Now” on a stored conversation, with random choices. */
  private async condenseFile(): Promise<void> {
    fake.onQuickPick = (picker) => {
      const item = picker.items[this.random.int(picker.items.length + 1)];
      if (item) picker.accept(item);
      else picker.hide();
    };
    fake.answers = this.random.chance(0.2) ? [] : [this.random.pick(['Undo', 'Show Diff', 'Details'])];
    fake.cancelAtFirstReport = this.random.chance(0.2);
    await condenseNow(this.services, this.options.sample);
    fake.cancelAtFirstReport = false;
    if (this.random.chance(0.5)) await undoLastCondensation(this.services);
  }

  /** Changes a setting as if by hand in settings.json, to a valid or invalid value. */
  private setting(): void {
    const [name, values] = this.random.pick(SETTINGS);
    if (this.random.chance(0.15)) Reflect.deleteProperty(fake.settings, `contextCondenser.${name}`);
    else fake.settings[`contextCondenser.${name}`] = this.random.pick([...values, 'nonsense', -1, {}]);
  }

  private async talkToPanel(): Promise<void> {
    const [name, values] = this.random.pick(SETTINGS);
    const value = this.random.pick([...values, 'nonsense', -1, [[]], { a: 1 }]);
    if (this.random.chance(0.5)) {
      await this.panel.ask('updateSetting', { name, scope: 'user', path: [], value });
      return;
    }
    for (const message of [null, 1, 'x', { type: name }, { type: 'request', id: value, method: name, params: value }]) {
      this.panel.page.receive(message);
    }
  }

  /**
   * Checks that, when condensing is switched off, a window that has condensed sends the same as a
   * window that never did.
   */
  private async offIsOff(): Promise<void> {
    const chat = await this.chat();
    const before = fake.settings['contextCondenser.automatic'];
    const freshRuntime = new AgentRuntime(
      testServices(join(this.options.folder, 'extension'), join(this.options.folder, `fresh-${++this.made}`)).services,
    );
    fake.settings['contextCondenser.automatic'] = false;
    this.server.play(reply('Ok.'));
    try {
      const sent = await this.bodyOf(chat);
      const controlChat = await this.chatOn(freshRuntime);
      controlChat.messages.push(...chat.messages.slice(0, sent.length));
      const other = await this.bodyOf(controlChat, false);
      assert.deepEqual(sent.body, other.body, 'with the switch off a message was changed');
      if (sent.body !== undefined) this.comparedOff++;
    } finally {
      fake.settings['contextCondenser.automatic'] = before;
      freshRuntime.dispose();
      this.server.play(this.model.answer);
    }
  }

  /** Returns the messages that a chat's next request sends. */
  private async bodyOf(chat: ChatAgent, asks = true): Promise<{ readonly body: unknown; readonly length: number }> {
    const before = this.server.requests.length;
    if (asks) await chat.ask('And now without.');
    else await chat.work();
    const request: RecordedRequest | undefined = this.server.requests[before];
    const answers = asks ? 1 : 0;
    return { body: request?.body['messages'], length: chat.messages.length - (request?.status === 200 ? answers : 0) };
  }

  /** Checks what was sent, and discards it, because the test doubles keep every request. */
  private look(): void {
    this.requests += this.server.requests.length;
    for (const { status, refusal = '' } of this.server.requests) {
      if (status !== 400) continue;
      if (/too long|exceed context limit/.test(refusal)) this.tooLong++;
      else this.invalid.push(refusal);
    }
    this.server.forget();
    fake.shown = [];
    fake.executed = [];
    fake.progress = [];
    fake.offered = [];
    fake.answers = [];
    this.panel.page.sent.splice(0);
    this.log.lines.splice(0);
  }

  private async heap(): Promise<number> {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    // Lets writes in the background end before the heap is measured.
    await new Promise((resolve) => setImmediate(resolve));
    collect();
    return process.memoryUsage().heapUsed;
  }
}

const makeProfile = (id: string, baseUrl: string): ApiProfile =>
  profileSchema.parse({
    id,
    name: id,
    vendor: 'anthropic',
    model: 'claude-sonnet-4-20250514',
    baseUrl,
    contextWindow: WINDOW,
    maxOutputTokens: 2_000,
    offerInChat: id === 'work',
  });

/** Settings that the monkey changes, each with valid values. */
const SETTINGS: readonly (readonly [string, readonly unknown[]])[] = [
  ['provider', ['lossless', 'truncation', 'native', 'smart', 'strategy']],
  ['smart', ['file-aware', 'balanced', 'aggressive', 'conservative', 'quality', 'cost', 'speed', 'multi-zone']],
  ['strategy', ['pipeline', 'cost-aware', 'quality-first']],
  ['threshold', [30, 50, 75, 90]],
  ['manual.targetPercent', [10, 30, 50, 80]],
  ['lossless', [{}, { strictOnly: true }, { keep: 'first' }]],
  ['truncation', [{}, { preserveRecentCount: 4 }]],
  ['native', [{}]],
  ['notifications', ['none', 'statusBar', 'notification']],
  ['agent.backgroundPercent', [0, 40, 60]],
  ['agent.coldPercent', [0, 50]],
  ['maxCostPerCondensation', [0, 0.01, 1]],
  ['coherenceFloor', [{}, { files: 50 }]],
];
