import type { OverflowTokens } from '../api/tooLong';
import type { Usage } from '../core/cost/usage';
import type { CondensationManager, CondensationOutcome, OutcomeSummary } from '../core/condense';
import type { Threshold } from '../core/condense/trigger/thresholds';
import type { CoherenceFloor } from '../core/condense/coherence/coherence';
import type { Edit, EditId } from '../core/condense/edits/edits';
import type { View } from '../core/condense/edits/view';
import type { FoldedTexts } from '../core/condense/report/foldedTexts';
import type { CondensationId, RequestSizes } from '../core/condense/ledger/ledger';
import type { listMessages } from '../core/messages/render';
import type { ApiMessage } from '../core/messages/types';
import type { AgentRequest, LiveId, PreparedRequest } from './request';
import type { LiveDecision, LiveEvent } from './events';
import type { Clock } from '../api/clock';
import type { UseAfter } from '../core/condense/ledger/use';
import type { MessageCounter } from '../core/tokens/messageCounter';
import type { TokenLearning } from './tokenLearning';
import type { ToolWeight } from './toolWeights';

export interface LiveCondensation {
  readonly id: CondensationId;
  /** ISO 8601. */
  readonly at: string;
  readonly provider: string;
  /** Name of the preset or strategy; absent if not recorded. */
  readonly configName?: string;
  /** What ran, for display, such as "Lossless, then Smart (File-Aware)". */
  readonly by?: string;
  /** o200k tokens of the messages only. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /**
   * The whole request before and after, in the model's tokens; absent in summaries of earlier
   * versions.
   */
  readonly request?: RequestSizes;
  /** US dollars; absent if a price is unknown. */
  readonly cost?: number;
  readonly isUndone: boolean;
  /** How often the agent asked for removed content; absent if not watched. */
  readonly use?: UseAfter;
}

export interface NewResultsSummary {
  readonly results: number;
  /** o200k tokens. */
  readonly tokens: number;
  /**
   * How often the agent read again lines that a reference replaced. That file's results are sent
   * whole from then on.
   */
  readonly rereads: number;
}

export interface LiveSummary {
  readonly id: LiveId;
  /** Absent for VS Code's chat. */
  readonly agent?: string;
  readonly folder?: string;
  readonly title: string;
  /** Tokens of the last request, as the model counts them. */
  readonly tokens: number;
  readonly contextWindow: number;
  /**
   * Tokens at which the next condensation is due: the threshold, or fewer if more would not fit.
   */
  readonly thresholdTokens: number;
  /** What condenses at the threshold: "Lossless, then Smart (File-Aware) if that is not enough". */
  readonly condensedBy?: string;
  /**
   * Lower limit if the prompt cache has expired; absent if expiry is never known or this is turned
   * off.
   */
  readonly coldTokens?: number;
  /** Why the last due condensation removed nothing. */
  readonly whyNot?: string;
  readonly isPaused?: true;
  /** Set if the request is still above its threshold: what remains and what would help. */
  readonly exhausted?: string;
  /** Number of messages of the conversation; `shownMessages` counts the view's. */
  readonly messages: number;
  readonly shownMessages: number;
  /**
   * True if only Lossless condenses from now on, because the agent asked for so much removed
   * content again.
   */
  readonly isCareful: boolean;
  /** Oldest first. */
  readonly condensations: readonly LiveCondensation[];
  readonly lastDecision?: LiveDecision;
  /** Absent if no result was condensed before it was first sent, or that was undone. */
  readonly newResults?: NewResultsSummary;
  /** Largest first. Every request contains all of them. */
  readonly tools?: readonly ToolWeight[];
  /** US dollars spent on the model's answers; absent if a price is unknown. */
  readonly spent?: number;
  readonly canUndo: boolean;
  readonly canRedo: boolean;
  /** Indexes of messages that stay unchanged. */
  readonly pinned: readonly number[];
  /** Milliseconds since the epoch. */
  readonly lastUsed: number;
  readonly isPreparing: boolean;
}

export interface LiveView extends View {
  /** Edits that the user excluded and could restore. */
  readonly excluded: readonly Edit[];
}

