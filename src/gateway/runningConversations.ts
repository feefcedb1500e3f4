/** Follows the conversations of all of a user's gateways for a window. Independent of VS Code. */
import { existsSync, watch, type FSWatcher } from 'node:fs';
import { getErrorMessage } from '../core/errors';
import type { EditId } from '../core/condense/edits/edits';
import type { CondensationId } from '../core/condense/ledger/ledger';
import type { LiveId } from '../live/request';
import type {
  ManualCondensationResult,
  CommandResult,
  LiveCondensation,
  LiveSummary,
  LiveView,
  WindowEngine,
} from '../live/types';
import { listAnnouncements, type GatewayAnnouncement } from './announcement';
import type { ConversationLimits, LimitNotice } from '../live/conversationSpending';
import type { LiveAnswerByQuestion, LiveQuestion } from './liveRoute';

/**
 * For folders that can't be watched: Linux limits watches per user, and editors use them up
 * (inotify(7), `max_user_watches`: ENOSPC).
 */
const POLL_INTERVAL_MS = 2_000;

interface WatchedGateway {
  readonly announcement: GatewayAnnouncement;
  readonly abort: AbortController;
  /** When this window started to follow the gateway, in milliseconds since the epoch. */
  readonly since: number;
  /**
   * IDs of all condensations listed so far, even if the latest list lacks them, because a
   * conversation missing from a list may return.
   */
  readonly condensations: Set<CondensationId>;
  conversations: readonly LiveSummary[];
  isEnding: boolean;
  notices: number;
}

export interface RunningConversationsOptions {
  readonly folder: string;
  readonly onChange: () => void;
  /**
   * Called only for condensations made since this window started, and not for those of a resumed
   * conversation.
   */
  readonly onCondensed?: (conversation: LiveSummary) => void;
  readonly onExhausted?: (words: string) => void;
  readonly onNotice?: (notice: LimitNotice) => void;
  readonly onGone?: (announcement: GatewayAnnouncement) => void;
  /**
   * Called once if the folder can't be watched and is polled instead.
   * @param reason for display
   */
  readonly onUnwatched?: (reason: string) => void;
}

export class RunningConversations implements WindowEngine {
  private readonly gateways = new Map<number, WatchedGateway>();
  private readonly views = new Map<LiveId, LiveView>();
  /**
   * Addresses of gateways that did not respond. A gateway may have been killed and its PID reused.
   */
  private readonly unreachable = new Set<string>();
  private watcher: FSWatcher | undefined;
  private pollTimer: NodeJS.Timeout | undefined;
  private wasUnwatchedReported = false;
  private isEnded = false;

  constructor(private readonly options: RunningConversationsOptions) {}

  async refresh(): Promise<void> {
    this.watchFolder();
    await this.refreshNow();
  }

  private async refreshNow(): Promise<void> {
    const announcements = await listAnnouncements(this.options.folder);
    if (this.isEnded) return;
    const respondingGateways = announcements.filter(({ address }) => !this.unreachable.has(address));
    for (const announcement of respondingGateways)
      if (!this.gateways.has(announcement.pid)) this.followGateway(announcement);
    const pids = new Set(respondingGateways.map(({ pid }) => pid));
    for (const pid of this.gateways.keys()) if (!pids.has(pid)) this.dropGateway(pid);
  }

  get running(): readonly GatewayAnnouncement[] {
    return [...this.gateways.values()].map(({ announcement }) => announcement);
  }

  list(): LiveSummary[] {
    return [...this.gateways.values()].flatMap(listSummaries).toSorted((a, b) => b.lastUsed - a.lastUsed);
  }

  has(conversation: LiveId): boolean {
    return this.findGateway(conversation) !== undefined;
  }

  getCachedView(conversation: LiveId): LiveView | undefined {
    return this.views.get(conversation);
  }

  async view(conversation: LiveId): Promise<LiveView | undefined> {
    const { view } = await this.askGateway('view', { do: 'view', conversation });
    if (view) this.views.set(conversation, view);
    return view;
  }

  async compare(conversation: LiveId): ReturnType<WindowEngine['compare']> {
    return (await this.askGateway('compare', { do: 'compare', conversation })).texts;
  }

  async outline(conversation: LiveId): ReturnType<WindowEngine['outline']> {
    return (await this.askGateway('outline', { do: 'outline', conversation })).messages;
  }

