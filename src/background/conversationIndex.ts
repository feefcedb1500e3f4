import type { ConversationDetails } from '../conversations/stores/details';
import { areDetailsUpToDate } from '../conversations/stores/details';
import { estimateFillOfCopy } from '../core/account/fillLevel';
import type { GivenBack } from '../giveBack/replacements';
import type { FindConversationsProblem, FoundConversation } from '../conversations/stores/types';
import type { IndexProgress } from './tasks';

export interface IndexedConversation extends FoundConversation {
  /**
   * Undefined until the file was read. After a change, the earlier details stay until the file is
   * read again.
   */
  readonly details: ConversationDetails | undefined;
}

export interface ConversationIndexOptions {
  readonly run: (signal: AbortSignal, report: (progress: IndexProgress) => void) => Promise<unknown>;
  readonly report: (problem: FindConversationsProblem) => void;
  readonly fail: (error: unknown) => void;
  /**
   * Milliseconds to wait after a change before a run, because agents write several times per
   * second.
   */
  readonly delayMs?: number;
  /**
   * Minimum milliseconds from one run after a change to the next, because each run rereads live
   * conversations.
   */
  readonly intervalMs?: number;
}

export interface Disposable {
  dispose(): void;
}

/** Watches a folder, which need not exist yet. */
export type WatchFolder = (folder: string, changed: () => void) => Disposable;

/** Lists conversations, which are read in the background. */
export class ConversationIndex implements Disposable {
  private found: readonly FoundConversation[] = [];
  /** The list as last built; undefined after a change, until it is built again. */
  private listed: readonly IndexedConversation[] | undefined;
  private readonly details = new Map<string, ConversationDetails>();
  /**
   * All copies ever given back, also undone ones, because other copies may have been made from
   * them.
   */
  private givenBack: readonly GivenBack[] = [];
  private readonly reported = new Set<string>();
  private readonly listeners = new Set<() => void>();
  private readonly watchers: Disposable[] = [];
  private running: AbortController | undefined;
  private latest = Promise.resolve();
  private timer: NodeJS.Timeout | undefined;
  private startedAt = Number.NEGATIVE_INFINITY;
  private isDisposed = false;

  constructor(private readonly options: ConversationIndexOptions) {}

  /** Newest first; conversations without messages are left out. */
  get conversations(): readonly IndexedConversation[] {
    return (this.listed ??= this.listConversations());
  }

  private listConversations(): readonly IndexedConversation[] {
    const pathById = new Map(
      [...this.details.values()].flatMap(({ id, path }) => (id === undefined ? [] : [[id, path]])),
    );
    return this.found
      .map((each) => {
        const details = this.estimateFill(this.details.get(each.path), pathById);
        const parent = each.parent ?? pathById.get(details?.parent ?? '');
        return { ...each, ...(parent !== undefined && parent !== each.path && { parent }), details };
      })
      .filter(({ details }) => details?.isBlank !== true);
  }

  /**
   * Estimates the fill of a given-back copy, which has no request of its own at first, from its
   * original's last request.
   */
  private estimateFill(
    details: ConversationDetails | undefined,
    pathById: ReadonlyMap<string | undefined, string | undefined>,
  ): ConversationDetails | undefined {
    if (details?.tokens === undefined || details.fill?.isRecorded !== false) return details;
    const visitedPaths = new Set<string>();
    let { id, path: copyPath }: Pick<ConversationDetails, 'id' | 'path'> = details;
    // The copy may be made from another copy, even a deleted one, so this goes back to one with a
    // request.
    while (!visitedPaths.has(copyPath)) {
      visitedPaths.add(copyPath);
      const origin = this.givenBack.find(({ path, conversation }) => path === copyPath && conversation !== id);
      const source = pathById.get(origin?.conversation) ?? origin?.source;
      if (source === undefined) break;
      const { tokens, fill, renewed = 0 } = this.details.get(source) ?? {};
      if (tokens !== undefined && fill?.isRecorded === true)
        return { ...details, fill: estimateFillOfCopy({ tokens, fill, renewed }, details.tokens) };
      id = origin?.conversation;
      copyPath = source;
    }
    return details;
  }

  get isBusy(): boolean {
    return this.running !== undefined;
  }

  onDidChange(listener: () => void): Disposable {
    this.listeners.add(listener);
    return { dispose: () => this.listeners.delete(listener) };
  }

  /**
   * Starts a search, canceling a running one. Resolves when this search or a later one has read
   * everything.
   */
  refresh(): Promise<void> {
    return (this.latest = this.startIndexing());
  }

  private async startIndexing(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.isDisposed) return;
    this.running?.abort(new Error('another run takes its place'));
    const run = new AbortController();
    this.running = run;
    this.startedAt = performance.now();
    this.notifyChanged();
    try {
      await this.options.run(run.signal, (progress) => {
        if (!run.signal.aborted) this.applyIndexProgress(progress);
      });
    } catch (error) {
      if (!run.signal.aborted) this.options.fail(error);
    }
    if (this.running !== run) return this.latest;
    this.running = undefined;
    this.notifyChanged();
  }

  watchFolders(folders: readonly string[], watch: WatchFolder): void {
    for (const folder of folders)
      this.watchers.push(
        watch(folder, () => {
          this.scheduleRefresh();
        }),
      );
  }

  dispose(): void {
    this.isDisposed = true;
    clearTimeout(this.timer);
    this.running?.abort(new Error('disposed'));
    for (const watcher of this.watchers) watcher.dispose();
    this.listeners.clear();
  }

  private scheduleRefresh(): void {
    const { delayMs = 2_000, intervalMs = 15_000 } = this.options;
    if (this.timer || this.isDisposed) return;
    const sinceStart = performance.now() - this.startedAt;
    this.timer = setTimeout(() => void this.refresh(), Math.max(delayMs, intervalMs - sinceStart));
  }

  private applyIndexProgress(progress: IndexProgress): void {
    if ('found' in progress) {
      this.found = progress.found.conversations;
      this.givenBack = progress.givenBack ?? [];
      const foundPaths = new Set(this.found.map(({ path }) => path));
      for (const path of this.details.keys()) if (!foundPaths.has(path)) this.details.delete(path);
      for (const problem of progress.found.problems) this.reportProblem(problem);
    } else {
      for (const details of progress.details) {
        this.details.set(details.path, details);
        if (details.problem !== undefined) this.reportProblem({ path: details.path, reason: details.problem });
      }
    }
    this.notifyChanged();
  }

  private reportProblem(problem: FindConversationsProblem): void {
    const key = `${problem.path}\n${problem.reason}`;
    if (this.reported.has(key)) return;
    this.reported.add(key);
    this.options.report(problem);
  }

  private notifyChanged(): void {
    this.listed = undefined;
    for (const listener of this.listeners) listener();
  }
}

export const isUpToDate = ({ details, ...found }: IndexedConversation): boolean =>
  details !== undefined && details.isComplete && areDetailsUpToDate(details, found);