/** An agent's request to see removed content. */
export interface RecallQuery {
  /** References, with or without their markers. */
  readonly references?: readonly string[];
  /** Words that a line must contain, in any order and case. */
  readonly words?: string;
  /** Regular expression that a line must match (JavaScript, flags `iu` if it allows them). */
  readonly pattern?: string;
  /** One-based, inclusive range of lines. */
  readonly fromLine?: number;
  readonly toLine?: number;
  /** o200k tokens of the answer; default 2,000, at most 20,000. */
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
      /** Says what was found, what was omitted, and how to get it. */
      readonly text: string;
      readonly references: readonly string[];
      /** Images that fit; the text names each of them. */
      readonly images: readonly RecalledImage[];
      /** False if the size limit omitted something. */
      readonly isComplete: boolean;
    }
  | { readonly kind: 'nothing'; readonly text: string };

/** Parameters with markers expanded, or an error for the agent. */
export type ExpandedInput = { readonly input: unknown } | { readonly error: string };

/** `detail` says why nothing was done. */
export type CommandResult =
  | { readonly kind: 'done'; readonly detail: string }
  | { readonly kind: 'nothing'; readonly detail: string };

export type NewResultsMode = 'off' | 'lossless';

/** What runs if Lossless misses the target at the threshold. */
export type WhenNotEnough = 'fileAware' | 'nothing';

/** The user's settings for live conversations, read for each request. */
export interface LiveSettings {
  readonly provider: string;
  readonly config?: unknown;
  /** Paused: only what would not fit is condensed. */
  readonly isPaused?: boolean;
  /**
   * Absent: File-Aware for agents that can recall, nothing for others. Providers other than
   * Lossless run alone.
   */
  readonly whenNotEnough?: WhenNotEnough;
  /** `lossless` removes from new results what the view already contains; default `lossless`. */
  readonly newResults?: NewResultsMode;
  /** Also removes transient terminal output and colors from new results; default false. */
  readonly newResultsNoise?: boolean;
  /**
   * False: content that an agent requests again is removed too, to measure what resending it costs.
   * Default true.
   */
  readonly isCautious?: boolean;
  /** Percent of the window from which a single new result is shortened; default 25, 0: none is. */
  readonly largeResultPercent?: number;
  /**
   * Percent of the window from which a model's condensation is prepared in the background; absent:
   * made when due.
   */
  readonly backgroundPercent?: number;
  /** Percent of the window from which a cold cache is a reason to condense; absent: never. */
  readonly coldPercent?: number;
  /**
   * True if a failure may lead to a paid call, which requires a condensing profile and a budget.
   */
  readonly mayUseNative: boolean;
  /** Configurations of the fallbacks, by provider. */
  readonly configs?: Readonly<Record<string, unknown>>;
  /** US dollars that one condensation may cost; absent: no limit. */
  readonly maxCost?: number;
  /** Current thresholds; absent: each request brings its own. */
  readonly thresholds?: {
    readonly default: Threshold;
    readonly byProfile: Readonly<Record<string, Threshold>>;
  };
  /**
   * Percent of each kind of facts that must stay in the view; ignored if the request would not fit.
   */
  readonly coherenceFloor?: CoherenceFloor;
  /** Milliseconds that a request waits for a model's condensation; default 30,000. */
  readonly waitMs?: number;
  /** Milliseconds after which a model's condensation is abandoned; default 300,000. */
  readonly giveUpMs?: number;
}

