import { systemClock, type TimeSource } from '../api/clock';
import type { CondensationManager, CondensationOutcome } from '../core/condense';
import type { EditId } from '../core/condense/edits/edits';
import type { Usage } from '../core/cost/usage';
import type { OverflowReport } from '../api/tooLong';
import type { View } from '../core/condense/edits/view';
import { renderDiffOfViews, type DiffTexts } from '../core/condense/report/foldedTexts';
import { listMessagesBriefly } from '../core/messages/render';
import { rejectOnAbort } from '../core/orAborted';
import type { ApiMessage } from '../core/messages/types';
import type { MessageCounter } from '../core/tokens/messageCounter';
import type { StorageOptions } from '../storage/ledgerStore';
import {
  createPinCommand,
  createRedoCommand,
  createToggleEditCommand,
  createUndoCommand,
  createUnpinCommand,
  type LedgerCommand,
} from './commands';
import { CondensationScheduler, type ScheduleResult } from './scheduler';
import { toLiveSummary } from './summary';
import { UsableSettingsReader } from './usableSettings';
import { expandMarkersInInput } from './expandInput';
import type { LiveConversation } from './liveConversation';
import type {
  CommandResult,
  ExpandedInput,
  LiveConversationsApi,
  LiveDependencies,
  LiveSettings,
  LiveSummary,
  LiveView,
  RecallQuery,
  RecallResult,
} from './types';
import { recallOriginals } from './recall';
import { ConversationRegistry } from './registry';
import { TokenLearning } from './tokenLearning';
import { MESSAGE_CACHE_MARKS, type AgentRequest, type LiveId, type PreparedRequest } from './request';
import type { LiveEvent } from './events';
import { listExcludedEdits } from './followEdits';
import { formatTokens } from '../core/format';

export interface LiveConversationsOptions {
  readonly manager: CondensationManager;
  readonly counter: MessageCounter;
  readonly root: string;
  readonly settings: () => LiveSettings;
  readonly clock?: TimeSource;
  readonly storage?: Partial<StorageOptions>;
}

/** Independent of VS Code. */
export class LiveConversations implements LiveConversationsApi {
  private readonly dependencies: LiveDependencies;
  private readonly registry: ConversationRegistry;
  private readonly listeners = new Set<(event: LiveEvent) => void>();

  constructor({ manager, counter, root, settings, clock = systemClock, storage = {} }: LiveConversationsOptions) {
    const emit = (event: LiveEvent): void => {
      for (const listener of this.listeners) listener(event);
    };
    this.dependencies = { manager, counter, settings, clock, learning: new TokenLearning(), emit };
    const settingsReader = new UsableSettingsReader(this.dependencies);
    const createScheduler = (conversation: LiveConversation): CondensationScheduler =>
      new CondensationScheduler(conversation, this.dependencies, settingsReader);
    this.registry = new ConversationRegistry(root, storage, this.dependencies, createScheduler);
  }

  async prepare(request: AgentRequest, signal?: AbortSignal): Promise<PreparedRequest> {
    const scheduler = await rejectOnAbort(this.registry.findScheduler(request, signal), signal);
    return scheduler.runExclusively(
      async () => this.makePreparedRequest(scheduler, await scheduler.scheduleRequest(request, signal)),
      signal,
    );
  }

  /**
   * Adds a conversation without condensing it. After a restart, its condensations come from its
   * ledger.
   */
  async follow(request: AgentRequest): Promise<LiveId> {
    const scheduler = await this.registry.findScheduler(request);
    await scheduler.runExclusively(() => scheduler.followRequest(request));
    this.notifyChanged(scheduler);
    return scheduler.conversation.id;
  }

  async prepareAfterOverflow(
    { conversation, countedTokens }: PreparedRequest,
    request: AgentRequest,
    signal?: AbortSignal,
    overflowReport: OverflowReport = {},
  ): Promise<PreparedRequest | undefined> {
    const scheduler = this.registry.getScheduler(conversation);
    if (!scheduler) return undefined;
    if (!overflowReport.weight)
      this.dependencies.learning.learnFromRejection(request.model, countedTokens, overflowReport);
    return scheduler.runExclusively(async () => {
      const shorterRequest = await scheduler.shortenRequest(request, countedTokens, overflowReport, signal);
      return shorterRequest && this.makePreparedRequest(scheduler, { ...shorterRequest, notes: [] });
    }, signal);
  }

  count({ messages, system = '', tools }: AgentRequest): Promise<number> {
    const { counter } = this.dependencies;
    return Promise.resolve(
      counter.countMessages(messages) + counter.countText(system) + counter.countText(JSON.stringify(tools)),
    );
  }