  async condenseNow(
    conversation: LiveId,
    options: { readonly provider?: string; readonly config?: unknown; readonly targetPercent?: number },
    signal?: AbortSignal,
  ): Promise<ManualCondensationResult> {
    const { kind, notes } = await this.askGateway('condense', { do: 'condense', conversation, ...options }, signal);
    return { ...(kind !== undefined && { kind }), words: ['Nothing was condensed.', ...notes].join(' ') };
  }

  undo(conversation: LiveId): Promise<CommandResult> {
    return this.askGateway('undo', { do: 'undo', conversation });
  }

  redo(conversation: LiveId): Promise<CommandResult> {
    return this.askGateway('redo', { do: 'redo', conversation });
  }

  toggleEdit(conversation: LiveId, edit: EditId): Promise<CommandResult> {
    return this.askGateway('toggle', { do: 'toggle', conversation, edit });
  }

  pin(conversation: LiveId, message: number): Promise<CommandResult> {
    return this.askGateway('pin', { do: 'pin', conversation, message });
  }

  unpin(conversation: LiveId, message: number): Promise<CommandResult> {
    return this.askGateway('unpin', { do: 'unpin', conversation, message });
  }

  /**
   * Passes new limits to all gateways. Errors are ignored, since a gateway that does not respond is
   * ending.
   */
  async setLimits(limits: ConversationLimits): Promise<void> {
    const watchedGateways = [...this.gateways.values()];
    await Promise.allSettled(
      watchedGateways.map(({ announcement }) =>
        postQuestionToGateway<LiveAnswerByQuestion['limits']>(announcement.address, { do: 'limits', ...limits }),
      ),
    );
  }

  get shared(): GatewayAnnouncement | undefined {
    return this.running.find(({ addresses }) => addresses !== undefined);
  }

  /** @throws Error with a displayable message */
  async endSharedGateway(): Promise<void> {
    const gateway = [...this.gateways.values()].find(({ announcement }) => announcement.addresses !== undefined);
    if (!gateway) return;
    gateway.isEnding = true;
    try {
      await postQuestionToGateway<LiveAnswerByQuestion['end']>(gateway.announcement.address, { do: 'end' });
    } catch (error) {
      gateway.isEnding = false;
      throw error;
    }
  }

  dispose(): void {
    this.isEnded = true;
    this.watcher?.close();
    clearInterval(this.pollTimer);
    for (const pid of [...this.gateways.keys()]) this.dropGateway(pid);
  }

  /** @throws Error with a displayable message */
  async pause(conversation: LiveId, isPaused: boolean): Promise<void> {
    const gateway = this.findGateway(conversation);
    if (!gateway) throw new Error('The agent has ended. Its conversation is in its own list.');
    await postQuestionToGateway<LiveAnswerByQuestion['pause']>(gateway.announcement.address, { do: 'pause', isPaused });
  }

  private findGateway(conversation: LiveId): WatchedGateway | undefined {
    return [...this.gateways.values()].find(({ conversations }) => conversations.some(({ id }) => id === conversation));
  }

  /** @throws Error with a displayable message */
  private askGateway<K extends Exclude<keyof LiveAnswerByQuestion, 'list' | 'limits' | 'pause' | 'end'>>(
    _kind: K,
    question: Extract<LiveQuestion, { do: K; conversation: string }>,
    signal?: AbortSignal,
  ): Promise<LiveAnswerByQuestion[K]> {
    const gateway = this.findGateway(question.conversation as LiveId);
    if (!gateway) return Promise.reject(new Error('The agent has ended. Its conversation is in its own list.'));
    return postQuestionToGateway<LiveAnswerByQuestion[K]>(gateway.announcement.address, question, signal);
  }

  private watchFolder(): void {
    const { folder } = this.options;
    if (this.watcher || this.isEnded || !existsSync(folder)) return;
    const refreshConversations = (): void => {
      void this.refreshNow();
    };
    try {
      this.watcher = watch(folder, { persistent: false }, refreshConversations).on('error', (error) => {
        this.watcher?.close();
        this.watcher = undefined;
        this.pollRegularly(error);
      });
    } catch (error) {
      this.pollRegularly(error);
      return;
    }
    clearInterval(this.pollTimer);
    this.pollTimer = undefined;
  }

  private pollRegularly(error: unknown): void {
    if (this.isEnded) return;
    this.pollTimer ??= setInterval(() => {
      void this.refreshNow();
    }, POLL_INTERVAL_MS).unref();
    if (this.wasUnwatchedReported) return;
    this.wasUnwatchedReported = true;
    this.options.onUnwatched?.(getErrorMessage(error));
  }

