import { countCommonPrefix } from '../../live/align';
import type { HostModels } from '../../background/hostModels';
import type { EditId } from '../../core/condense/edits/edits';
import type { OutcomeSummary } from '../../core/condense';
import { MARKER_START } from '../../core/messages/markers';
import type { LoadOwnModel } from '../../core/condense/summarizer';
import type { Usage } from '../../core/cost/usage';
import type { ApiMessage } from '../../core/messages/types';
import type { OverflowReport } from '../../api/tooLong';
import type { ProviderCallHandlers } from '../../extensionApi/remoteProvider';
import type { LiveEvent } from '../../live/events';
import type { AgentRequest, LiveId } from '../../live/request';
import type {
  ManualCondensationResult,
  ChatConversations,
  CommandResult,
  ExpandedInput,
  LiveSummary,
  LiveView,
  PreparedChat,
  RecallQuery,
  RecallResult,
  WindowEngine,
} from '../../live/types';
import type { Engine, LiveEngine } from '../engine';
import { EngineDiedError } from '../engineThread';
import { decodeList, decodeMessages } from './lists';
import {
  MAX_CHATS,
  type LiveConversationsChange,
  type LiveEngineSetup,
  type EncodedPreparedRequest,
  type EncodedAgentRequest,
} from './messages';
import { isEqual } from '../../core/isEqual';
import { LruMap } from '../../core/lruMap';

/** Number of attempts to read a view, because the chat may change between question and answer. */
const MAX_COMPARED_CHATS = 3;

export interface LiveClientOptions {
  /**
   * Starts the engine if necessary.
   * @throws EngineDiedError if it died and may not be restarted yet
   */
  readonly engine: () => Engine;
  /** Folder of the ledgers. */
  readonly root: string;
  /** Folder that keeps the summaries from paid model calls. */
  readonly summaries: string;
  /** Returns the current settings; called for each request. */
  readonly setup: () => LiveEngineSetup;
  readonly headline: (outcome: OutcomeSummary) => string;
  /** @param own returns the model of a conversation by the name that the engine uses */
  readonly models: (own: (name: string) => LoadOwnModel | undefined) => HostModels;
  readonly providers: ProviderCallHandlers;
}

/** A chat as the engine last received it. */
interface SentChat {
  readonly id: number;
  version: number;
  messages: readonly ApiMessage[];
  system: string | undefined;
  tools: readonly unknown[] | undefined;
  view: readonly ApiMessage[];
  viewId: number;
}

interface PreparedRequestHandle {
  readonly id: number;
  readonly chat: SentChat;
  /** Messages of the prepared request; those of the chat may have changed since. */
  readonly messages: readonly ApiMessage[];
  readonly engine: Engine;
}

interface TrackedConversation {
  readonly request: AgentRequest;
  readonly engine: Engine;
}

export class LiveClient implements ChatConversations, WindowEngine {
  private engine: Engine | undefined;
  private readonly closeController = new AbortController();
  /** Most recently used last. */
  private chats: SentChat[] = [];
  private droppedChatIds: number[] = [];
  private lastChatId = 0;
  /** Prepared requests by their message array, because a copy of a request has the same array. */
  private readonly handles = new WeakMap<readonly ApiMessage[], PreparedRequestHandle>();
  private readonly trackedById = new LruMap<LiveId, TrackedConversation>(MAX_CHATS);
  private readonly ownModels = new Map<string, LoadOwnModel>();
  private summaries: readonly LiveSummary[] = [];
  /**
   * By conversation, US dollars spent with earlier engines, because each engine counts from its
   * start.
   */
  private readonly spentBefore = new Map<LiveId, number | undefined>();
  /** Views that were requested at least once; they are kept up to date. */
  private readonly views = new Map<LiveId, LiveView>();
  private readonly listeners = new Set<(event: LiveEvent) => void>();

  constructor(private readonly options: LiveClientOptions) {}

  async prepare(request: AgentRequest, signal?: AbortSignal): Promise<PreparedChat> {
    const live = this.openEngine();
    const { engine } = this;
    const { chat, kept } = this.findChat(request.messages);
    try {
      const update = this.encodeAgentRequest(request, chat, kept);
      const { messages } = chat;
      const encodedResult = await live.prepare(update, this.options.setup(), signal);
      const prepared = this.decodePreparedChat(encodedResult, { chat, messages, engine: engine as Engine });
      this.rememberConversation(prepared.conversation, { request: { ...request, messages }, engine: engine as Engine });
      return prepared;
    } catch (error) {
      this.dropChat(chat);
      throw error;
    }
  }