  countPart(part: string | ApiMessage): Promise<number> {
    const { counter } = this.dependencies;
    return Promise.resolve(typeof part === 'string' ? counter.countText(part) : counter.countMessage(part));
  }

  recordUsage(preparedRequest: PreparedRequest, usage: Usage | undefined): void {
    const scheduler = this.registry.getScheduler(preparedRequest.conversation);
    if (!scheduler) return;
    scheduler.conversation.answers.recordCost(preparedRequest, usage);
    this.notifyChanged(scheduler);
  }

  recordAnswer(preparedRequest: PreparedRequest, usage: Usage | undefined): void {
    const scheduler = this.registry.getScheduler(preparedRequest.conversation);
    if (!scheduler) return;
    scheduler.conversation.answers.recordAnswered(preparedRequest, usage, this.dependencies.learning);
    if (usage) this.learnFromReportedUsage(preparedRequest, usage);
    this.notifyChanged(scheduler);
  }

  async expandMarkers(conversation: LiveId, input: unknown): Promise<ExpandedInput> {
    const scheduler = this.registry.getScheduler(conversation);
    return scheduler ? expandMarkersInInput(scheduler.conversation, input) : { input };
  }

  recall(conversation: LiveId | undefined, query: RecallQuery): Promise<RecallResult> {
    const ownScheduler = conversation === undefined ? undefined : this.registry.getScheduler(conversation);
    // If the recall comes from a conversation that was dropped, don't search others: they are other
    // tasks.
    const searchedSchedulers =
      conversation === undefined ? this.registry.listSchedulers() : ownScheduler ? [ownScheduler] : [];
    const conversations = searchedSchedulers.map((scheduler) => scheduler.conversation);
    return recallOriginals(conversations, query, this.dependencies.counter);
  }

  list(): LiveSummary[] {
    const shownSchedulers = this.registry.listShownSchedulers();
    return shownSchedulers.map((scheduler) => toLiveSummary(scheduler, this.dependencies, shownSchedulers));
  }

  active(): LiveSummary | undefined {
    const shownSchedulers = this.registry.listShownSchedulers();
    const [last] = shownSchedulers;
    return last && toLiveSummary(last, this.dependencies, shownSchedulers);
  }

  view(conversation: LiveId): LiveView | undefined {
    const scheduler = this.registry.getScheduler(conversation);
    if (!scheduler) return undefined;
    const { messages, view, ledger, pinned } = scheduler.conversation;
    const excludedEdits = listExcludedEdits(ledger, messages, view.edits, pinned);
    const { original, messages: viewMessages, origins, edits } = view;
    return { original, messages: viewMessages, origins, edits, excluded: excludedEdits };
  }

  compare(conversation: LiveId): DiffTexts | undefined {
    const live = this.registry.getScheduler(conversation)?.conversation;
    return live && renderDiffOfViews(live.view);
  }

  outline(conversation: LiveId): ReturnType<typeof listMessagesBriefly> | undefined {
    const live = this.registry.getScheduler(conversation)?.conversation;
    return live && listMessagesBriefly(live.messages);
  }

  condenseNow(
    conversation: LiveId,
    options: { readonly provider?: string; readonly config?: unknown; readonly targetPercent?: number } = {},
    signal?: AbortSignal,
  ): Promise<CondensationOutcome | undefined> {
    const scheduler = this.registry.getScheduler(conversation);
    if (!scheduler) return Promise.resolve(undefined);
    return scheduler.condenseManually(options, signal).finally(() => {
      this.notifyChanged(scheduler);
    });
  }

  undo(conversation: LiveId): Promise<CommandResult> {
    return this.runCommand(conversation, createUndoCommand);
  }

  redo(conversation: LiveId): Promise<CommandResult> {
    return this.runCommand(conversation, createRedoCommand);
  }

  toggleEdit(conversation: LiveId, edit: EditId): Promise<CommandResult> {
    return this.runCommand(conversation, (live) => createToggleEditCommand(live, edit));
  }

  pin(conversation: LiveId, message: number): Promise<CommandResult> {
    return this.runCommand(conversation, (live) => createPinCommand(live, message));
  }

  unpin(conversation: LiveId, message: number): Promise<CommandResult> {
    return this.runCommand(conversation, (live) => createUnpinCommand(live, message));
  }

  on(listener: (event: LiveEvent) => void): () => void {
    this.listeners.add(listener);
    return () => {
      this.listeners.delete(listener);
    };
  }

