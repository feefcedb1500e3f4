import { getErrorMessage } from '../core/errors';
import { hashText } from '../core/hash';
import { makeMessageKey, type MessageKey } from '../core/messages/messageKey';
import { findTaskMessage } from '../core/messages/task';
import { isStorageError, type StorageOptions } from '../storage/ledgerStore';
import { describePruneResult, pruneLedgers } from '../storage/prune';
import { LiveConversation, type ConversationIdentity } from './liveConversation';
import type { CondensationScheduler } from './scheduler';
import { LiveLedger } from './liveLedger';
import type { LiveDependencies } from './types';
import { countCommonPrefix, isExtendedVersion } from './align';
import type { AgentRequest, LiveId } from './request';

/** Conversations in memory; others are reopened from their ledgers. */
const MAX_CONVERSATIONS = 20;

interface RegisteredConversation {
  readonly scheduler: CondensationScheduler;
  readonly conversation: LiveConversation;
  task: MessageKey;
  /** Aborts when the agent cancels its last request. */
  signal?: AbortSignal | undefined;
}

const NO_TASK_KEY = 'none' as MessageKey;

/**
 * Finds a request's conversation by the agent's ID and the first task, because subagents use their
 * parent's ID. Without an ID, the longest common beginning decides.
 */
export class ConversationRegistry {
  /** Least recently used first. */
  private readonly conversations = new Map<LiveId, RegisteredConversation>();
  private queue: Promise<unknown> = Promise.resolve();
  private hasPruned = false;
  /** Unfinished writes of dropped conversations. */
  private leaving: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly root: string,
    private readonly storage: Partial<StorageOptions>,
    private readonly dependencies: LiveDependencies,
    private readonly schedulerFor: (conversation: LiveConversation) => CondensationScheduler,
  ) {}

  getScheduler(id: LiveId): CondensationScheduler | undefined {
    return this.conversations.get(id)?.scheduler;
  }

  /** Last used first. */
  listSchedulers(): CondensationScheduler[] {
    return this.listByLastUse().map(({ scheduler }) => scheduler);
  }

  private listByLastUse(): RegisteredConversation[] {
    return [...this.conversations.values()].reverse();
  }

  listShownSchedulers(): CondensationScheduler[] {
    // Leaves out a conversation whose first request the agent canceled.
    return this.listSchedulers().filter(
      ({ conversation: { about, hasBegun } }) => about.isSideRequest !== true && hasBegun,
    );
  }

  /**
   * Never fails.
   * @param signal aborts when the agent cancels the request
   */
  findScheduler(request: AgentRequest, signal?: AbortSignal): Promise<CondensationScheduler> {
    const found = this.queue.then(async () => {
      // If a turn was canceled before its answer, the next prompt becomes the task.
      const { messages } = request;
      const tasks = messages.slice(0, findTaskMessage(messages) + 1).map(makeMessageKey);
      const registered =
        this.findOpenConversation(request, tasks) ?? (await this.openConversation(request, tasks.toReversed()));
      const { id, about } = registered.conversation;
      // If the agent sends the first task again, the later one belonged to another conversation.
      if (!tasks.includes(registered.task))
        registered.task = tasks.includes(about.task) ? about.task : (tasks.at(-1) ?? NO_TASK_KEY);
      registered.signal = signal;
      this.conversations.delete(id);
      this.conversations.set(id, registered);
      this.dropOldestConversations();
      this.pruneLedgersOnce();
      return registered.scheduler;
    });
    this.queue = found.catch(() => undefined);
    return found;
  }

  private findOpenConversation(
    { conversationId, messages }: AgentRequest,
    tasks: readonly MessageKey[],
  ): RegisteredConversation | undefined {
    const candidates = this.listByLastUse().filter(
      ({ conversation: { about }, task }) =>
        about.conversationId === conversationId && (tasks.includes(about.task) || tasks.includes(task)),
    );
    if (candidates.length < 2) return candidates[0];
    const lengths = candidates.map((candidate) => countCommonPrefix(candidate.conversation.messages, messages));
    return candidates[lengths.indexOf(Math.max(...lengths))];
  }

  private async openConversation(request: AgentRequest, tasks: readonly MessageKey[]): Promise<RegisteredConversation> {
    const [newest = NO_TASK_KEY] = tasks;
    for (const task of tasks) {
      const store = await this.openLedgerOfTask(request, task);
      if (!store.isEmpty) return this.createConversation(request, task, store);
    }
    return (
      this.listByLastUse().find((one) => continuesTask(one, request)) ??
      this.createConversation(request, newest, await this.openLedgerOfTask(request, newest))
    );
  }

  private createConversation(
    { conversationId, messages, isSideRequest = false }: AgentRequest,
    task: MessageKey,
    store: LiveLedger,
  ): RegisteredConversation {
    const ownId = conversationId !== undefined && { conversationId };
    const beginning = messages.slice(0, messages.findIndex((message) => makeMessageKey(message) === task) + 1);
    const about: ConversationIdentity = {
      id: createLiveId(conversationId, task),
      task,
      beginning,
      isSideRequest,
      ...ownId,
    };
    const conversation = new LiveConversation(about, store, this.dependencies);
    return { scheduler: this.schedulerFor(conversation), conversation, task };
  }

  private async openLedgerOfTask({ conversationId, title }: AgentRequest, task: MessageKey): Promise<LiveLedger> {
    const id = createLiveId(conversationId, task);
    await this.leaving;
    try {
      return await LiveLedger.open(this.root, { id, ...(title !== undefined && { title }) }, this.storage);
    } catch (error) {
      if (!isStorageError(error)) throw error;
      this.dependencies.emit({ kind: 'problem', conversation: id, message: error.message });
      return LiveLedger.inMemory();
    }
  }

  private dropOldestConversations(): void {
    for (const { conversation, scheduler } of this.listByLastUse().slice(MAX_CONVERSATIONS)) {
      scheduler.abandonPreparation('the conversation was not used for long');
      this.conversations.delete(conversation.id);
      this.leaving = Promise.all([this.leaving, conversation.waitUntilSettled()]);
    }
  }

  private pruneLedgersOnce(): void {
    if (this.hasPruned) return;
    this.hasPruned = true;
    const now = new Date(this.dependencies.clock.now());
    pruneLedgers(this.root, { now, inUse: [...this.conversations.keys()] }, this.storage).then(
      (pruned) => {
        const message = describePruneResult(pruned);
        if (message !== undefined) this.dependencies.emit({ kind: 'pruned', message });
      },
      (error: unknown) => {
        this.dependencies.emit({ kind: 'problem', message: getErrorMessage(error) });
      },
    );
  }
}

/**
 * After a canceled request, Gemini CLI drops what followed the task and appends a note or the next
 * prompt to it.
 */
function continuesTask(
  { conversation: { about, system, messages: oldMessages }, signal }: RegisteredConversation,
  { conversationId, system: sentSystem, messages }: AgentRequest,
): boolean {
  const { beginning } = about;
  const at = findTaskMessage(messages);
  const [before, now] = [beginning[at], messages[at]];
  if (!before || !now) return false;
  if (about.conversationId !== conversationId || system !== sentSystem) return false;
  if (countCommonPrefix(beginning, messages) < at || !isExtendedVersion(before, now)) return false;
  const [answered, more] = [oldMessages.slice(at + 1), messages.slice(at + 1)];
  if (more.length === 0) return signal?.aborted === true;
  return answered.length > 0 && countCommonPrefix(answered, more) === answered.length;
}

/** Depends on the beginning only, so that a restart finds the ledger. */
const createLiveId = (conversationId: string | undefined, task: MessageKey): LiveId =>
  `live-${hashText(JSON.stringify([conversationId ?? null, task])).slice(0, 32)}` as LiveId;