  async prepareAfterOverflow(
    preparedChat: PreparedChat,
    request: AgentRequest,
    signal?: AbortSignal,
    overflowReport?: OverflowReport,
  ): Promise<PreparedChat | undefined> {
    let requestHandle = this.handles.get(preparedChat.messages);
    return this.retryAfterDeath(async () => {
      const live = this.openEngine();
      if (requestHandle && requestHandle.engine !== this.engine) {
        // The engine that prepared the request died, so the current engine prepares the request
        // first.
        const prepared = await this.prepare(request, signal);
        requestHandle = this.handles.get(prepared.messages);
      }
      if (!requestHandle) return undefined;
      const { id, chat, messages, engine } = requestHandle;
      const smallerRequest = await live.prepareAfterOverflow(
        id,
        chat.viewId,
        overflowReport,
        this.options.setup(),
        signal,
      );
      return smallerRequest && this.decodePreparedChat(smallerRequest, { chat, messages, engine });
    });
  }

  recordUsage(prepared: PreparedChat, usage: Usage | undefined): void {
    this.reportToEngine(prepared, (live, id) => live.recordUsage(id, usage));
  }

  recordAnswer(prepared: PreparedChat, usage: Usage | undefined): void {
    this.reportToEngine(prepared, (live, id) => live.recordAnswer(id, usage, prepared.countedTokens));
  }

  async expandMarkers(conversation: LiveId, input: unknown): Promise<ExpandedInput> {
    // Shortcut, because almost no call contains a marker.
    if (!JSON.stringify(input ?? null).includes(MARKER_START)) return { input };
    return this.retryAfterDeath(async () =>
      (await this.openConversation(conversation)).expandMarkers(conversation, input),
    );
  }

  async recall(conversation: LiveId | undefined, query: RecallQuery): Promise<RecallResult> {
    return this.retryAfterDeath(async () => {
      if (conversation !== undefined) return (await this.openConversation(conversation)).recall(conversation, query);
      for (const id of this.trackedById.keys()) await this.openConversation(id);
      return this.openEngine().recall(undefined, query);
    });
  }

  /** Counts o200k tokens of the request as received, including system prompt and tools. */
  async count(request: AgentRequest): Promise<number> {
    const live = this.openEngine();
    const { chat, kept } = this.findChat(request.messages);
    try {
      return await live.count(this.encodeAgentRequest(request, chat, kept));
    } catch (error) {
      this.dropChat(chat);
      throw error;
    }
  }

  async countPart(part: string | ApiMessage): Promise<number> {
    return this.openEngine().countPart(part);
  }

  list(): LiveSummary[] {
    return [...this.summaries];
  }

  has(conversation: LiveId): boolean {
    return this.summaries.some(({ id }) => id === conversation);
  }

  /** Returns the last result of {@link view}, which is kept up to date. */
  getCachedView(conversation: LiveId): LiveView | undefined {
    return this.views.get(conversation);
  }

  async view(conversation: LiveId): Promise<LiveView | undefined> {
    const live = await this.openConversation(conversation);
    for (let attempt = 0; attempt < MAX_COMPARED_CHATS; attempt++) {
      const encodedView = await live.view(conversation);
      if (!encodedView) return undefined;
      const chat = this.chats.find(({ id }) => id === encodedView.chat);
      if ((chat?.version ?? 0) !== encodedView.version) continue;
      const original = decodeMessages(encodedView.original, chat?.messages ?? []);
      const { origins, edits, excluded } = encodedView;
      const view = { original, messages: decodeMessages(encodedView.messages, original), origins, edits, excluded };
      this.views.set(conversation, view);
      return view;
    }
    throw new Error('The conversation changes faster than it can be looked at. Try again.');
  }

  async compare(conversation: LiveId): ReturnType<WindowEngine['compare']> {
    return (await this.openConversation(conversation)).compare(conversation);
  }

  async outline(conversation: LiveId): ReturnType<WindowEngine['outline']> {
    return (await this.openConversation(conversation)).outline(conversation);
  }

  /** @throws as {@link LiveEngine.condenseNow} */
  async condenseNow(
    conversation: LiveId,
    options: { readonly provider?: string; readonly config?: unknown; readonly targetPercent?: number },
    signal: AbortSignal,
  ): Promise<ManualCondensationResult> {
    const live = await this.openConversation(conversation);
    const outcome = await live.condenseNow(conversation, options, this.options.setup(), signal);
    return outcome ? { kind: outcome.kind, words: this.options.headline(outcome) } : { words: '' };
  }

