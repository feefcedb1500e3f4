/**
 * Tasks take hundreds of milliseconds, and all extensions share the extension host's thread, so
 * they run in a worker.
 */
import type { NativeConfig } from '../core/condense/summary/nativeConfig';
import type { SummarizerModel } from '../core/condense/summarizer';
import type { ProviderDescription } from '../extensionApi/remoteProvider';
import type { AccountOptions } from '../account/accountStores';
import type { WhatIfChoice } from '../account/storesWhatIf';
import type { Grouping } from '../core/account/account';
import type { FillLevel } from '../core/account/fillLevel';
import type { JudgedSessions } from '../conversations/judgeSessions';
import type { JudgedChoice } from '../core/condense/futureNeed/judgedChoices';
import type { Preset } from '../core/condense/providers/smart/presets';
import type { MinimumCoherence } from '../core/condense/coherence/coherence';
import type { WebviewFrame } from '../pages/reportPage';
import type { HistoryScope } from '../conversations/types';
import type { ConversationDetails } from '../conversations/stores/details';
import type { FindConversationsOptions, FindConversationsResult } from '../conversations/stores/types';
import type { AgentName } from '../core/agents';
import type { GivenBackConversation, GivenBackName, UndoneGiveBack } from '../giveBack/replacements';
import type { ExportedConversation, ExportTarget } from '../conversations/export';
import type { CondensationId } from '../core/condense/ledger/ledger';
import type {
  AccountResult,
  CheckGiveBackResult,
  CondensedResult,
  ConversationText,
  GivenBackResult,
  LedgersResult,
  ListedMessage,
  ListedReference,
  NotCondensedResult,
  OriginalResult,
  RecoverReplacementsResult,
  ConversationPageResult,
  ShownConversation,
  UndoResult,
} from './taskResults';

export interface CondenseTask {
  readonly kind: 'condense';
  readonly path: string;
  /** Name of the agent, if known. */
  readonly agent?: AgentName | undefined;
  readonly history: HistoryScope;
  readonly provider: string;
  readonly config: unknown;
  /** Name of the user's preset that `config` comes from, which the worker does not know. */
  readonly configName?: string | undefined;
  /** Percentage of the current tokens that may remain. */
  readonly targetPercent: number;
  /** Minimum shares of files, error lines, instructions and to-dos that the view must contain. */
  readonly coherenceFloor?: MinimumCoherence;
  readonly store: string;
  /** Indexes of messages that are not edited. */
  readonly excluded?: readonly number[];
  /** If true, nothing is stored. */
  readonly isPreview?: true;
  readonly registered?: readonly ProviderDescription[];
  /** What calling models requires; absent if no model may be called. */
  readonly paid?: {
    readonly presets: readonly Preset[];
    /** Maximum US dollars that the condensation may cost. */
    readonly maxCost: number;
    /** Folder of paid summaries, which are reused without cost. */
    readonly summaries: string;
  };
}

export interface UndoTask {
  readonly kind: 'undo';
  readonly conversation: string;
  readonly store: string;
}

/** Lists conversations. Titles are read before anything else, newest conversations first. */
export interface IndexTask {
  readonly kind: 'index';
  readonly find: FindConversationsOptions;
  readonly history: HistoryScope;
  readonly cache: string;
  /**
   * Folder with the replacements of files; if absent, conversations that were given back are not
   * reported.
   */
  readonly replacements?: string;
}

export type IndexProgress =
  | { readonly found: FindConversationsResult; readonly givenBack?: readonly GivenBackConversation[] }
  | { readonly details: readonly ConversationDetails[] };

export interface AccountTask extends AccountOptions {
  readonly kind: 'account';
  /** First local date whose requests are counted, such as `2026-11-16`. */
  readonly sinceDay?: string;
  readonly with?: WhatIfChoice & {
    readonly name: string;
    readonly cache: string;
    readonly version: string;
  };
  readonly file?: {
    readonly path: string;
    readonly form: 'html' | 'json' | 'csv';
    readonly by: Grouping;
    readonly version: string;
    /** Number of days that the file covers; absent for all time. */
    readonly days?: number | undefined;
  };
}

export interface StoredConversation {
  readonly path: string;
  readonly history: HistoryScope;
  readonly store: string;
}

export interface LedgersTask {
  readonly kind: 'ledgers';
  readonly store: string;
  readonly replacements: string;
  /** Only ledgers used after this time are outlined; in milliseconds since the epoch. */
  readonly since: number;
}

export interface SetUndoneTask {
  readonly kind: 'set-undone';
  readonly conversation: string;
  readonly condensation: CondensationId;
  readonly isUndone: boolean;
  readonly store: string;
}

export interface ShowTask extends StoredConversation {
  readonly kind: 'show';
  /** Shows the state after this condensation; default: the current view. */
  readonly condensation?: CondensationId;
}

