import type { ConversationDetails } from '../conversations/stores/details';
import { areDetailsUpToDate } from '../conversations/stores/details';
import { estimateFillOfCopy } from '../core/account/fillLevel';
import type { GivenBackConversation } from '../giveBack/replacements';
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
  private foundConversations: readonly FoundConversation[] = [];
  /** The list as last built; undefined after a change, until it is built again. */
  private listedConversations: readonly IndexedConversation[] | undefined;
  private readonly detailsByPath = new Map<string, ConversationDetails>();
  /**
   * All copies ever given back, also undone ones, because other copies may have been made from
   * them.
   */
  private givenBackCopies: readonly GivenBackConversation[] = [];
  private readonly reportedProblems = new Set<string>();
  private readonly listeners = new Set<() => void>();
  private readonly watchers: Disposable[] = [];
  private runningController: AbortController | undefined;
  private latestRefresh = Promise.resolve();
  private timer: NodeJS.Timeout | undefined;
  private startedAt = Number.NEGATIVE_INFINITY;
  private isDisposed = false;

  constructor(private readonly options: ConversationIndexOptions) {}

  /** Newest first; conversations without messages are left out. */
  get conversations(): readonly IndexedConversation[] {
    return (this.listedConversations ??= this.listConversations());
  }

  private listConversations(): readonly IndexedConversation[] {
    const pathById = new Map(
      [...this.detailsByPath.values()].flatMap(({ id, path }) => (id === undefined ? [] : [[id, path]])),
    );
    return this.foundConversations
      .map((each) => {
        const details = this.estimateFill(this.detailsByPath.get(each.path), pathById);
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
    // The copy may have been made from another copy, even a deleted one. So follow its origins to a
    // conversation with a request.
    while (!visitedPaths.has(copyPath)) {
      visitedPaths.add(copyPath);
      const givenBackEntry = this.givenBackCopies.find(
        ({ path, conversation }) => path === copyPath && conversation !== id,
      );
      const sourcePath = pathById.get(givenBackEntry?.conversation) ?? givenBackEntry?.source;
      if (sourcePath === undefined) break;
      const { tokens, fill, renewed = 0 } = this.detailsByPath.get(sourcePath) ?? {};
      if (tokens !== undefined && fill?.isRecorded === true)
        return { ...details, fill: estimateFillOfCopy({ tokens, fill, renewed }, details.tokens) };
      id = givenBackEntry?.conversation;
      copyPath = sourcePath;
    }
    return details;
  }

  get isBusy(): boolean {
    return this.runningController !== undefined;
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
    return (this.latestRefresh = this.startIndexing());
  }

  private async startIndexing(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.isDisposed) return;
    this.runningController?.abort(new Error('another run takes its place'));
    const abortController = new AbortController();
    this.runningController = abortController;
    this.startedAt = performance.now();
    this.notifyChanged();
    try {
      await this.options.run(abortController.signal, (progress) => {
        if (!abortController.signal.aborted) this.applyIndexProgress(progress);
      });
    } catch (error) {
      if (!abortController.signal.aborted) this.options.fail(error);
    }
    if (this.runningController !== abortController) return this.latestRefresh;
    this.runningController = undefined;
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
    this.runningController?.abort(new Error('disposed'));
    for (const watcher of this.watchers) watcher.dispose();
    this.listeners.clear();
  }

  private scheduleRefresh(): void {
    const { delayMs = 2_000, intervalMs = 15_000 } = this.options;
    if (this.timer || this.isDisposed) return;
    const msSinceStart = performance.now() - this.startedAt;
    this.timer = setTimeout(() => void this.refresh(), Math.max(delayMs, intervalMs - msSinceStart));
  }

  private applyIndexProgress(progress: IndexProgress): void {
    if ('found' in progress) {
      this.foundConversations = progress.found.conversations;
      this.givenBackCopies = progress.givenBack ?? [];
      const foundPaths = new Set(this.foundConversations.map(({ path }) => path));
      for (const cachedPath of this.detailsByPath.keys())
        if (!foundPaths.has(cachedPath)) this.detailsByPath.delete(cachedPath);
      for (const problem of progress.found.problems) this.reportProblem(problem);
    } else {
      for (const details of progress.details) {
        this.detailsByPath.set(details.path, details);
        if (details.problem !== undefined) this.reportProblem({ path: details.path, reason: details.problem });
      }
    }
    this.notifyChanged();
  }

  private reportProblem(problem: FindConversationsProblem): void {
    const key = `${problem.path}\n${problem.reason}`;
    if (this.reportedProblems.has(key)) return;
    this.reportedProblems.add(key);
    this.options.report(problem);
  }

  private notifyChanged(): void {
    this.listedConversations = undefined;
    for (const listener of this.listeners) listener();
  }
}

export const isUpToDate = ({ details, ...found }: IndexedConversation): boolean =>
  details !== undefined && details.isComplete && areDetailsUpToDate(details, found);
