/**
 * What runs in the background worker: plain data both ways, for it crosses a thread. Reading, counting and condensing a
 * conversation take hundreds of milliseconds, and the extension host's thread is shared with every other extension.
 */
import type { ConversationFormat, HistoryScope } from '../conversations/types';
import type { ReadErrorData } from '../conversations/readError';
import type { ConversationDetails } from '../conversations/stores/details';
import type { FindOptions, FindResult } from '../conversations/stores/types';
import type { StepReport } from '../core/condense';
import type { UnchangedReason } from '../core/condense/types';

export interface CondenseTask {
  readonly kind: 'condense';
  readonly path: string;
  readonly history: HistoryScope;
  readonly provider: string;
  readonly config: unknown;
  /** How many percent of the tokens that are there now may stay. */
  readonly targetPercent: number;
  /** Folder of the ledgers. */
  readonly store: string;
}

export interface UndoTask {
  readonly kind: 'undo';
  readonly conversation: string;
  readonly store: string;
}

/**
 * Every conversation on this machine, told at once; then what reading them tells, titles first, the newest first. Details
 * are kept in a file, so that nothing is read again as long as it stays the same.
 */
export interface IndexTask {
  readonly kind: 'index';
  readonly find: FindOptions;
  readonly history: HistoryScope;
  /** File of the details. */
  readonly cache: string;
}

export type IndexProgress = { readonly found: FindResult } | { readonly details: readonly ConversationDetails[] };

export type Task = CondenseTask | UndoTask | IndexTask;

export interface CondensedResult {
  readonly kind: 'condensed';
  readonly conversation: ConversationSummary;
  readonly provider: string;
  readonly steps: readonly StepReport[];
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly targetTokens: number;
  readonly edits: number;
  /** US dollars; undefined where a price is not known. */
  readonly cost: number | undefined;
  /** Milliseconds. */
  readonly timeMs: number;
  readonly notes: readonly string[];
  /** The report in words. */
  readonly report: string;
  /** The conversation before and after, for people to compare. */
  readonly before: string;
  readonly after: string;
  /** The view as Anthropic messages JSON. */
  readonly json: string;
}

export interface NotCondensedResult {
  readonly kind: 'not-condensed';
  readonly reason: UnchangedReason | 'refused' | 'failed' | 'cancelled';
  readonly conversation: ConversationSummary;
  readonly report: string;
}

export interface ConversationSummary {
  readonly id: string;
  readonly title: string;
  readonly format: ConversationFormat;
  readonly path: string;
}

export interface UndoResult {
  /** What was undone; undefined where there was nothing. */
  readonly undone: { readonly provider: string; readonly edits: number } | undefined;
}

export type TaskResult<T extends Task> = T extends CondenseTask
  ? CondensedResult | NotCondensedResult
  : T extends UndoTask
    ? UndoResult
    : null;

export interface TaskProgress {
  /** What is being done, in words. */
  readonly step: string;
  readonly index?: IndexProgress;
}

/** What the worker sends. */
export type WorkerMessage =
  | { readonly type: 'progress'; readonly progress: TaskProgress }
  | { readonly type: 'done'; readonly result: unknown }
  | { readonly type: 'failed'; readonly message: string; readonly readError?: ReadErrorData };
