/** Live conversations that change nothing and record the calls they get. */
import * as vscode from 'vscode';
import { LanguageModelThinkingPart } from '../../test/support/vscode';
import { counter } from '../api/testing';
import type { LanguageModels, LmModel } from '../api/vscodeLm';
import type { ApiMessage } from '../core/messages/types';
import { getKeyTarget, type ApiProfile } from '../settings/profiles';
import type { ChatSpending } from './chatSpending';
import { CondensingProvider } from './condensingProvider';
import { ApiHandlerCache } from './handlers';
import type { LiveConversationsApi, LiveSummary, RecallQuery } from '../live/types';
import type { AgentRequest, LiveId, PreparedRequest } from '../live/request';
import type { LiveEvent } from '../live/events';
import { ModelCatalog } from './modelCatalog';
import { ModelGroups } from './modelGroups';
import type { ModelInformation, WrappedModel } from './offeredModels';
import type { AgentSettings } from './offeredModels';

export class PassThroughConversations implements LiveConversationsApi {
  readonly requests: AgentRequest[] = [];
  readonly queries: [LiveId | undefined, RecallQuery][] = [];
  readonly answers: [PreparedRequest, unknown][] = [];
  /** Usage of requests that were charged. */
  readonly usages: unknown[] = [];
  summaries: LiveSummary[] = [];
  private readonly listeners = new Set<(event: LiveEvent) => void>();

  prepare(request: AgentRequest): Promise<PreparedRequest> {
    this.requests.push(request);
    return Promise.resolve(this.prepared(request));
  }
  prepareAfterOverflow: LiveConversationsApi['prepareAfterOverflow'] = () => Promise.resolve(undefined);
  count({ messages, system = '', tools }: AgentRequest): Promise<number> {
    return Promise.resolve(
      counter.countMessages(messages) + counter.countText(system) + counter.countText(JSON.stringify(tools)),
    );
  }
  countPart(part: string | ApiMessage): Promise<number> {
    return Promise.resolve(typeof part === 'string' ? counter.countText(part) : counter.countMessage(part));
  }
  recordUsage(_prepared: PreparedRequest, usage: unknown): void {
    this.usages.push(usage);
  }
  recordAnswer(prepared: PreparedRequest, usage: unknown): void {
    this.answers.push([prepared, usage]);
  }
  expandMarkers(_conversation: LiveId, input: unknown) {
    return Promise.resolve<{ input: unknown } | { error: string }>({ input });
  }
  recall(conversation: LiveId | undefined, query: RecallQuery) {
    this.queries.push([conversation, query]);
    return Promise.resolve({ kind: 'nothing', text: 'Nothing is condensed.' } as const);
  }
  list(): LiveSummary[] {
    return this.summaries;
  }
  active(): LiveSummary | undefined {
    return this.summaries[0];
  }
  view() {
    return undefined;
  }
  compare() {
    return undefined;
  }
  outline() {
    return undefined;
  }
  condenseNow() {
    return Promise.resolve(undefined);
  }
  undo() {
    return Promise.resolve({ kind: 'nothing', detail: 'There is nothing to undo.' } as const);
  }
  redo() {
    return this.undo();
  }
  toggleEdit() {
    return this.undo();
  }
  pin() {
    return this.undo();
  }
  unpin() {
    return this.undo();
  }
  on(listener: (event: LiveEvent) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
  emit(event: LiveEvent): void {
    for (const listener of this.listeners) listener(event);
  }
  waitUntilSettled(): Promise<void> {
    return Promise.resolve();
  }
  dispose(): void {
    this.listeners.clear();
  }

  prepared({ conversationId = 'none', messages, model }: AgentRequest): PreparedRequest {
    // The test chooses the conversation's ID.
    return {
      conversation: conversationId as LiveId,
      model,
      messages,
      original: messages,
      origins: messages.map((_, index) => index),
      edits: [],
      cacheMarks: [messages.length - 1],
      tokens: 0,
      countedTokens: 0,
      isCalibrated: true,
      contextWindow: 200_000,
      notes: [],
      began: 0,
    };
  }
}

export interface ChatCall {
  readonly id: string;
  readonly name: string;
  readonly input: object;
}

/**
 * Behaves like VS Code's chat with a model: it keeps answers and resends everything in new objects.
 */
export class FakeChat {
  readonly messages: vscode.LanguageModelChatRequestMessage[] = [];
  /** Data parts that the provider reported, by type. */
  readonly data: [string, unknown][] = [];
  readonly thoughts: string[] = [];
  tools: vscode.LanguageModelChatTool[] = [
    { name: 'read_file', description: 'Reads a file.', inputSchema: { type: 'object', properties: {} } },
  ];

  constructor(
    private readonly provider: CondensingProvider,
    private readonly model: vscode.LanguageModelChatInformation,
    private readonly modelOptions: Record<string, unknown> = { _conversationId: 'c1' },
  ) {}

  system(text: string): void {
    this.push(3, new vscode.LanguageModelTextPart(text));
  }

  user(...parts: (string | object)[]): void {
    this.push(1, ...parts.map((part) => (typeof part === 'string' ? new vscode.LanguageModelTextPart(part) : part)));
  }

