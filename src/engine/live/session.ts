/**
 * The engine's side of live conversations. It keeps what it received before, so that only new data
 * crosses the threads.
 */
import type { OverflowReport } from '../../api/tooLong';
import type { OutcomeSummary } from '../../core/condense';
import { dropMessagesAndEdits } from '../../core/condense/condensation';
import type { EditId } from '../../core/condense/edits/edits';
import type { DiffTexts } from '../../core/condense/report/foldedTexts';
import type { LoadOwnModel } from '../../core/condense/summarizer';
import type { Usage } from '../../core/cost/usage';
import type { ApiMessage } from '../../core/messages/types';
import type { LiveEvent } from '../../live/events';
import { LiveConversations } from '../../live/liveConversations';
import type { AgentRequest, LiveId, PreparedRequest } from '../../live/request';
import type { CommandResult, ExpandedInput, LiveSummary, RecallQuery, RecallResult } from '../../live/types';
import { HostManager, type HostManagerDependencies } from '../hostManager';
import { countCommonElements, decodeList, encodeMessages } from './lists';
import type {
  LiveConversationsChange,
  LiveEngineSetup,
  EncodedLiveView,
  EncodedMessage,
  EncodedPreparedRequest,
  EncodedAgentRequest,
} from './messages';
import { isEqual } from '../../core/isEqual';
import { LruMap } from '../../core/lruMap';

const MAX_PREPARED_REQUESTS = 40;

interface ReceivedChat {
  version: number;
  messages: readonly ApiMessage[];
  system: string | undefined;
  tools: readonly unknown[];
  conversation?: LiveId;
  /** The view that the host received last, and its ID. */
  view: readonly ApiMessage[];
  viewId: number;
}

interface PreparedForChat {
  readonly request: AgentRequest;
  readonly prepared: PreparedRequest;
  readonly chat: ReceivedChat;
}

export interface LiveSessionDependencies extends Omit<HostManagerDependencies, 'nameOwn'> {
  /** Folder of the ledgers. */
  readonly root: string;
  readonly onChange: (change: LiveConversationsChange) => void;
}

export class LiveSession {
  private readonly live: LiveConversations;
  private readonly host: HostManager;
  private readonly chats = new Map<number, ReceivedChat>();
  private readonly prepared = new LruMap<number, PreparedForChat>(MAX_PREPARED_REQUESTS);
  private readonly ownModels = new Map<string, LoadOwnModel>();
  private setup: LiveEngineSetup = {
    settings: { provider: 'lossless', mayUseNative: false },
    presets: [],
    registered: [],
  };
  private lastId = 0;
  /** By conversation, the summary that the host received last. */
  private readonly sentSummaries = new Map<LiveId, LiveSummary>();
  private events: LiveEvent[] = [];

  constructor(private readonly dependencies: LiveSessionDependencies) {
    const { counter, root, models, providers, signal, summaries } = dependencies;
    const nameOwn = (own: LoadOwnModel | undefined): string | undefined => this.getModelKey(own);
    this.host = new HostManager({ counter, summaries, models, providers, signal, nameOwn });
    const { manager } = this.host;
    this.live = new LiveConversations({ manager, counter, root, settings: () => this.setup.settings });
    this.live.on((event) => {
      this.queueEvent(event);
    });
  }

  async prepare(
    encodedRequest: EncodedAgentRequest,
    setup: LiveEngineSetup,
    signal?: AbortSignal,
  ): Promise<EncodedPreparedRequest> {
    this.applySetup(setup);
    const { request, chat } = this.decodeAgentRequest(encodedRequest);
    const prepared = await this.live.prepare(request, signal);
    chat.conversation = prepared.conversation;
    return this.encodePreparedRequest({ request, prepared, chat }, encodedRequest.update.view);
  }

  async prepareAfterOverflow(
    id: number,
    view: number,
    overflowReport: OverflowReport | undefined,
    setup: LiveEngineSetup,
    signal?: AbortSignal,
  ): Promise<EncodedPreparedRequest | undefined> {
    this.applySetup(setup);
    const preparedBefore = this.prepared.get(id);
    if (!preparedBefore) return undefined;
    const smallerRequest = await this.live.prepareAfterOverflow(
      preparedBefore.prepared,
      preparedBefore.request,
      signal,
      overflowReport,
    );
    return smallerRequest && this.encodePreparedRequest({ ...preparedBefore, prepared: smallerRequest }, view);
  }

