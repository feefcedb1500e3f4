import type { OverflowReport } from '../api/tooLong';
import type { Usage } from '../core/cost/usage';
import type { CondensationManager, CondensationOutcome, OutcomeSummary } from '../core/condense';
import type { CondensationThreshold } from '../core/condense/trigger/thresholds';
import type { MinimumCoherence } from '../core/condense/coherence/coherence';
import type { Edit, EditId } from '../core/condense/edits/edits';
import type { View } from '../core/condense/edits/view';
import type { DiffTexts } from '../core/condense/report/foldedTexts';
import type { CondensationId, RequestTokensBeforeAndAfter } from '../core/condense/ledger/ledger';
import type { listMessagesBriefly } from '../core/messages/render';
import type { ApiMessage } from '../core/messages/types';
import type { AgentRequest, LiveId, PreparedRequest } from './request';
import type { LiveDecision, LiveEvent } from './events';
import type { TimeSource } from '../api/clock';
import type { UseAfterCondensation } from '../core/condense/ledger/use';
import type { MessageCounter } from '../core/tokens/messageCounter';
import type { TokenLearning } from './tokenLearning';
import type { ToolWeight } from './toolWeights';

export interface LiveCondensation {
  readonly id: CondensationId;
  /** When the condensation was made (ISO 8601). */
  readonly at: string;
  readonly provider: string;
  readonly configName?: string;
  /** Providers for display, such as "Lossless, then Smart (File-Aware)". */
  readonly by?: string;
  /** o200k tokens of the messages only. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** Sizes of the whole request, in the model's tokens; absent in summaries of earlier versions. */
  readonly request?: RequestTokensBeforeAndAfter;
  /** US dollars that the condensation cost; absent if a price is unknown. */
  readonly cost?: number;
  readonly isUndone: boolean;
  readonly use?: UseAfterCondensation;
}

export interface NewResultsSummary {
  readonly results: number;
  /** o200k tokens removed from new results. */
  readonly tokens: number;
  /**
   * How often the agent read lines again that a reference had replaced. Results of that file are
   * sent whole from then on.
   */
  readonly rereads: number;
}

export interface LiveSummary {
  readonly id: LiveId;
  /** The agent's own ID; absent if its requests don't contain it. VS Code stores a chat under it. */
  readonly conversationId?: string;
  /** Name of the agent; absent for VS Code's chat. */
  readonly agent?: string;
  readonly folder?: string;
  readonly title: string;
  /** Tokens of the last request, as the model counts them. */
  readonly tokens: number;
  readonly contextWindow: number;
  /** The next condensation is due at this size, or earlier if a larger request would not fit. */
  readonly thresholdTokens: number;
  /** Providers for display, such as "Lossless, then Smart (File-Aware) if that is not enough". */
  readonly condensedBy?: string;
  /**
   * Threshold that applies if the prompt cache has expired; absent if the setting is off or nobody
   * can know when the cache expires.
   */
  readonly coldTokens?: number;
  /** Why the last due condensation removed nothing. */
  readonly whyNot?: string;
  readonly isPaused?: true;
  /** Set if the request stays above its threshold: what remains and what would help. */
  readonly exhausted?: string;
  readonly messages: number;
  /** The agent asked for so much removed content again that only Lossless condenses from now on. */
  readonly isCareful: boolean;
  /** Oldest first. */
  readonly condensations: readonly LiveCondensation[];
  readonly lastDecision?: LiveDecision;
  readonly newResults?: NewResultsSummary;
  readonly tools?: readonly ToolWeight[];
  /** US dollars spent on the model's answers; absent if a price is unknown. */
  readonly spent?: number;
  readonly canUndo: boolean;
  readonly canRedo: boolean;
  readonly pinned: readonly number[];
  /** Milliseconds since the epoch. */
  readonly lastUsed: number;
  readonly isPreparing: boolean;
}

export interface LiveView extends View {
  /** Edits that the user excluded and could restore. */
  readonly excluded: readonly Edit[];
}

export interface RecallQuery {
  /** IDs of references, with or without the markers around them. */
  readonly references?: readonly string[];
  /** Words in any order and case; a line must contain all of them. */
  readonly words?: string;
  /** JavaScript regular expression, compiled with the flags `iu` if possible, else with `i`. */
  readonly pattern?: string;
  /** First and last line to return, one-based and inclusive. */
  readonly fromLine?: number;
  readonly toLine?: number;
  /** Maximum o200k tokens of the answer; default 2,000, at most 20,000. */
  readonly maxTokens?: number;
}

