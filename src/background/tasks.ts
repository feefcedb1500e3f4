/**
 * The tasks of the background worker: plain data both ways, for it crosses a thread. Reading, counting and condensing a
 * conversation take hundreds of milliseconds, and the extension host's thread is shared with every other extension.
 */
import type { NativeConfig } from '../core/condense/summary/nativeConfig';
import type { SummarizerModel } from '../core/condense/summarizer';
import type { ProviderDescription } from '../extensionApi/remoteProvider';
import type { AccountOptions } from '../account/accountStores';
import type { WhatIfWay } from '../account/storesWhatIf';
import type { Grouping } from '../core/account/account';
import type { JudgedSessions } from '../conversations/judgeSessions';
import type { JudgedWay } from '../core/condense/futureNeed/judgedWays';
import type { Preset } from '../core/condense/providers/smart/presets';
import type { CoherenceFloor } from '../core/condense/coherence/coherence';
import type { WebviewFrame } from '../pages/reportPage';
import type { HistoryScope } from '../conversations/types';
import type { ConversationDetails } from '../conversations/stores/details';
import type { FindOptions, FindResult } from '../conversations/stores/types';
import type { AgentName } from '../core/agents';
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
  /** Its name for people, where it is a preset of the user's own: no worker knows these. */
  readonly configName?: string | undefined;
  /** How many percent of the tokens that are there now may stay. */
  readonly targetPercent: number;
  /** Shares of files, error lines, instructions and to-dos that must stand in the view. */
  readonly coherenceFloor?: CoherenceFloor;
  /** Folder of the ledgers. */
  readonly store: string;
  /** Indexes of the messages that no edit is to touch; default none. */
  readonly excluded?: readonly number[];
  /** Only shows what would come of it: nothing is kept. */
  readonly isPreview?: true;
  /** The providers of other extensions, which the run or a step of it may name; default none. */
  readonly registered?: readonly ProviderDescription[];
  /** Set where models may be asked. */
  readonly paid?: {
    /** The user's own. */
    readonly presets: readonly Preset[];
    /** US dollars that may be spent. */
    readonly maxCost: number;
    /** Folder of the summaries that were paid for: they cost nothing. */
    readonly summaries: string;
  };
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

/** The account of every conversation on this machine. */
export interface AccountTask extends AccountOptions {
  readonly kind: 'account';
  /** Only requests from this local date on, `2026-11-16`. */
  readonly sinceDay?: string;
  /** With the cost that another way would have had. */
  readonly with?: WhatIfWay & {
    /** For people. */
    readonly name: string;
    readonly cache: string;
    readonly version: string;
  };
  /** Writes the account to a file, too. */
  readonly file?: {
    readonly path: string;
    readonly form: 'html' | 'json' | 'csv';
    readonly by: Grouping;
    readonly version: string;
    /** Of how many days it is; absent: of all time. */
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

/** Asks for the ledgers and replacements that were used since a time. */
export interface LedgersTask {
  readonly kind: 'ledgers';
  readonly store: string;
  /** Folder of the replacements. */
  readonly replacements: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

/** Takes a condensation out of the view, or back in. */
export interface SetUndoneTask {
  readonly kind: 'set-undone';
  readonly conversation: string;
  readonly condensation: CondensationId;
  readonly isUndone: boolean;
  readonly store: string;
}

/** The conversation as it is and as its condensations leave it, for people to read. */
export interface ShowTask extends StoredConversation {
  readonly kind: 'show';
  /** As this condensation left it; absent: as it is shown now. */
  readonly condensation?: CondensationId;
}

/** The conversation as its file has it, for people to read. */
export interface TextTask extends StoredConversation {
  readonly kind: 'text';
}

export interface ExportTask extends StoredConversation {
  readonly kind: 'export';
  readonly target: ExportTarget;
  /** With its condensations applied. */
  readonly isCondensed: boolean;
}

/** A condensed conversation as a page to read. */
export interface ReadTask extends StoredConversation {
  readonly kind: 'read';
  /** Of the page's style. */
  readonly nonce: string;
}

/** A page about the condensations that the view shows. */
export interface ReportTask extends StoredConversation {
  readonly kind: 'report';
  /** Figures only. */
  readonly withoutContent: boolean;
  /** The product's version. */
  readonly version: string;
  /** What the condensation noted for a person; default nothing. */
  readonly notes?: readonly string[];
  /** It is shown in VS Code, and not written to a file. */
  readonly webview?: WebviewFrame;
}

/** The messages, to choose among. */
export interface MessagesTask extends StoredConversation {
  readonly kind: 'messages';
}

/** Pins these messages and no others. */
export interface PinTask extends StoredConversation {
  readonly kind: 'pin';
  /** Indexes. */
  readonly pinned: readonly number[];
}

/** The original that a reference stands for. */
export interface OriginalTask {
  readonly kind: 'original';
  readonly reference: string;
  /** Folders of ledgers, in the order in which they are searched. */
  readonly stores: readonly string[];
}

/** The content taken out of a conversation. */
export interface ReferencesTask {
  readonly kind: 'references';
  readonly conversation: string;
  readonly store: string;
}

/** The first request that Native would send for a file. Nothing is sent. */
export interface PromptTask {
  readonly kind: 'prompt';
  readonly path: string;
  readonly history: HistoryScope;
  readonly config: NativeConfig;
  readonly model: SummarizerModel;
}

/** The parts of such a request; undefined where there is not enough to condense. */
export interface PlannedPrompt {
  readonly system: string;
  readonly prompt: string;
  /** What follows the summary; empty where nothing does. */
  readonly facts: string;
  /** The prompt is the messages that the vendor itself sums up. */
  readonly isCompacted: boolean;
}

export interface GiveBackTask extends StoredConversation {
  readonly kind: 'give-back';
  /** Whose it is, where the path doesn't say. */
  readonly agent?: AgentName;
  /** Folder of the replacements. */
  readonly replacements: string;
}

/** Undoes the last giving back of a conversation. */
export interface UndoGiveBackTask {
  readonly kind: 'undo-give-back';
  readonly conversation: string;
  readonly replacements: string;
}

/** Judges ways to condense by stored conversations. */
export interface JudgeTask {
  readonly kind: 'judge';
  /** Where they are, the longest first. */
  readonly locations: readonly string[];
  /** The first settings. */
  readonly ways: readonly JudgedWay[];
}

/** Finishes what a dead process had begun, and removes what is too old to be undone. */
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
  readonly 'undo-give-back': { readonly isUndone: boolean };
  readonly recover: RecoverResult;
  readonly judge: JudgedSessions;
  readonly prompt: PlannedPrompt | undefined;
}

export type TaskResult<T extends Task> = Results[T['kind']];

export interface TaskProgress {
  /** The current step, in words. */
  readonly step: string;
  readonly index?: IndexProgress;
  /** Sessions that are accounted. */
  readonly account?: { readonly done: number; readonly all: number };
  /** Sessions that are made again with another way. */
  readonly whatIf?: { readonly done: number; readonly all: number };
}
