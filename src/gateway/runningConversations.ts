/** The live conversations of all gateways that run for this user, as a window sees them. Nothing here knows VS Code. */
import { existsSync, watch, type FSWatcher } from 'node:fs';
import { errorMessage } from '../core/errors';
import type { EditId } from '../core/condense/edits/edits';
import type { CondensationId } from '../core/condense/ledger/ledger';
import type { LiveId } from '../live/request';
import type { ByHandResult, CommandResult, LiveCondensation, LiveSummary, LiveView, WindowEngine } from '../live/types';
import { announced, type Announcement } from './announcement';
import type { ConversationLimits, LimitNotice } from '../live/conversationSpending';
import type { LiveAnswers, LiveQuestion } from './liveRoute';

/**
 * Milliseconds from one look at a folder that can't be watched to the next. Linux has a number of watches for each user, which editors
 * use up in large workspaces (inotify(7), `max_user_watches`: ENOSPC).
 */
const LOOK_MS = 2_000;

/** A gateway, and what it last told. */
interface KnownGateway {
  readonly told: Announcement;
  readonly abort: AbortController;
  /** When this window began to look, in milliseconds since the epoch. */
  readonly since: number;
  /** The condensations that it ever told of: a conversation that it left out of its list may come back. */
  readonly condensations: Set<CondensationId>;
  conversations: readonly LiveSummary[];
  isEnding: boolean;
  /** How many of its words about spending were passed on. */
  notices: number;
}

export interface RunningOptions {
  /** The folder of the announcements. */
  readonly folder: string;
  /** The lists and views may have changed. */
  readonly onChange: () => void;
  /** A condensation that was made since this window looks, not one that a conversation brings along which goes on. */
  readonly onCondensed?: (conversation: LiveSummary) => void;
  /** Something about spending that was not told before. */
  /** A conversation can be condensed no further, since this window looks. */
  readonly onExhausted?: (words: string) => void;
  readonly onNotice?: (notice: LimitNotice) => void;
  /** A gateway that agents were given the address of has ended, and nobody had asked for it. */
  readonly onGone?: (told: Announcement) => void;
  /** The folder can't be watched, so that it is looked at now and then; told once. @param why in words. */
  readonly onUnwatched?: (why: string) => void;
}

/**
 * Follows the gateways as they come and go. Nothing is asked and nothing waits while there is none, but where the system has no watch
 * for the folder.
 */
export class RunningConversations implements WindowEngine {
  private readonly gateways = new Map<number, KnownGateway>();
  private readonly views = new Map<LiveId, LiveView>();
  /** Addresses that did not answer: another process may have the number of one that was killed. */
  private readonly silent = new Set<string>();
  private watcher: FSWatcher | undefined;
  /** Looks where nothing watches. */
  private looking: NodeJS.Timeout | undefined;
  private isUnwatchedTold = false;
  private isEnded = false;

  constructor(private readonly options: RunningOptions) {}

  /** Looks for gateways now, and again when the folder changes. */
  async look(): Promise<void> {
    this.watchFolder();
    await this.lookNow();
  }

  private async lookNow(): Promise<void> {
    const all = await announced(this.options.folder);
    if (this.isEnded) return;
    const told = all.filter(({ address }) => !this.silent.has(address));
    for (const one of told) if (!this.gateways.has(one.pid)) this.follow(one);
    const pids = new Set(told.map(({ pid }) => pid));
    for (const pid of this.gateways.keys()) if (!pids.has(pid)) this.drop(pid);
  }

  get running(): readonly Announcement[] {
    return [...this.gateways.values()].map(({ told }) => told);
  }

  /** Last used first. */
  list(): LiveSummary[] {
    return [...this.gateways.values()].flatMap(listSummaries).toSorted((a, b) => b.lastUsed - a.lastUsed);
  }

  has(conversation: LiveId): boolean {
    return this.gatewayOf(conversation) !== undefined;
  }

  /** The last result of {@link view}; kept up to date from then on. */
  seen(conversation: LiveId): LiveView | undefined {
    return this.views.get(conversation);
  }

  async view(conversation: LiveId): Promise<LiveView | undefined> {
    const { view } = await this.ask('view', { do: 'view', conversation });
    if (view) this.views.set(conversation, view);
    return view;
  }

  async compare(conversation: LiveId): ReturnType<WindowEngine['compare']> {
    return (await this.ask('compare', { do: 'compare', conversation })).texts;
  }