  result(call: ChatCall, ...content: unknown[]): void {
    const resultParts = content.map((part) =>
      typeof part === 'string' ? new vscode.LanguageModelTextPart(part) : part,
    );
    this.push(1, new vscode.LanguageModelToolResultPart(call.id, resultParts));
  }

  /**
   * Asks the model and keeps its answer.
   * @returns its text and calls
   */
  async ask(token = new vscode.CancellationTokenSource().token): Promise<{ text: string; calls: ChatCall[] }> {
    let text = '';
    const calls: ChatCall[] = [];
    const thoughts: object[] = [];
    const report = (part: vscode.LanguageModelResponsePart): void => {
      if ((part as object) instanceof LanguageModelThinkingPart) thoughts.push(part);
      if (part instanceof vscode.LanguageModelTextPart) text += part.value;
      else if (part instanceof vscode.LanguageModelToolCallPart) {
        calls.push({ id: part.callId, name: part.name, input: part.input });
      } else if (part instanceof vscode.LanguageModelDataPart) {
        this.data.push([part.mimeType, JSON.parse(new TextDecoder().decode(part.data))]);
      }
    };
    const options = {
      tools: this.tools,
      toolMode: vscode.LanguageModelChatToolMode.Auto,
      modelOptions: this.modelOptions,
    };
    await this.provider.provideResponse(this.model, this.messages, options, { report }, token);
    this.thoughts.push(...thoughts.map((part) => String((part as LanguageModelThinkingPart).value)));
    // VS Code returns thinking as well, and an empty text before the calls if the answer had only
    // calls.
    this.push(
      2,
      ...thoughts,
      new vscode.LanguageModelTextPart(text),
      ...calls.map(({ id, name, input }) => new vscode.LanguageModelToolCallPart(id, name, input)),
    );
    return { text, calls };
  }

  private push(role: number, ...content: object[]): void {
    this.messages.push(makeChatMessage(role, ...content));
  }
}

/** Creates a message as VS Code sends it. Role 3 is the system role, which the typings lack. */
export const makeChatMessage = (role: number, ...content: object[]): vscode.LanguageModelChatRequestMessage => ({
  role,
  content,
  name: undefined,
});

/** Creates a provider for these profiles like a window does. */
export function createProvider(
  profiles: readonly ApiProfile[],
  live: LiveConversationsApi,
  {
    settings = {},
    models = [],
    key,
    spending = { beginRequest: () => Promise.resolve(undefined) },
  }: {
    settings?: Partial<AgentSettings>;
    models?: readonly LmModel[];
    key?: string;
    spending?: Pick<ChatSpending, 'beginRequest'>;
  } = {},
) {
  const languageModels: LanguageModels = {
    selectChatModels: (selector) =>
      Promise.resolve(
        models.filter((model) =>
          Object.entries(selector).every(([field, value]) => model[field as keyof LmModel] === value),
        ),
      ),
  };
  const allSettings: AgentSettings = {
    automatic: true,
    declaredWindow: 1_000_000,
    ...settings,
  };
  let rememberedModels: readonly WrappedModel[] = models;
  const logLines: string[] = [];
  const log = (line: string): void => void logLines.push(line);
  const calls: [string, string, object][] = [];
  const changes = { count: 0 };
  const countChange = (): void => {
    changes.count++;
  };
  const catalog = new ModelCatalog({
    models: languageModels,
    profiles: () => profiles,
    wrapped: () => models.map(({ vendor, id }) => `${vendor}/${id}`),
    remembered: {
      get: () => rememberedModels,
      set: (known) => {
        rememberedModels = known;
      },
    },
    onDidChange: countChange,
  });
  const secrets = {
    get: (name: string) => Promise.resolve(findSecret(name)),
    store: () => Promise.resolve(),
    delete: () => Promise.resolve(),
  };
  const findSecret = (name: string): string | undefined => {
    const profile = profiles.find(({ id }) => name.endsWith(`.${id}`));
    return profile && key !== undefined ? JSON.stringify({ key, target: getKeyTarget(profile) }) : undefined;
  };
  const provider = new CondensingProvider({
    catalog,
    groups: new ModelGroups(countChange, 5),
    handlers: new ApiHandlerCache({
      secrets,
      models: languageModels,
      counter: () => Promise.resolve(counter),
      retry: { firstWaitMs: 1 },
    }),
    counter: () => Promise.resolve(counter),
    live: () => Promise.resolve(live),
    settings: () => allSettings,
    threshold: () => ({ percent: 75 }),
    summaries: () => ({ mayCost: true }),
    spending,
    onCall: (...call) => void calls.push(call),
    log: { info: log, warn: log, error: log },
  });
  return { provider, catalog, settings: allSettings, lines: logLines, calls, changes };
}

/** Requests models like VS Code: without a configuration, then for a saved group without values. */
export async function readInformation(provider: CondensingProvider): Promise<ModelInformation[]> {
  await provider.provideInformation({ silent: true });
  // `configuration` is newer than the typings.
  return provider.provideInformation({
    silent: true,
    configuration: {},
  } as vscode.PrepareLanguageModelChatModelOptions);
}