/** Renders the conversation as in its file, for display. */
export interface RenderTextTask extends StoredConversation {
  readonly kind: 'text';
}

export interface ExportTask extends StoredConversation {
  readonly kind: 'export';
  readonly target: ExportTarget;
  readonly isCondensed: boolean;
}

export interface ReadTask extends StoredConversation {
  readonly kind: 'read';
  readonly nonce: string;
}

export interface ReportTask extends StoredConversation {
  readonly kind: 'report';
  /** The agent, if known. */
  readonly agent?: AgentName | undefined;
  /** Omits the conversation's text and keeps the figures. */
  readonly withoutContent: boolean;
  readonly version: string;
  readonly notes?: readonly string[];
  /** Estimated fill of a copy, whose file has no request yet, from the list of conversations. */
  readonly fill?: FillLevel | undefined;
  /** Tokens of the window to assume if the model's window is unknown. */
  readonly assumedWindow?: number;
  readonly isGivenBack?: boolean;
  /** Set if the page is shown in VS Code instead of written to a file. */
  readonly webview?: WebviewFrame;
}

export interface MessagesTask extends StoredConversation {
  readonly kind: 'messages';
}

export interface PinTask extends StoredConversation {
  readonly kind: 'pin';
  readonly pinned: readonly number[];
}

export interface OriginalTask {
  readonly kind: 'original';
  readonly reference: string;
  /** Folders of ledgers, in the order in which they are searched. */
  readonly stores: readonly string[];
}

export interface ReferencesTask {
  readonly kind: 'references';
  readonly conversation: string;
  readonly store: string;
}

/** Returns the first request that Summary would send, without sending it. */
export interface PromptTask {
  readonly kind: 'prompt';
  readonly path: string;
  readonly history: HistoryScope;
  readonly config: NativeConfig;
  readonly model: SummarizerModel;
}

/** Prompts of a summary; undefined if there is too little to condense. */
export interface PlannedPrompt {
  readonly system: string;
  readonly prompt: string;
  /** Text that follows the summary; may be empty. */
  readonly facts: string;
  /** True if the vendor summarizes the messages itself. */
  readonly isCompacted: boolean;
}

export interface GiveBackTask extends StoredConversation {
  readonly kind: 'give-back';
  /** Name of the agent, if the path doesn't determine it. */
  readonly agent?: AgentName;
  readonly replacements: string;
}

/**
 * Checks whether giving back is possible. Writes only to complete or revert an interrupted
 * replacement.
 */
export interface CheckGiveBackTask extends Omit<GiveBackTask, 'kind'> {
  readonly kind: 'check-give-back';
}

export interface UndoGiveBackTask {
  readonly kind: 'undo-give-back';
  readonly name: GivenBackName;
  readonly replacements: string;
}

export interface JudgeTask {
  readonly kind: 'judge';
  /** Paths of the conversations' files, longest conversation first. */
  readonly locations: readonly string[];
  /** The providers to compare, each with its default settings. */
  readonly choices: readonly JudgedChoice[];
}

/** Completes replacements of crashed processes, and removes those that are too old to undo. */
export interface RecoverTask {
  readonly kind: 'recover';
  readonly replacements: string;
}

export type Task =
  | CondenseTask
  | UndoTask
  | IndexTask
  | AccountTask
  | LedgersTask
  | SetUndoneTask
  | ShowTask
  | ExportTask
  | ReadTask
  | ReportTask
  | MessagesTask
  | PinTask
  | OriginalTask
  | ReferencesTask
  | GiveBackTask
  | CheckGiveBackTask
  | UndoGiveBackTask
  | RecoverTask
  | JudgeTask
  | PromptTask
  | RenderTextTask;

interface ResultByTaskKind {
  readonly condense: CondensedResult | NotCondensedResult;
  readonly undo: UndoResult;
  readonly index: null;
  readonly account: AccountResult;
  readonly ledgers: LedgersResult;
  readonly 'set-undone': null;
  readonly show: ShownConversation;
  readonly text: ConversationText;
  readonly export: ExportedConversation;
  readonly report: ConversationPageResult;
  readonly read: ConversationPageResult;
  readonly messages: readonly ListedMessage[];
  readonly pin: null;
  readonly original: OriginalResult;
  readonly references: readonly ListedReference[];
  readonly 'give-back': GivenBackResult;
  readonly 'check-give-back': CheckGiveBackResult;
  readonly 'undo-give-back': UndoneGiveBack | undefined;
  readonly recover: RecoverReplacementsResult;
  readonly judge: JudgedSessions;
  readonly prompt: PlannedPrompt | undefined;
}

export type TaskResult<T extends Task> = ResultByTaskKind[T['kind']];

export interface TaskProgress {
  readonly step: string;
  readonly index?: IndexProgress;
  readonly account?: { readonly done: number; readonly all: number };
  readonly judge?: { readonly done: number; readonly all: number };
  readonly whatIf?: { readonly done: number; readonly all: number };
}