  async outline(conversation: LiveId): ReturnType<WindowEngine['outline']> {
    return (await this.ask('outline', { do: 'outline', conversation })).messages;
  }

  async condenseNow(
    conversation: LiveId,
    options: { readonly provider?: string; readonly config?: unknown; readonly targetPercent?: number },
    signal?: AbortSignal,
  ): Promise<ByHandResult> {
    const { kind, notes } = await this.ask('condense', { do: 'condense', conversation, ...options }, signal);
    return { ...(kind !== undefined && { kind }), words: ['Nothing was condensed.', ...notes].join(' ') };
  }

  undo(conversation: LiveId): Promise<CommandResult> {
    return this.ask('undo', { do: 'undo', conversation });
  }

  redo(conversation: LiveId): Promise<CommandResult> {
    return this.ask('redo', { do: 'redo', conversation });
  }

  toggleEdit(conversation: LiveId, edit: EditId): Promise<CommandResult> {
    return this.ask('toggle', { do: 'toggle', conversation, edit });
  }

  pin(conversation: LiveId, message: number): Promise<CommandResult> {
    return this.ask('pin', { do: 'pin', conversation, message });
  }

  unpin(conversation: LiveId, message: number): Promise<CommandResult> {
    return this.ask('unpin', { do: 'unpin', conversation, message });
  }

  /** Tells all gateways that the user has changed the limits. One that does not answer is about to end. */
  async setLimits(limits: ConversationLimits): Promise<void> {
    const all = [...this.gateways.values()];
    await Promise.allSettled(
      all.map(({ told }) => post<LiveAnswers['limits']>(told.address, { do: 'limits', ...limits })),
    );
  }

  /** The gateway that any agent of this user may be given the address of, if it runs. */
  get shared(): Announcement | undefined {
    return this.running.find(({ addresses }) => addresses !== undefined);
  }

  /** Ends the gateway that agents were given the address of. @throws Error in words where it does not answer. */
  async endShared(): Promise<void> {
    const known = [...this.gateways.values()].find(({ told }) => told.addresses !== undefined);
    if (!known) return;
    known.isEnding = true;
    try {
      await post<LiveAnswers['end']>(known.told.address, { do: 'end' });
    } catch (error) {
      known.isEnding = false;
      throw error;
    }
  }

  dispose(): void {
    this.isEnded = true;
    this.watcher?.close();
    clearInterval(this.looking);
    for (const pid of [...this.gateways.keys()]) this.drop(pid);
  }

  /** Pauses condensing behind the gateway of a conversation, or resumes it. @throws Error in words where it does not answer. */
  async pause(conversation: LiveId, isPaused: boolean): Promise<void> {
    const gateway = this.gatewayOf(conversation);
    if (!gateway) throw new Error('The agent has ended. Its conversation is in its own list.');
    await post<LiveAnswers['pause']>(gateway.told.address, { do: 'pause', isPaused });
  }

  private gatewayOf(conversation: LiveId): KnownGateway | undefined {
    return [...this.gateways.values()].find(({ conversations }) => conversations.some(({ id }) => id === conversation));
  }

  /** @throws Error in words where the gateway is gone or refuses. */
  private ask<K extends Exclude<keyof LiveAnswers, 'list' | 'limits' | 'pause' | 'end'>>(
    _kind: K,
    asked: Extract<LiveQuestion, { do: K; conversation: string }>,
    signal?: AbortSignal,
  ): Promise<LiveAnswers[K]> {
    const gateway = this.gatewayOf(asked.conversation as LiveId);
    if (!gateway) return Promise.reject(new Error('The agent has ended. Its conversation is in its own list.'));
    return post<LiveAnswers[K]>(gateway.told.address, asked, signal);
  }

  /** Before the first gateway there is no folder: whoever starts one makes it. */
  private watchFolder(): void {
    const { folder } = this.options;
    if (this.watcher || this.isEnded || !existsSync(folder)) return;
    const look = (): void => {
      void this.lookNow();
    };
    try {
      this.watcher = watch(folder, { persistent: false }, look).on('error', (error) => {
        this.watcher?.close();
        this.watcher = undefined;
        this.lookNowAndThen(error);
      });
    } catch (error) {
      this.lookNowAndThen(error);
      return;
    }
    clearInterval(this.looking);
    this.looking = undefined;
  }