  async waitUntilSettled(): Promise<void> {
    await Promise.all(this.registry.listSchedulers().map(({ conversation }) => conversation.waitUntilSettled()));
  }

  /** @param reason without a full stop @returns the number of abandoned summaries */
  endPreparations(reason: string): number {
    const preparingSchedulers = this.registry.listSchedulers().filter(({ isPreparing }) => isPreparing);
    for (const scheduler of preparingSchedulers) scheduler.abandonPreparation(reason);
    return preparingSchedulers.length;
  }

  dispose(): void {
    this.endPreparations('the window was closed');
    this.listeners.clear();
  }

  private runCommand(conversation: LiveId, command: (live: LiveConversation) => LedgerCommand): Promise<CommandResult> {
    const scheduler = this.registry.getScheduler(conversation);
    if (!scheduler) return Promise.resolve({ kind: 'nothing', detail: 'The conversation no longer exists.' });
    return scheduler.runExclusively(async () => {
      const change = command(scheduler.conversation);
      const { entries, detail } = change;
      if (entries.length === 0) return { kind: 'nothing', detail };
      await scheduler.enterCommand(change);
      this.notifyChanged(scheduler);
      return { kind: 'done', detail };
    });
  }

  private makePreparedRequest(scheduler: CondensationScheduler, { outcome, notes }: ScheduleResult): PreparedRequest {
    const { id, view, answers, countedTokens, minReadTokens, model } = scheduler.conversation;
    const { original, messages, origins, edits } = view;
    const tokens = Math.ceil(countedTokens * this.dependencies.learning.getTokenFactor(model));
    const tooLongNotes = scheduler.isFitting
      ? []
      : [
          `The request has about ${formatTokens(tokens)} tokens and hardly fits into the window of ${formatTokens(model.contextWindow)}: nothing more could be removed.`,
        ];
    this.notifyChanged(scheduler);
    return {
      conversation: id,
      model,
      original,
      messages,
      origins,
      edits,
      cacheMarks: selectCacheBreakpoints(view, answers.lastSent),
      tokens,
      countedTokens,
      ...(minReadTokens !== undefined && { minReadTokens }),
      isCalibrated: this.dependencies.learning.isCalibrated(model),
      contextWindow: model.contextWindow,
      ...(outcome && { outcome }),
      notes: [...(outcome?.notes ?? []), ...notes, ...tooLongNotes],
      began: this.dependencies.clock.now(),
    };
  }

  private learnFromReportedUsage(preparedRequest: PreparedRequest, usage: Usage): void {
    const readTokens = this.dependencies.learning.learnFromAnswer(preparedRequest, usage);
    if (readTokens === undefined) return;
    const message = `The model’s server has read ${formatTokens(readTokens)} tokens of about ${formatTokens(preparedRequest.tokens)} that it was sent: it seems to silently cut off anything longer. Give it a larger context (Ollama: num_ctx, or OLLAMA_CONTEXT_LENGTH), or set the model’s contextWindow to what it reads.`;
    this.dependencies.emit({ kind: 'problem', conversation: preparedRequest.conversation, message });
  }

  private notifyChanged({ conversation }: CondensationScheduler): void {
    this.dependencies.emit({ kind: 'changed', conversation: conversation.id });
  }
}

/**
 * Selects the end of the condensed prefix, the newest message, and the newest message of the
 * previous request, which is surely cached. Breakpoints look back only 20 blocks (Anthropic API
 * guide, "Prompt caching").
 * @param previous number of messages in the previous request's view
 */
function selectCacheBreakpoints(view: View, previous: number): number[] {
  const { edits, messages } = view;
  const newestIndex = messages.length - 1;
  const breakpoints = [
    edits.length > 0 ? findEndOfCondensed(view) : -1,
    Math.min(previous - 1, newestIndex),
    newestIndex,
  ];
  return [...new Set(breakpoints)]
    .filter((index) => index >= 0)
    .sort((a, b) => a - b)
    .slice(-MESSAGE_CACHE_MARKS);
}

function findEndOfCondensed({ edits, origins }: View): number {
  const lastCondensedIndex = edits.reduce(
    (most, edit) => Math.max(most, edit.kind === 'summary' ? edit.end - 1 : edit.place.message),
    -1,
  );
  // The message before the first one after a summary's range is the summary itself.
  const firstLaterIndex = origins.findIndex((origin) => origin > lastCondensedIndex);
  return firstLaterIndex < 0 ? origins.length - 1 : firstLaterIndex - 1;
}
