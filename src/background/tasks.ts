/**
 * Tasks of the background worker, as plain data. Reading, counting and condensing take hundreds of
 * milliseconds, and the extension host's thread is shared with all extensions.
 */
import type { NativeConfig } from '../core/condense/summary/nativeConfig';
import type { SummarizerModel } from '../core/condense/summarizer';
import type { ProviderDescription } from '../extensionApi/remoteProvider';
import type { AccountOptions } from '../account/accountStores';
import type { WhatIfChoice } from '../account/storesWhatIf';
import type { Grouping } from '../core/account/account';
import type { JudgedSessions } from '../conversations/judgeSessions';
import type { JudgedChoice } from '../core/condense/futureNeed/judgedChoices';
import type { Preset } from '../core/condense/providers/smart/presets';
import type { CoherenceFloor } from '../core/condense/coherence/coherence';
import type { WebviewFrame } from '../pages/reportPage';
import type { HistoryScope } from '../conversations/types';
import type { ConversationDetails } from '../conversations/stores/details';
import type { FindOptions, FindResult } from '../conversations/stores/types';
import type { AgentName } from '../core/agents';
import type { GivenBack } from '../giveBack/replacements';
import type { ExportedConversation, ExportTarget } from '../conversations/export';
import type { CondensationId } from '../core/condense/ledger/ledger';
import type {
  AccountResult,
  CondensedResult,
  ConversationText,
  GivenBackResult,
  LedgersResult,
  ListedMessage,
  ListedReference,
  NotCondensedResult,
  OriginalResult,
  RecoverResult,
  PageToRead,
  ReportedPage,
  ShownConversation,
  UndoResult,
} from './taskResults';

export interface CondenseTask {
  readonly kind: 'condense';
  readonly path: string;
  readonly history: HistoryScope;
  readonly provider: string;
  readonly config: unknown;
  /** Display name of a user's preset, which the worker does not know. */
  readonly configName?: string | undefined;
  /** Percentage of the current tokens that may remain. */
  readonly targetPercent: number;
  /** Minimum shares of files, error lines, instructions and to-dos that the view must contain. */
  readonly coherenceFloor?: CoherenceFloor;
  /** Folder of the ledgers. */
  readonly store: string;
  /** Indexes of messages not to edit; default none. */
  readonly excluded?: readonly number[];
  /** Stores nothing. */
  readonly isPreview?: true;
  /** Providers of other extensions that the run may use; default none. */
  readonly registered?: readonly ProviderDescription[];
  /** Set if models may be called. */
  readonly paid?: {
    /** The user's presets. */
    readonly presets: readonly Preset[];
    /** Limit in US dollars. */
    readonly maxCost: number;
    /** Folder of paid summaries, which cost nothing again. */
    readonly summaries: string;
  };
}

export interface UndoTask {
  readonly kind: 'undo';
  readonly conversation: string;
  readonly store: string;
}

/**
 * Lists every conversation on this machine at once, then reads details: titles first, newest first.
 * Details are cached in a file until a conversation changes.
 */
export interface IndexTask {
  readonly kind: 'index';
  readonly find: FindOptions;
  readonly history: HistoryScope;
  /** File of the cache. */
  readonly cache: string;
  /** Folder of the replacements; absent: which conversations were given back is not reported. */
  readonly replacements?: string;
}

export type IndexProgress =
  | { readonly found: FindResult; readonly givenBack?: readonly GivenBack[] }
  | { readonly details: readonly ConversationDetails[] };

/** Accounts every conversation on this machine. */
export interface AccountTask extends AccountOptions {
  readonly kind: 'account';
  /** Only requests from this local date on, `2026-11-16`. */
  readonly sinceDay?: string;
  /** Also computes the cost with another way. */
  readonly with?: WhatIfChoice & {
    /** Display name. */
    readonly name: string;
    readonly cache: string;
    readonly version: string;
  };
  /** Set to write the account to a file as well. */
  readonly file?: {
    readonly path: string;
    readonly form: 'html' | 'json' | 'csv';
    readonly by: Grouping;
    readonly version: string;
    /** Period in days; absent: all time. */
    readonly days?: number | undefined;
  };
}

/** A stored conversation with its ledger. */
export interface StoredConversation {
  readonly path: string;
  readonly history: HistoryScope;
  /** Folder of the ledgers. */
  readonly store: string;
}

