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

/** Maximum number of conversations in memory. Others are reopened from their ledgers. */
const MAX_CONVERSATIONS = 20;

interface RegisteredConversation {
  readonly scheduler: CondensationScheduler;
  readonly conversation: LiveConversation;
  task: MessageKey;
  /** Aborts when the agent cancels the conversation's last request. */
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
  /** Settles when conversations dropped from memory have written everything. */
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

  /** Most recently used first. */
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
    const schedulerPromise = this.queue.then(async () => {
      // If a turn was canceled before its answer, the next prompt becomes the task.
      const { messages } = request;
      const taskKeys = messages.slice(0, findTaskMessage(messages) + 1).map(makeMessageKey);
      const registeredConversation =
        this.findOpenConversation(request, taskKeys) ?? (await this.openConversation(request, taskKeys.toReversed()));
      const { id, about } = registeredConversation.conversation;
      // If the agent sends the first task again, the later task belonged to another conversation.
      if (!taskKeys.includes(registeredConversation.task))
        registeredConversation.task = taskKeys.includes(about.task) ? about.task : (taskKeys.at(-1) ?? NO_TASK_KEY);
      registeredConversation.signal = signal;
      this.conversations.delete(id);
      this.conversations.set(id, registeredConversation);
      this.dropOldestConversations();
      this.pruneLedgersOnce();
      return registeredConversation.scheduler;
    });
    this.queue = schedulerPromise.catch(() => undefined);
    return schedulerPromise;
  }

  private findOpenConversation(
    { conversationId, messages }: AgentRequest,
    taskKeys: readonly MessageKey[],
  ): RegisteredConversation | undefined {
    const candidates = this.listByLastUse().filter(
      ({ conversation: { about }, task }) =>
        about.conversationId === conversationId && (taskKeys.includes(about.task) || taskKeys.includes(task)),
    );
    if (candidates.length < 2) return candidates[0];
    const commonLengths = candidates.map((candidate) => countCommonPrefix(candidate.conversation.messages, messages));
    return candidates[commonLengths.indexOf(Math.max(...commonLengths))];
  }

  private async openConversation(
    request: AgentRequest,
    taskKeys: readonly MessageKey[],
  ): Promise<RegisteredConversation> {
    const [newestTask = NO_TASK_KEY] = taskKeys;
    for (const task of taskKeys) {
      const ledgerOfTask = await this.openLedgerOfTask(request, task);
      if (!ledgerOfTask.isEmpty) return this.createConversation(request, task, ledgerOfTask);
    }
    return (
      this.listByLastUse().find((one) => continuesTask(one, request)) ??
      this.createConversation(request, newestTask, await this.openLedgerOfTask(request, newestTask))
    );
  }

  private createConversation(
    { conversationId, messages, isSideRequest = false }: AgentRequest,
    task: MessageKey,
    store: LiveLedger,
  ): RegisteredConversation {
    const ownId = conversationId !== undefined && { conversationId };
    const messagesUntilTask = messages.slice(0, messages.findIndex((message) => makeMessageKey(message) === task) + 1);
    const identity: ConversationIdentity = {
      id: createLiveId(conversationId, task),
      task,
      beginning: messagesUntilTask,
      isSideRequest,
      ...ownId,
    };
    const conversation = new LiveConversation(identity, store, this.dependencies);
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
  const taskIndex = findTaskMessage(messages);
  const [oldTask, newTask] = [beginning[taskIndex], messages[taskIndex]];
  if (!oldTask || !newTask) return false;
  if (about.conversationId !== conversationId || system !== sentSystem) return false;
  if (countCommonPrefix(beginning, messages) < taskIndex || !isExtendedVersion(oldTask, newTask)) return false;
  const [oldRest, newRest] = [oldMessages.slice(taskIndex + 1), messages.slice(taskIndex + 1)];
  if (newRest.length === 0) return signal?.aborted === true;
  return oldRest.length > 0 && countCommonPrefix(oldRest, newRest) === oldRest.length;
}

/**
 * Depends only on the conversation's beginning, so that its ledger is found again after a restart.
 */
const createLiveId = (conversationId: string | undefined, task: MessageKey): LiveId =>
  `live-${hashText(JSON.stringify([conversationId ?? null, task])).slice(0, 32)}` as LiveId;
