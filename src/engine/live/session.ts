/** The engine keeps what it received before, so that only new data crosses the threads. */
import type { OverflowTokens } from '../../api/tooLong';
import type { OutcomeSummary } from '../../core/condense';
import { summarizeOutcome } from '../../core/condense/condensation';
import type { EditId } from '../../core/condense/edits/edits';
import type { FoldedTexts } from '../../core/condense/report/foldedTexts';
import type { LoadOwnModel } from '../../core/condense/summarizer';
import type { Usage } from '../../core/cost/usage';
import type { ApiMessage } from '../../core/messages/types';
import type { LiveEvent } from '../../live/events';
import { LiveConversations } from '../../live/liveConversations';
import type { AgentRequest, LiveId, PreparedRequest } from '../../live/request';
import type { CommandResult, ExpandedInput, LiveSummary, RecallQuery, RecallResult } from '../../live/types';
import { HostManager, type HostManagerDependencies } from '../hostManager';
import { countCommon, receiveList, encodeMessages } from './lists';
import type { LiveChange, LiveSetup, SentLiveView, SentMessage, SentPrepared, SentRequest } from './messages';
import { isEqual } from '../../core/isEqual';
import { LruMap } from '../../core/lruMap';

const MAX_PREPARED_REQUESTS = 40;

interface Chat {
  version: number;
  messages: readonly ApiMessage[];
  system: string | undefined;
  tools: readonly unknown[];
  conversation?: LiveId;
  /** The view last sent to the host, and its ID. */
  view: readonly ApiMessage[];
  viewId: number;
}

interface Prepared {
  readonly request: AgentRequest;
  readonly prepared: PreparedRequest;
  readonly chat: Chat;
}

export interface SessionDependencies extends Omit<HostManagerDependencies, 'nameOwn'> {
  /** Folder of the ledgers. */
  readonly root: string;
  readonly onChange: (change: LiveChange) => void;
}

export class LiveSession {
  private readonly live: LiveConversations;
  private readonly host: HostManager;
  private readonly chats = new Map<number, Chat>();
  private readonly prepared = new LruMap<number, Prepared>(MAX_PREPARED_REQUESTS);
  private readonly ownModels = new Map<string, LoadOwnModel>();
  private setup: LiveSetup = { settings: { provider: 'lossless', mayUseNative: false }, presets: [], registered: [] };
  private lastId = 0;
  /** The summaries that the host received last. */
  private readonly known = new Map<LiveId, LiveSummary>();
  private events: LiveEvent[] = [];

  constructor(private readonly parts: SessionDependencies) {
    const { counter, root, models, providers, signal, summaries } = parts;
    const nameOwn = (own: LoadOwnModel | undefined): string | undefined => this.getModelKey(own);
    this.host = new HostManager({ counter, summaries, models, providers, signal, nameOwn });
    const { manager } = this.host;
    this.live = new LiveConversations({ manager, counter, root, settings: () => this.setup.settings });
    this.live.on((event) => {
      this.queueEvent(event);
    });
  }

  async prepare(sent: SentRequest, setup: LiveSetup, signal?: AbortSignal): Promise<SentPrepared> {
    this.useSetup(setup);
    const { request, chat } = this.receiveRequest(sent);
    const prepared = await this.live.prepare(request, signal);
    chat.conversation = prepared.conversation;
    return this.makeSentPrepared({ request, prepared, chat }, sent.update.view);
  }

  async prepareAfterOverflow(
    id: number,
    view: number,
    overflow: OverflowTokens | undefined,
    setup: LiveSetup,
    signal?: AbortSignal,
  ): Promise<SentPrepared | undefined> {
    this.useSetup(setup);
    const known = this.prepared.get(id);
    if (!known) return undefined;
    const smaller = await this.live.prepareAfterOverflow(known.prepared, known.request, signal, overflow);
    return smaller && this.makeSentPrepared({ ...known, prepared: smaller }, view);
  }

  recordUsage(id: number, usage: Usage | undefined): void {
    const known = this.prepared.get(id);
    if (known) this.live.recordUsage(known.prepared, usage);
  }

  recordAnswer(id: number, usage: Usage | undefined, countedTokens: number): void {
    const known = this.prepared.get(id);
    if (known) this.live.recordAnswer({ ...known.prepared, countedTokens }, usage);
  }

  /** Applies changed settings and reports the summaries that depend on them. */
  configure(setup: LiveSetup): void {
    this.useSetup(setup);
    this.reportChanges();
  }

  /** Reloads a conversation from its ledger after another engine had it. */
  async follow(sent: SentRequest, setup: LiveSetup): Promise<void> {
    this.useSetup(setup);
    const { request, chat } = this.receiveRequest(sent);
    chat.conversation = await this.awaitWithEvents(this.live.follow(request));
  }