  /** In the place of a watch, until {@link look} finds one free. */
  private lookNowAndThen(why: unknown): void {
    if (this.isEnded) return;
    this.looking ??= setInterval(() => {
      void this.lookNow();
    }, LOOK_MS).unref();
    if (this.isUnwatchedTold) return;
    this.isUnwatchedTold = true;
    this.options.onUnwatched?.(errorMessage(why));
  }

  private follow(told: Announcement): void {
    const known: KnownGateway = {
      told,
      abort: new AbortController(),
      since: Date.now(),
      condensations: new Set(),
      conversations: [],
      isEnding: false,
      notices: 0,
    };
    this.gateways.set(told.pid, known);
    this.options.onChange();
    void this.listen(known);
  }

  /** Each answer is asked for when the one before is there; it comes when something changed. */
  private async listen(known: KnownGateway): Promise<void> {
    const { told, abort } = known;
    let after: number | undefined;
    while (!abort.signal.aborted) {
      try {
        const asked: LiveQuestion = { do: 'list', ...(after !== undefined && { after }) };
        const {
          state,
          conversations,
          told: notices = [],
          isEnding,
        } = await post<LiveAnswers['list']>(told.address, asked, abort.signal);
        known.isEnding ||= isEnding === true;
        if (state !== after) await this.take(known, conversations, after === undefined);
        // What was told before this window looked, another one has shown.
        if (after !== undefined) for (const one of notices.slice(known.notices)) this.options.onNotice?.(one);
        known.notices = notices.length;
        after = state;
      } catch {
        if (this.gateways.get(told.pid) !== known) return;
        // It ended, or was killed.
        this.silent.add(told.address);
        this.drop(told.pid);
        return;
      }
    }
  }

  /** @param isFirst what they tell now may have been told before. */
  private async take(known: KnownGateway, conversations: readonly LiveSummary[], isFirst: boolean): Promise<void> {
    const { since, condensations: before } = known;
    // Both have the same clock: a gateway runs on the machine of its windows.
    const isMade = ({ id, at }: LiveCondensation): boolean => !before.has(id) && Date.parse(at) >= since;
    const alreadyTold = new Set(
      known.conversations.flatMap(({ id, exhausted }) => (exhausted === undefined ? [] : [id])),
    );
    const condensed = new Set(conversations.filter((one) => one.condensations.some(isMade)).map(({ id }) => id));
    for (const one of conversations) for (const { id } of one.condensations) before.add(id);
    known.conversations = conversations.map(knownDecision);
    for (const { id } of conversations) if (this.views.has(id)) await this.view(id).catch(() => undefined);
    if (known.abort.signal.aborted) return;
    this.options.onChange();
    for (const one of listSummaries(known)) {
      if (condensed.has(one.id)) this.options.onCondensed?.(one);
      if (one.exhausted !== undefined && !isFirst && !alreadyTold.has(one.id))
        this.options.onExhausted?.(`${one.agent ?? ''}: ${one.exhausted}`);
    }
  }

  private drop(pid: number): void {
    const known = this.gateways.get(pid);
    if (!known) return;
    this.gateways.delete(pid);
    known.abort.abort();
    for (const { id } of known.conversations) this.views.delete(id);
    this.options.onChange();
    if (known.told.addresses && !known.isEnding && !this.isEnded) this.options.onGone?.(known.told);
  }
}

const listSummaries = ({ told: { agent, folder }, conversations }: KnownGateway): LiveSummary[] =>
  conversations.map((one) => ({ ...one, agent: agent ?? 'Agent', folder }));

/** @throws Error in words where there is no answer, or it is an error. */
async function post<T>(address: string, body: LiveQuestion, signal?: AbortSignal): Promise<T> {
  let answer: Response;
  try {
    answer = await fetch(address, { method: 'POST', body: JSON.stringify(body), ...(signal && { signal }) });
  } catch (error) {
    signal?.throwIfAborted();
    throw new Error(`The agent's gateway does not answer: ${errorMessage(error)}`, { cause: error });
  }
  const value = (await answer.json()) as T | { readonly error: unknown };
  if (typeof value === 'object' && value !== null && 'error' in value) {
    throw new Error(typeof value.error === 'string' ? value.error : "The agent's gateway refused the request.");
  }
  return value;
}

/** Without the decision of a gateway of an earlier version, which does not tell what it knew of the cache. */
function knownDecision({ lastDecision, ...conversation }: LiveSummary): LiveSummary {
  return lastDecision && 'cache' in lastDecision ? { ...conversation, lastDecision } : conversation;
}