export interface LiveConversationsApi {
  /**
   * Returns the view to send instead of a request, condensed if due. Originals and ledger entry are
   * on disk when this returns, except those of new results.
   * @throws only the signal's reason if it was aborted; failures are in the notes
   */
  prepare(request: AgentRequest, signal?: AbortSignal): Promise<PreparedRequest>;
  /**
   * Condenses a prepared request further that the model rejected as too long.
   * @returns undefined if nothing more can be done
   * @throws the signal's reason if it was aborted
   */
  prepareAfterOverflow(
    prepared: PreparedRequest,
    request: AgentRequest,
    signal?: AbortSignal,
    overflow?: OverflowTokens,
  ): Promise<PreparedRequest | undefined>;
  /** Counts o200k tokens of a whole original request. */
  count(request: AgentRequest): Promise<number>;
  /** Counts o200k tokens. */
  countPart(part: string | ApiMessage): Promise<number>;
  /** Records that a request was charged, including one that was cut off or had to be corrected. */
  recordUsage(prepared: PreparedRequest, usage: Usage | undefined): void;
  /** Calibrates the model's token factor and notes the cache's state. */
  recordAnswer(prepared: PreparedRequest, usage: Usage | undefined): void;
  /** Replaces markers in a tool call's parameters with the originals, byte for byte. */
  expandMarkers(conversation: LiveId, input: unknown): Promise<ExpandedInput>;
  /** Searches all conversations, last used first, if `conversation` is undefined. */
  recall(conversation: LiveId | undefined, query: RecallQuery): Promise<RecallResult>;
  /** Last used first. */
  list(): LiveSummary[];
  /** Returns the last used one. */
  active(): LiveSummary | undefined;
  view(conversation: LiveId): LiveView | undefined;
  /** Returns the conversation beside its view, for a diff editor. */
  compare(conversation: LiveId): FoldedTexts | undefined;
  outline(conversation: LiveId): ReturnType<typeof listMessages> | undefined;
  /** The next request is sent condensed. */
  condenseNow(
    conversation: LiveId,
    options?: { readonly provider?: string; readonly config?: unknown; readonly targetPercent?: number },
    signal?: AbortSignal,
  ): Promise<CondensationOutcome | undefined>;
  undo(conversation: LiveId): Promise<CommandResult>;
  redo(conversation: LiveId): Promise<CommandResult>;
  /** Excludes an edit from the view, or restores it. */
  toggleEdit(conversation: LiveId, edit: EditId): Promise<CommandResult>;
  /**
   * Keeps a message unchanged and restores what was removed from it. @param message its index in
   * the conversation
   */
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
  | 'mustRead'
  | 'isCalibrated'
  | 'contextWindow'
  | 'notes'
> {
  readonly outcome?: Pick<CondensationOutcome, 'kind'>;
}

/** The part of {@link LiveConversationsApi} that the chat uses, in whatever thread it runs. */
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
    overflow?: OverflowTokens,
  ): Promise<PreparedChat | undefined>;
  recordUsage(prepared: PreparedChat, usage: Usage | undefined): void;
  recordAnswer(prepared: PreparedChat, usage: Usage | undefined): void;
}

/** Actions on live conversations, in whatever thread or process their engine runs. */
export interface LiveControls extends Pick<
  LiveConversationsApi,
  'list' | 'undo' | 'redo' | 'toggleEdit' | 'pin' | 'unpin'
> {
  /** @throws Error for the user if the conversation's process does not answer */
  view(conversation: LiveId): Promise<LiveView | undefined>;
  /** @throws as {@link LiveControls.view} */
  compare(conversation: LiveId): Promise<FoldedTexts | undefined>;
  /** @throws as {@link LiveControls.view} */
  outline(conversation: LiveId): Promise<ReturnType<typeof listMessages> | undefined>;
}

export interface ByHandResult {
  /** Absent if the conversation is gone. */
  readonly kind?: OutcomeSummary['kind'];
  /** Why nothing was condensed, in sentences. */
  readonly words: string;
}

/** An engine as a window uses it: the chat's or the gateways'. */
export interface WindowEngine extends LiveControls {
  has(conversation: LiveId): boolean;
  /** Returns the last result of {@link LiveControls.view}, kept current. */
  getCachedView(conversation: LiveId): LiveView | undefined;
  /**
   * The next request is sent condensed.
   * @throws the signal's reason if it was aborted; Error for the user if it was abandoned or the
   * engine does not answer
   */
  condenseNow(
    conversation: LiveId,
    options: { readonly provider?: string; readonly config?: unknown; readonly targetPercent?: number },
    signal: AbortSignal,
  ): Promise<ByHandResult>;
}

export interface LiveDependencies {
  readonly manager: CondensationManager;
  readonly counter: MessageCounter;
  readonly settings: () => LiveSettings;
  readonly clock: Clock;
  readonly learning: TokenLearning;
  readonly emit: (event: LiveEvent) => void;
}