  recordUsage(id: number, usage: Usage | undefined): void {
    const preparedBefore = this.prepared.get(id);
    if (preparedBefore) this.live.recordUsage(preparedBefore.prepared, usage);
  }

  recordAnswer(id: number, usage: Usage | undefined, countedTokens: number): void {
    const preparedBefore = this.prepared.get(id);
    if (preparedBefore) this.live.recordAnswer({ ...preparedBefore.prepared, countedTokens }, usage);
  }

  /** Applies changed settings and reports the summaries that depend on them. */
  configure(setup: LiveEngineSetup): void {
    this.applySetup(setup);
    this.reportChanges();
  }

  /** Loads from its ledger a conversation that an earlier engine had. */
  async follow(sent: EncodedAgentRequest, setup: LiveEngineSetup): Promise<void> {
    this.applySetup(setup);
    const { request, chat } = this.decodeAgentRequest(sent);
    chat.conversation = await this.awaitWithEvents(this.live.follow(request));
  }

  /** Counts o200k tokens of the request as received, including system prompt and tools. */
  count(sent: EncodedAgentRequest): Promise<number> {
    return this.live.count(this.decodeAgentRequest(sent).request);
  }

  countPart(part: string | ApiMessage): Promise<number> {
    return this.live.countPart(part);
  }

  expandMarkers(conversation: LiveId, input: unknown): Promise<ExpandedInput> {
    return this.live.expandMarkers(conversation, input);
  }

  recall(conversation: LiveId | undefined, query: RecallQuery): Promise<RecallResult> {
    return this.live.recall(conversation, query);
  }

  view(conversation: LiveId): EncodedLiveView | undefined {
    const liveView = this.live.view(conversation);
    if (!liveView) return undefined;
    const { original, messages, origins, edits, excluded } = liveView;
    const [id, chat] = [...this.chats].findLast(([, each]) => each.conversation === conversation) ?? [0, undefined];
    const ownIndexes = original.map((_message, index) => index);
    return {
      chat: id,
      version: chat?.version ?? 0,
      original: encodeMessages(original, ownIndexes, chat?.messages ?? []),
      messages: encodeMessages(messages, origins, original),
      origins,
      edits,
      excluded,
    };
  }

  compare(conversation: LiveId): DiffTexts | undefined {
    return this.live.compare(conversation);
  }

  outline(conversation: LiveId): ReturnType<LiveConversations['outline']> {
    return this.live.outline(conversation);
  }

  async condenseNow(
    conversation: LiveId,
    options: { readonly provider?: string; readonly config?: unknown; readonly targetPercent?: number },
    setup: LiveEngineSetup,
    signal: AbortSignal,
  ): Promise<OutcomeSummary | undefined> {
    this.applySetup(setup);
    const outcome = await this.awaitWithEvents(this.live.condenseNow(conversation, options, signal));
    return outcome && dropMessagesAndEdits(outcome);
  }

  undo(conversation: LiveId): Promise<CommandResult> {
    return this.awaitWithEvents(this.live.undo(conversation));
  }

  redo(conversation: LiveId): Promise<CommandResult> {
    return this.awaitWithEvents(this.live.redo(conversation));
  }

  toggleEdit(conversation: LiveId, edit: EditId): Promise<CommandResult> {
    return this.awaitWithEvents(this.live.toggleEdit(conversation, edit));
  }

  pin(conversation: LiveId, message: number): Promise<CommandResult> {
    return this.awaitWithEvents(this.live.pin(conversation, message));
  }

  unpin(conversation: LiveId, message: number): Promise<CommandResult> {
    return this.awaitWithEvents(this.live.unpin(conversation, message));
  }

  /** Cancels background work and writes pending data. */
  async close(): Promise<void> {
    this.live.dispose();
    await this.live.waitUntilSettled();
  }

  private applySetup(setup: LiveEngineSetup): void {
    this.setup = setup;
    this.host.applySetup(setup);
  }