export interface RecalledImage {
  readonly mediaType: string;
  /** Base64. */
  readonly data: string;
}

export type RecallResult =
  | {
      readonly kind: 'found';
      /** For the agent: what was found, what was omitted, and how to get it. */
      readonly text: string;
      readonly references: readonly string[];
      readonly images: readonly RecalledImage[];
      /** False if the size limit omitted something. */
      readonly isComplete: boolean;
    }
  | { readonly kind: 'nothing'; readonly text: string };

export type ExpandedInput = { readonly input: unknown } | { readonly error: string };

export type CommandResult =
  | { readonly kind: 'done'; readonly detail: string }
  | { readonly kind: 'nothing'; readonly detail: string };

export type NewResultsMode = 'off' | 'lossless';

export type WhenNotEnough = 'fileAware' | 'nothing';

/** The user's settings, read for each request. */
export interface LiveSettings {
  readonly provider: string;
  readonly config?: unknown;
  /** If true, requests are condensed only if they would not fit. */
  readonly isPaused?: boolean;
  /**
   * What runs after Lossless if that was not enough. Absent: File-Aware for agents that can recall
   * removed content, `nothing` for others.
   */
  readonly whenNotEnough?: WhenNotEnough;
  /**
   * `lossless` removes content of new results that the view already contains; default `lossless`.
   */
  readonly newResults?: NewResultsMode;
  /** Whether transient terminal output and colors are removed; default false. */
  readonly newResultsNoise?: boolean;
  /**
   * If false, content that an agent requested again is removed nevertheless, to measure what
   * resending it costs. Default true.
   */
  readonly isCautious?: boolean;
  /** Percent of the window from which a single new result is shortened; default 25, 0: never. */
  readonly largeResultPercent?: number;
  /**
   * Percent of the window from which a model prepares a condensation in advance; absent: a model
   * condenses only when due.
   */
  readonly backgroundPercent?: number;
  /** Percent of the window from which a cold cache is a reason to condense; absent: never. */
  readonly coldPercent?: number;
  /**
   * True if Summary, which calls a paid model, may follow a failed condensation; requires a
   * condensing profile and a budget.
   */
  readonly mayUseNative: boolean;
  readonly configs?: Readonly<Record<string, unknown>>;
  /** Maximum US dollars per condensation; absent: no limit. */
  readonly maxCost?: number;
  /** If absent, each request brings its own thresholds. */
  readonly thresholds?: {
    readonly default: CondensationThreshold;
    readonly byProfile: Readonly<Record<string, CondensationThreshold>>;
  };
  /**
   * Percentage of the facts of each kind that must stay in the view; ignored if the request would
   * then not fit.
   */
  readonly coherenceFloor?: MinimumCoherence;
  /** Milliseconds that a request waits for a model; default 30,000. */
  readonly waitMs?: number;
  /** Milliseconds after which a model's condensation is abandoned; default 300,000. */
  readonly giveUpMs?: number;
}

