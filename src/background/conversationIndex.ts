import type { ConversationDetails } from '../conversations/stores/details';
import { isCurrent } from '../conversations/stores/details';
import type { FindProblem, FoundConversation } from '../conversations/stores/types';
import type { IndexProgress } from './tasks';

/** A conversation of this machine with what is known of it so far. */
export interface IndexedConversation extends FoundConversation {
  /** Undefined until its beginning was read; of an older state of the file until the new one was read. */
  readonly details: ConversationDetails | undefined;
}

export interface ConversationIndexOptions {
  /** Runs the index task in the worker; ends when all is read, or with the signal. */
  readonly run: (signal: AbortSignal, report: (progress: IndexProgress) => void) => Promise<unknown>;
  /** Gets what stood in the way, each path and reason once. */
  readonly report: (problem: FindProblem) => void;
  /** Gets what made a run fail as a whole. */
  readonly fail: (error: unknown) => void;
  /** Milliseconds between a change and the run that it brings: agents write several times a second. */
  readonly delayMs?: number;
  /** Milliseconds between the starts of two runs that changes bring: a live conversation is read again each time. */
  readonly intervalMs?: number;
}

export interface Disposable {
  dispose(): void;
}

/** Tells of changes in a folder that may not be there yet, and below it. */
export type Watch = (folder: string, changed: () => void) => Disposable;

/** The list of all conversations, kept up to date in the background. Nothing is read on the caller's thread. */
export class ConversationIndex implements Disposable {
  private found: readonly FoundConversation[] = [];
  private readonly details = new Map<string, ConversationDetails>();
  private readonly reported = new Set<string>();
  private readonly listeners = new Set<() => void>();
  private readonly watchers: Disposable[] = [];
  private running: AbortController | undefined;
  private latest = Promise.resolve();
  private timer: NodeJS.Timeout | undefined;
  private startedAt = Number.NEGATIVE_INFINITY;
  private isDisposed = false;

  constructor(private readonly options: ConversationIndexOptions) {}

  /**
   * The newest first; those in which nothing was said are left out. A subagent's parent is known by its place in the store, or by the id
   * that its file names.
   */
  get conversations(): readonly IndexedConversation[] {
    const pathById = new Map(
      [...this.details.values()].flatMap(({ id, path }) => (id === undefined ? [] : [[id, path]])),
    );
    return this.found
      .map((each) => {
        const details = this.details.get(each.path);
        const parent = each.parent ?? pathById.get(details?.parent ?? '');
        return { ...each, ...(parent !== undefined && parent !== each.path && { parent }), details };
      })
      .filter(({ details }) => details?.isBlank !== true);
  }

  /** True while something is still being looked for or read. */
  get isBusy(): boolean {
    return this.running !== undefined;
  }

  onDidChange(listener: () => void): Disposable {
    this.listeners.add(listener);
    return { dispose: () => this.listeners.delete(listener) };
  }

  /** Looks again, now; a run that is under way gives way. Ends when all is read, by this run or by one that took its place. */
  refresh(): Promise<void> {
    return (this.latest = this.look());
  }

  private async look(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.isDisposed) return;
    this.running?.abort(new Error('another run takes its place'));
    const run = new AbortController();
    this.running = run;
    this.startedAt = performance.now();
    this.changed();
    try {
      await this.options.run(run.signal, (progress) => {
        if (!run.signal.aborted) this.take(progress);
      });
    } catch (error) {
      if (!run.signal.aborted) this.options.fail(error);
    }
    if (this.running !== run) return this.latest;
    this.running = undefined;
    this.changed();
  }

  /** Looks again when something changes in these folders: soon, but not too often. */
  watch(folders: readonly string[], watch: Watch): void {
    for (const folder of folders)
      this.watchers.push(
        watch(folder, () => {
          this.refreshSoon();
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

  private refreshSoon(): void {
    const { delayMs = 2_000, intervalMs = 15_000 } = this.options;
    if (this.timer || this.isDisposed) return;
    const sinceStart = performance.now() - this.startedAt;
    this.timer = setTimeout(() => void this.refresh(), Math.max(delayMs, intervalMs - sinceStart));
  }

  private take(progress: IndexProgress): void {
    if ('found' in progress) {
      this.found = progress.found.conversations;
      const there = new Set(this.found.map(({ path }) => path));
      for (const path of this.details.keys()) if (!there.has(path)) this.details.delete(path);
      for (const problem of progress.found.problems) this.report(problem);
    } else {
      for (const details of progress.details) {
        this.details.set(details.path, details);
        if (details.problem !== undefined) this.report({ path: details.path, reason: details.problem });
      }
    }
    this.changed();
  }

  private report(problem: FindProblem): void {
    const key = `${problem.path}\n${problem.reason}`;
    if (this.reported.has(key)) return;
    this.reported.add(key);
    this.options.report(problem);
  }

  private changed(): void {
    for (const listener of this.listeners) listener();
  }
}

/** Whether the details of an entry are those of the file as it now is. */
export const isUpToDate = ({ details, ...found }: IndexedConversation): boolean =>
  details !== undefined && details.isComplete && isCurrent(details, found);