  async undo(conversation: LiveId): Promise<CommandResult> {
    return (await this.openConversation(conversation)).undo(conversation);
  }

  async redo(conversation: LiveId): Promise<CommandResult> {
    return (await this.openConversation(conversation)).redo(conversation);
  }

  async toggleEdit(conversation: LiveId, edit: EditId): Promise<CommandResult> {
    return (await this.openConversation(conversation)).toggleEdit(conversation, edit);
  }

  async pin(conversation: LiveId, message: number): Promise<CommandResult> {
    return (await this.openConversation(conversation)).pin(conversation, message);
  }

  async unpin(conversation: LiveId, message: number): Promise<CommandResult> {
    return (await this.openConversation(conversation)).unpin(conversation, message);
  }

  /** @returns a function that unsubscribes */
  on(listener: (event: LiveEvent) => void): () => void {
    this.listeners.add(listener);
    return () => {
      this.listeners.delete(listener);
    };
  }

  configure(): void {
    // If the engine is dead, its successor receives the setup with the next request.
    this.engine?.live.configure(this.options.setup()).catch(() => undefined);
  }

  /** Resolves when background work has ended and all originals are on disk. */
  async close(): Promise<void> {
    this.listeners.clear();
    // A dead engine has nothing to write.
    await this.engine?.live.close().catch(() => undefined);
    this.closeController.abort();
  }