  /** @throws RangeError if host and engine are out of sync */
  private decodeAgentRequest({ update, model, canSummarize, ...otherFields }: EncodedAgentRequest): {
    readonly request: AgentRequest;
    readonly chat: ReceivedChat;
  } {
    for (const id of update.dropped) this.chats.delete(id);
    const knownChat = this.chats.get(update.chat);
    if ((knownChat?.version ?? 0) !== update.version)
      throw new RangeError('The two threads have other messages of the conversation.');
    const chat = knownChat ?? { version: 0, messages: [], system: undefined, tools: [], view: [], viewId: 0 };
    chat.messages = decodeList(chat.messages, update.messages);
    chat.version++;
    if (update.header) {
      chat.system = update.header.system;
      chat.tools = update.header.tools;
    }
    this.chats.set(update.chat, chat);
    const { messages, system, tools } = chat;
    const summarizer = canSummarize && { summarizer: this.getOrCreateOwnModel(model.key) };
    const request = {
      ...otherFields,
      messages,
      tools,
      ...(system !== undefined && { system }),
      model: { ...model, ...summarizer },
    };
    return { request, chat };
  }

  private encodePreparedRequest(preparedRequest: PreparedForChat, hostViewId: number): EncodedPreparedRequest {
    const { chat, prepared } = preparedRequest;
    const {
      messages,
      origins,
      outcome,
      model: _model,
      original: _original,
      edits: _edits,
      began: _began,
      ...serializableFields
    } = prepared;
    const id = ++this.lastId;
    this.prepared.set(id, preparedRequest);
    const keptCount = hostViewId === chat.viewId ? countCommonElements(chat.view, messages) : 0;
    chat.view = messages;
    chat.viewId = id;
    const addedMessages: readonly EncodedMessage[] = encodeMessages(
      messages.slice(keptCount),
      origins.slice(keptCount),
      preparedRequest.request.messages,
    );
    return {
      ...serializableFields,
      id,
      view: { kept: keptCount, added: addedMessages },
      ...(outcome && { outcome: { kind: outcome.kind } }),
    };
  }

  /**
   * Returns a model through which the host calls the conversation's own, because only the host can.
   */
  private getOrCreateOwnModel(key: string): LoadOwnModel {
    const existingModel = this.ownModels.get(key);
    if (existingModel) return existingModel;
    const ownModel: LoadOwnModel = () =>
      Promise.reject(new Error('The model of the chat is called in the extension host.'));
    this.ownModels.set(key, ownModel);
    return ownModel;
  }

  private getModelKey(ownModel: LoadOwnModel | undefined): string | undefined {
    return [...this.ownModels].find(([, model]) => model === ownModel)?.[0];
  }

  /**
   * Collects the events of one turn of the event loop in one message, with the summaries as they
   * are at its end.
   */
  private queueEvent(event: LiveEvent): void {
    this.events.push(dropEventContent(event));
    if (this.events.length === 1)
      setImmediate(() => {
        this.reportChanges();
      });
  }

  /** Before the result of an action, sends the host the changes that the action caused. */
  private async awaitWithEvents<T>(action: Promise<T>): Promise<T> {
    try {
      return await action;
    } finally {
      this.reportChanges();
    }
  }

  private reportChanges(): void {
    const { events } = this;
    this.events = [];
    const summaries = this.live.list();
    const changedSummaries = summaries.filter((summary) => !isEqual(this.sentSummaries.get(summary.id), summary));
    const conversationIds = summaries.map(({ id }) => id);
    for (const summary of changedSummaries) this.sentSummaries.set(summary.id, summary);
    for (const id of this.sentSummaries.keys()) if (!conversationIds.includes(id)) this.sentSummaries.delete(id);
    if (events.length > 0 || changedSummaries.length > 0)
      this.dependencies.onChange({ events, order: conversationIds, changed: changedSummaries });
  }
}

function dropEventContent(event: LiveEvent): LiveEvent {
  switch (event.kind) {
    case 'condensed':
      return { ...event, outcome: dropMessagesAndEdits(event.outcome) };
    case 'not-condensed':
      return { ...event, outcome: dropMessagesAndEdits(event.outcome) };
    default:
      return event;
  }
}