export interface LiveConversationsApi {
  /**
   * Resolves when originals and ledger entries are on disk, except those of new results.
   * @throws only the signal's reason; failures are in the notes
   */
  prepare(request: AgentRequest, signal?: AbortSignal): Promise<PreparedRequest>;
  /**
   * Condenses further.
   * @returns undefined if nothing more can be done
   * @throws the signal's reason
   */
  prepareAfterOverflow(
    prepared: PreparedRequest,
    request: AgentRequest,
    signal?: AbortSignal,
    overflow?: OverflowReport,
  ): Promise<PreparedRequest | undefined>;
  /** Counts the o200k tokens of a request. */
  count(request: AgentRequest): Promise<number>;
  /** Counts the o200k tokens of a text or message. */
  countPart(part: string | ApiMessage): Promise<number>;
  /** Records what a request cost, even if its answer was cut off or the model had to correct it. */
  recordUsage(prepared: PreparedRequest, usage: Usage | undefined): void;
  /** Calibrates the model's token factor and notes the cache's state. */
  recordAnswer(prepared: PreparedRequest, usage: Usage | undefined): void;
  /** Replaces markers in a call's input by their originals, byte for byte. */
  expandMarkers(conversation: LiveId, input: unknown): Promise<ExpandedInput>;
  /** @param conversation if undefined, all conversations are searched */
  recall(conversation: LiveId | undefined, query: RecallQuery): Promise<RecallResult>;
  /** Most recently used first. */
  list(): LiveSummary[];
  /** Returns the most recently used conversation. */
  active(): LiveSummary | undefined;
  view(conversation: LiveId): LiveView | undefined;
  compare(conversation: LiveId): DiffTexts | undefined;
  outline(conversation: LiveId): ReturnType<typeof listMessagesBriefly> | undefined;
  /** Condenses now; the next request is sent condensed. */
  condenseNow(
    conversation: LiveId,
    options?: { readonly provider?: string; readonly config?: unknown; readonly targetPercent?: number },
    signal?: AbortSignal,
  ): Promise<CondensationOutcome | undefined>;
  undo(conversation: LiveId): Promise<CommandResult>;
  redo(conversation: LiveId): Promise<CommandResult>;
  toggleEdit(conversation: LiveId, edit: EditId): Promise<CommandResult>;
  /** @param message index of the message in the conversation */
  pin(conversation: LiveId, message: number): Promise<CommandResult>;
  unpin(conversation: LiveId, message: number): Promise<CommandResult>;
  /** @returns a function that unsubscribes */
  on(listener: (event: LiveEvent) => void): () => void;
  /** Resolves after pending edits were written or have failed. */
  waitUntilSettled(): Promise<void>;
  /** Aborts background work. */
  dispose(): void;
}

export interface PreparedChat extends Pick<
  PreparedRequest,
  | 'conversation'
  | 'messages'
  | 'cacheMarks'
  | 'tokens'
  | 'countedTokens'
  | 'minReadTokens'
  | 'isCalibrated'
  | 'contextWindow'
  | 'notes'
> {
  readonly outcome?: Pick<CondensationOutcome, 'kind'>;
}

/** The part of the conversations that the chat uses, in whatever thread they run. */
export interface ChatConversations extends Pick<
  LiveConversationsApi,
  'count' | 'countPart' | 'expandMarkers' | 'recall' | 'list'
> {
  /**
   * @throws the signal's reason if it was aborted; after any other error, send the request
   * unchanged
   */
  prepare(request: AgentRequest, signal?: AbortSignal): Promise<PreparedChat>;
  prepareAfterOverflow(
    prepared: PreparedChat,
    request: AgentRequest,
    signal?: AbortSignal,
    overflow?: OverflowReport,
  ): Promise<PreparedChat | undefined>;
  recordUsage(prepared: PreparedChat, usage: Usage | undefined): void;
  recordAnswer(prepared: PreparedChat, usage: Usage | undefined): void;
}

/** Actions on live conversations, in whatever thread or process the engine runs. */
export interface LiveControls extends Pick<
  LiveConversationsApi,
  'list' | 'undo' | 'redo' | 'toggleEdit' | 'pin' | 'unpin'
> {
  /** @throws Error with a message for the user if the conversation's process does not answer */
  view(conversation: LiveId): Promise<LiveView | undefined>;
  /** @throws as {@link LiveControls.view} */
  compare(conversation: LiveId): Promise<DiffTexts | undefined>;
  /** @throws as {@link LiveControls.view} */
  outline(conversation: LiveId): Promise<ReturnType<typeof listMessagesBriefly> | undefined>;
}

export interface ManualCondensationResult {
  /** Absent if the conversation is gone. */
  readonly kind?: OutcomeSummary['kind'];
  /** Why nothing was condensed, in sentences; meaningless after a success. */
  readonly words: string;
}

export interface WindowEngine extends LiveControls {
  has(conversation: LiveId): boolean;
  /** Returns the last result of {@link LiveControls.view}, kept up to date since. */
  getCachedView(conversation: LiveId): LiveView | undefined;
  /**
   * @throws the signal's reason; Error for the user if the condensation was abandoned or the engine
   *   does not answer
   */
  condenseNow(
    conversation: LiveId,
    options: { readonly provider?: string; readonly config?: unknown; readonly targetPercent?: number },
    signal: AbortSignal,
  ): Promise<ManualCondensationResult>;
}

export interface LiveDependencies {
  readonly manager: CondensationManager;
  readonly counter: MessageCounter;
  readonly settings: () => LiveSettings;
  readonly clock: TimeSource;
  readonly learning: TokenLearning;
  readonly emit: (event: LiveEvent) => void;
}