  /**
   * Repeats the question if the engine dies. This ends, because no engine is started after two
   * deaths in a row.
   * @throws EngineDiedError
   */
  private async retryAfterDeath<T>(ask: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await ask();
      } catch (error) {
        if (!(error instanceof EngineDiedError) || error.isResting || this.closeController.signal.aborted) throw error;
      }
    }
  }

  /** @throws EngineDiedError */
  private openEngine(): LiveEngine {
    const engine = this.options.engine();
    if (engine === this.engine) return engine.live;
    this.engine = engine;
    for (const { id, spent } of this.summaries) this.spentBefore.set(id, spent);
    this.chats = [];
    this.droppedChatIds = [];
    const { root, summaries, models, providers } = this.options;
    const { select, summarize, warn } = models((name) => this.ownModels.get(name));
    const { condense, estimate } = providers;
    const onChange = (change: LiveConversationsChange): void => {
      if (engine === this.engine) this.applyLiveChange(change);
    };
    engine.live
      .open({ root, summaries }, onChange, select, summarize, warn, condense, estimate, this.closeController.signal)
      // Errors are ignored here: callers learn of the engine's death from their own calls.
      .catch(() => undefined);
    return engine.live;
  }

  /**
   * Makes sure that the engine has the conversation, in case only an engine that died had it.
   * @throws EngineDiedError
   */
  private async openConversation(conversation: LiveId): Promise<LiveEngine> {
    const live = this.openEngine();
    const trackedConversation = this.trackedById.get(conversation);
    const { engine } = this;
    if (!trackedConversation || !engine || trackedConversation.engine === engine) return live;
    this.trackedById.set(conversation, { ...trackedConversation, engine });
    const { request } = trackedConversation;
    const { chat, kept } = this.findChat(request.messages);
    try {
      await live.follow(this.encodeAgentRequest(request, chat, kept), this.options.setup());
    } catch (error) {
      this.dropChat(chat);
      throw error;
    }
    return live;
  }

  private rememberConversation(conversation: LiveId, known: TrackedConversation): void {
    this.trackedById.set(conversation, known);
  }

  /**
   * Finds the chat that continues in these messages. Chats that share only their beginning, such as
   * those of subagents, are separate.
   */
  private findChat(messages: readonly ApiMessage[]): { readonly chat: SentChat; readonly kept: number } {
    const commonLengths = this.chats.map((chat) => countCommonPrefix(chat.messages, messages));
    const longestCommonLength = Math.max(0, ...commonLengths);
    const likelyChat = this.chats[commonLengths.lastIndexOf(longestCommonLength)];
    const continuedChat = likelyChat && 2 * longestCommonLength >= likelyChat.messages.length ? likelyChat : undefined;
    const chat: SentChat = continuedChat ?? {
      id: ++this.lastChatId,
      version: 0,
      messages: [],
      system: undefined,
      tools: undefined,
      view: [],
      viewId: 0,
    };
    this.chats = [...this.chats.filter((each) => each !== chat), chat];
    for (const { id } of this.chats.slice(0, -MAX_CHATS)) this.droppedChatIds.push(id);
    this.chats = this.chats.slice(-MAX_CHATS);
    return { chat, kept: continuedChat ? longestCommonLength : 0 };
  }

  private dropChat(chat: SentChat): void {
    if (!this.chats.includes(chat)) return;
    this.chats = this.chats.filter((each) => each !== chat);
    this.droppedChatIds.push(chat.id);
  }

  private encodeAgentRequest(
    { system, messages, tools, model, ...otherFields }: AgentRequest,
    chat: SentChat,
    keptCount: number,
  ): EncodedAgentRequest {
    const { summarizer, ...plainModel } = model;
    if (summarizer) this.ownModels.set(model.key, summarizer);
    const addedMessages = messages.slice(keptCount);
    const isHeaderUnchanged = chat.tools !== undefined && system === chat.system && isEqual(tools, chat.tools);
    const { version, viewId: view } = chat;
    const { droppedChatIds: dropped } = this;
    this.droppedChatIds = [];
    chat.messages = [...chat.messages.slice(0, keptCount), ...addedMessages];
    chat.version++;
    if (!isHeaderUnchanged) {
      chat.system = system;
      chat.tools = tools;
    }
    return {
      ...otherFields,
      model: plainModel,
      canSummarize: summarizer !== undefined,
      update: {
        chat: chat.id,
        version,
        messages: { kept: keptCount, added: addedMessages },
        ...(!isHeaderUnchanged && { header: { ...(system !== undefined && { system }), tools } }),
        view,
        dropped,
      },
    };
  }

  private decodePreparedChat(
    { id, view, ...otherFields }: EncodedPreparedRequest,
    requestHandle: Omit<PreparedRequestHandle, 'id'>,
  ): PreparedChat {
    const { chat, messages } = requestHandle;
    const newView = decodeList(chat.view, { kept: view.kept, added: decodeMessages(view.added, messages) });
    chat.view = newView;
    chat.viewId = id;
    this.handles.set(newView, { ...requestHandle, id });
    return { ...otherFields, messages: newView };
  }

  private reportToEngine({ messages }: PreparedChat, report: (live: LiveEngine, id: number) => Promise<void>): void {
    const handle = this.handles.get(messages);
    // A dead engine has lost the request.
    if (handle && handle.engine === this.engine) report(handle.engine.live, handle.id).catch(() => undefined);
  }

  private applyLiveChange({ events, order, changed }: LiveConversationsChange): void {
    const summariesWithTotals = changed.map((summary) => this.addEarlierCosts(summary));
    const summaryById = new Map([...this.summaries, ...summariesWithTotals].map((summary) => [summary.id, summary]));
    // Summaries of conversations that only earlier engines knew are kept until these conversations
    // are used again.
    const { engine } = this;
    const earlierIds = [...summaryById.keys()].filter(
      (id) => !order.includes(id) && this.isFromEarlierEngine(id, engine),
    );
    this.summaries = [...order, ...earlierIds].flatMap((id) => summaryById.get(id) ?? []);
    for (const event of events) this.emitEvent(event);
    // If there are no events, the summaries changed because settings changed.
    if (events.length === 0) for (const { id } of changed) this.emitEvent({ kind: 'changed', conversation: id });
    const changedIds = new Set(events.flatMap((event) => ('conversation' in event ? [event.conversation] : [])));
    for (const id of changedIds) if (this.views.has(id)) void this.reloadView(id);
  }

  private addEarlierCosts({ spent, ...summary }: LiveSummary): LiveSummary {
    if (!this.spentBefore.has(summary.id)) return { ...summary, ...(spent !== undefined && { spent }) };
    const earlierCost = this.spentBefore.get(summary.id);
    return { ...summary, ...(earlierCost !== undefined && spent !== undefined && { spent: earlierCost + spent }) };
  }

  private isFromEarlierEngine(id: LiveId, engine: Engine | undefined): boolean {
    const trackedConversation = this.trackedById.get(id);
    return trackedConversation !== undefined && trackedConversation.engine !== engine;
  }

  private async reloadView(conversation: LiveId): Promise<void> {
    try {
      if (await this.view(conversation)) this.emitEvent({ kind: 'changed', conversation });
    } catch {
      // Components that show the view request it again.
      this.views.delete(conversation);
    }
  }

  private emitEvent(event: LiveEvent): void {
    for (const listener of this.listeners) listener(event);
  }
}