  private followGateway(announcement: GatewayAnnouncement): void {
    const gateway: WatchedGateway = {
      announcement,
      abort: new AbortController(),
      since: Date.now(),
      condensations: new Set(),
      conversations: [],
      isEnding: false,
      notices: 0,
    };
    this.gateways.set(announcement.pid, gateway);
    this.options.onChange();
    void this.listenToGateway(gateway);
  }

  private async listenToGateway(gateway: WatchedGateway): Promise<void> {
    const { announcement, abort } = gateway;
    let knownState: number | undefined;
    while (!abort.signal.aborted) {
      try {
        const question: LiveQuestion = { do: 'list', ...(knownState !== undefined && { after: knownState }) };
        const {
          state,
          conversations,
          told: notices = [],
          isEnding,
        } = await postQuestionToGateway<LiveAnswerByQuestion['list']>(announcement.address, question, abort.signal);
        gateway.isEnding ||= isEnding;
        if (state !== knownState) await this.updateConversations(gateway, conversations, knownState === undefined);
        // Notices from before this window started were shown by another window.
        if (knownState !== undefined)
          for (const notice of notices.slice(gateway.notices)) this.options.onNotice?.(notice);
        gateway.notices = notices.length;
        knownState = state;
      } catch {
        if (this.gateways.get(announcement.pid) !== gateway) return;
        this.unreachable.add(announcement.address);
        this.dropGateway(announcement.pid);
        return;
      }
    }
  }

  private async updateConversations(
    gateway: WatchedGateway,
    conversations: readonly LiveSummary[],
    isFirst: boolean,
  ): Promise<void> {
    const { since, condensations: knownCondensations } = gateway;
    // Gateways run on the same machine as the window, so their clocks agree.
    const isNewCondensation = ({ id, at }: LiveCondensation): boolean =>
      !knownCondensations.has(id) && Date.parse(at) >= since;
    const reportedConversations = new Set(
      gateway.conversations.flatMap(({ id, exhausted }) => (exhausted === undefined ? [] : [id])),
    );
    const condensedIds = new Set(
      conversations.filter((one) => one.condensations.some(isNewCondensation)).map(({ id }) => id),
    );
    for (const conversation of conversations)
      for (const { id } of conversation.condensations) knownCondensations.add(id);
    gateway.conversations = conversations.map(dropUnknownDecision);
    for (const { id } of conversations) if (this.views.has(id)) await this.view(id).catch(() => undefined);
    if (gateway.abort.signal.aborted) return;
    this.options.onChange();
    for (const summary of listSummaries(gateway)) {
      if (condensedIds.has(summary.id)) this.options.onCondensed?.(summary);
      if (summary.exhausted !== undefined && !isFirst && !reportedConversations.has(summary.id))
        this.options.onExhausted?.(`${summary.agent ?? ''}: ${summary.exhausted}`);
    }
  }

  private dropGateway(pid: number): void {
    const gateway = this.gateways.get(pid);
    if (!gateway) return;
    this.gateways.delete(pid);
    gateway.abort.abort();
    for (const { id } of gateway.conversations) this.views.delete(id);
    this.options.onChange();
    if (gateway.announcement.addresses && !gateway.isEnding && !this.isEnded)
      this.options.onGone?.(gateway.announcement);
  }
}

const listSummaries = ({ announcement: { agent, folder }, conversations }: WatchedGateway): LiveSummary[] =>
  conversations.map((one) => ({ ...one, agent: agent ?? 'Agent', folder }));

/** @throws Error with a displayable message */
async function postQuestionToGateway<T>(address: string, body: LiveQuestion, signal?: AbortSignal): Promise<T> {
  let answer: Response;
  try {
    answer = await fetch(address, {
      method: 'POST',
      // A gateway closes idle connections after 5 seconds. A busy window would not notice, and its
      // next request would fail.
      headers: { connection: 'close' },
      body: JSON.stringify(body),
      ...(signal && { signal }),
    });
  } catch (error) {
    signal?.throwIfAborted();
    throw new Error(`The agent’s gateway does not answer: ${getErrorMessage(error)}`, { cause: error });
  }
  const value = (await answer.json()) as T | { readonly error: unknown };
  if (typeof value === 'object' && value !== null && 'error' in value) {
    throw new Error(typeof value.error === 'string' ? value.error : 'The agent’s gateway refused the request.');
  }
  return value;
}

/** Older gateways don't report what they knew of the cache. */
function dropUnknownDecision({ lastDecision, ...conversation }: LiveSummary): LiveSummary {
  return lastDecision && 'cache' in lastDecision ? { ...conversation, lastDecision } : conversation;
}