  /** Counts o200k tokens of the request as received, including system prompt and tools. */
  count(sent: SentRequest): Promise<number> {
    return this.live.count(this.receiveRequest(sent).request);
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

  view(conversation: LiveId): SentLiveView | undefined {
    const found = this.live.view(conversation);
    if (!found) return undefined;
    const { original, messages, origins, edits, excluded } = found;
    const [id, chat] = [...this.chats].findLast(([, each]) => each.conversation === conversation) ?? [0, undefined];
    const places = original.map((_message, index) => index);
    return {
      chat: id,
      version: chat?.version ?? 0,
      original: encodeMessages(original, places, chat?.messages ?? []),
      messages: encodeMessages(messages, origins, original),
      origins,
      edits,
      excluded,
    };
  }

  compare(conversation: LiveId): FoldedTexts | undefined {
    return this.live.compare(conversation);
  }

  outline(conversation: LiveId): ReturnType<LiveConversations['outline']> {
    return this.live.outline(conversation);
  }

  async condenseNow(
    conversation: LiveId,
    options: { readonly provider?: string; readonly config?: unknown; readonly targetPercent?: number },
    setup: LiveSetup,
    signal: AbortSignal,
  ): Promise<OutcomeSummary | undefined> {
    this.useSetup(setup);
    const outcome = await this.awaitWithEvents(this.live.condenseNow(conversation, options, signal));
    return outcome && summarizeOutcome(outcome);
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

  private useSetup(setup: LiveSetup): void {
    this.setup = setup;
    this.host.use(setup);
  }

  /** @throws RangeError if host and engine are out of sync */
  private receiveRequest({ update, model, canSummarize, ...rest }: SentRequest): {
    readonly request: AgentRequest;
    readonly chat: Chat;
  } {
    for (const id of update.dropped) this.chats.delete(id);
    const known = this.chats.get(update.chat);
    if ((known?.version ?? 0) !== update.version)
      throw new RangeError('The two threads have other messages of the conversation.');
    const chat = known ?? { version: 0, messages: [], system: undefined, tools: [], view: [], viewId: 0 };
    chat.messages = receiveList(chat.messages, update.messages);
    chat.version++;
    if (update.beside) {
      chat.system = update.beside.system;
      chat.tools = update.beside.tools;
    }
    this.chats.set(update.chat, chat);
    const { messages, system, tools } = chat;
    const summarizer = canSummarize && { summarizer: this.getOwnModel(model.key) };
    const request = {
      ...rest,
      messages,
      tools,
      ...(system !== undefined && { system }),
      model: { ...model, ...summarizer },
    };
    return { request, chat };
  }

  private makeSentPrepared(made: Prepared, held: number): SentPrepared {
    const { chat, prepared } = made;
    const {
      messages,
      origins,
      outcome,
      model: _model,
      original: _original,
      edits: _edits,
      began: _began,
      ...rest
    } = prepared;
    const id = ++this.lastId;
    this.prepared.set(id, made);
    const kept = held === chat.viewId ? countCommon(chat.view, messages) : 0;
    chat.view = messages;
    chat.viewId = id;
    const added: readonly SentMessage[] = encodeMessages(
      messages.slice(kept),
      origins.slice(kept),
      made.request.messages,
    );
    return { ...rest, id, view: { kept, added }, ...(outcome && { outcome: { kind: outcome.kind } }) };
  }

  /** Only the host can call a conversation's model. */
  private getOwnModel(key: string): LoadOwnModel {
    const known = this.ownModels.get(key);
    if (known) return known;
    const own: LoadOwnModel = () => Promise.reject(new Error('The model of the chat is called in the extension host.'));
    this.ownModels.set(key, own);
    return own;
  }

  private getModelKey(own: LoadOwnModel | undefined): string | undefined {
    return [...this.ownModels].find(([, model]) => model === own)?.[0];
  }

  /** Combines the events of one turn into one message with the final summaries. */
  private queueEvent(event: LiveEvent): void {
    this.events.push(withoutContent(event));
    if (this.events.length === 1)
      setImmediate(() => {
        this.reportChanges();
      });
  }

  /** Before an action completes, sends the host the changes that the action caused. */
  private async awaitWithEvents<T>(done: Promise<T>): Promise<T> {
    try {
      return await done;
    } finally {
      this.reportChanges();
    }
  }

  private reportChanges(): void {
    const { events } = this;
    this.events = [];
    const list = this.live.list();
    const changed = list.filter((summary) => !isEqual(this.known.get(summary.id), summary));
    const order = list.map(({ id }) => id);
    for (const summary of changed) this.known.set(summary.id, summary);
    for (const id of this.known.keys()) if (!order.includes(id)) this.known.delete(id);
    if (events.length > 0 || changed.length > 0) this.parts.onChange({ events, order, changed });
  }
}

function withoutContent(event: LiveEvent): LiveEvent {
  switch (event.kind) {
    case 'condensed':
      return { ...event, outcome: summarizeOutcome(event.outcome) };
    case 'not-condensed':
      return { ...event, outcome: summarizeOutcome(event.outcome) };
    default:
      return event;
  }
}