/** Lists ledgers and replacements used since a time. */
export interface LedgersTask {
  readonly kind: 'ledgers';
  readonly store: string;
  /** Folder of the replacements. */
  readonly replacements: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

/** Removes a condensation from the view, or restores it. */
export interface SetUndoneTask {
  readonly kind: 'set-undone';
  readonly conversation: string;
  readonly condensation: CondensationId;
  readonly isUndone: boolean;
  readonly store: string;
}

/** The conversation before and after its condensations, for display. */
export interface ShowTask extends StoredConversation {
  readonly kind: 'show';
  /** State after this condensation; default: the current view. */
  readonly condensation?: CondensationId;
}

/** The conversation as in its file, for display. */
export interface TextTask extends StoredConversation {
  readonly kind: 'text';
}

export interface ExportTask extends StoredConversation {
  readonly kind: 'export';
  readonly target: ExportTarget;
  /** True to apply the conversation's condensations. */
  readonly isCondensed: boolean;
}

/** A condensed conversation as a readable page. */
export interface ReadTask extends StoredConversation {
  readonly kind: 'read';
  /** Nonce of the page's style. */
  readonly nonce: string;
}

/** A page about the condensations in the view. */
export interface ReportTask extends StoredConversation {
  readonly kind: 'report';
  /** Figures only. */
  readonly withoutContent: boolean;
  /** The product's version. */
  readonly version: string;
  /** The condensation's notes for display; default none. */
  readonly notes?: readonly string[];
  /** Set if it is shown in VS Code instead of written to a file. */
  readonly webview?: WebviewFrame;
}

/** Messages to choose from. */
export interface MessagesTask extends StoredConversation {
  readonly kind: 'messages';
}

/** Pins exactly these messages. */
export interface PinTask extends StoredConversation {
  readonly kind: 'pin';
  /** Indexes. */
  readonly pinned: readonly number[];
}

/** Looks up the original of a reference. */
export interface OriginalTask {
  readonly kind: 'original';
  readonly reference: string;
  /** Folders of ledgers, in search order. */
  readonly stores: readonly string[];
}

/** The content removed from a conversation. */
export interface ReferencesTask {
  readonly kind: 'references';
  readonly conversation: string;
  readonly store: string;
}

/** The first request that Summary would send for a file, without sending it. */
export interface PromptTask {
  readonly kind: 'prompt';
  readonly path: string;
  readonly history: HistoryScope;
  readonly config: NativeConfig;
  readonly model: SummarizerModel;
}

/** Parts of the request; undefined if there is too little to condense. */
export interface PlannedPrompt {
  readonly system: string;
  readonly prompt: string;
  /** Text after the summary; may be empty. */
  readonly facts: string;
  /** The prompt is the messages, which the vendor summarizes itself. */
  readonly isCompacted: boolean;
}

export interface GiveBackTask extends StoredConversation {
  readonly kind: 'give-back';
  /** The agent, if the path doesn't determine it. */
  readonly agent?: AgentName;
  /** Folder of the replacements. */
  readonly replacements: string;
}

/** Whether a conversation can be given back; writes nothing. */
export interface CheckGiveBackTask extends Omit<GiveBackTask, 'kind'> {
  readonly kind: 'check-give-back';
}

/** Undoes the last give-back of a conversation. */
export interface UndoGiveBackTask {
  readonly kind: 'undo-give-back';
  readonly conversation: string;
  readonly replacements: string;
}

/** Evaluates ways to condense on stored conversations. */
export interface JudgeTask {
  readonly kind: 'judge';
  /** Locations, longest first. */
  readonly locations: readonly string[];
  /** Default settings. */
  readonly choices: readonly JudgedChoice[];
}

/** Completes replacements of crashed processes and removes replacements too old to undo. */
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
  | TextTask;

interface Results {
  readonly condense: CondensedResult | NotCondensedResult;
  readonly undo: UndoResult;
  readonly index: null;
  readonly account: AccountResult;
  readonly ledgers: LedgersResult;
  readonly 'set-undone': null;
  readonly show: ShownConversation;
  readonly text: ConversationText;
  readonly export: ExportedConversation;
  readonly report: ReportedPage;
  readonly read: PageToRead;
  readonly messages: readonly ListedMessage[];
  readonly pin: null;
  readonly original: OriginalResult;
  readonly references: readonly ListedReference[];
  readonly 'give-back': GivenBackResult;
  readonly 'check-give-back': null;
  readonly 'undo-give-back': { readonly isUndone: boolean };
  readonly recover: RecoverResult;
  readonly judge: JudgedSessions;
  readonly prompt: PlannedPrompt | undefined;
}

export type TaskResult<T extends Task> = Results[T['kind']];

export interface TaskProgress {
  /** Description of the current step. */
  readonly step: string;
  readonly index?: IndexProgress;
  /** Sessions accounted. */
  readonly account?: { readonly done: number; readonly all: number };
  /** Conversations judged. */
  readonly judge?: { readonly done: number; readonly all: number };
  /** Sessions replayed with another way. */
  readonly whatIf?: { readonly done: number; readonly all: number };
}
