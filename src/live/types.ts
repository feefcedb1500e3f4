/**
 * Types shared by the edge to VS Code, the exported API and the engine (`liveConversations.ts`).
 * Independent of VS Code.
 */
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

/** An applied condensation of a live conversation. */
export interface LiveCondensation {
  readonly id: CondensationId;
  /** ISO 8601. */
  readonly at: string;
  readonly provider: string;
  /** Name of the preset or strategy; absent if not recorded. */
  readonly configName?: string;
  /** What ran, for display: "Lossless, then Smart (File-Aware)". Absent in summaries of earlier versions. */
  readonly by?: string;
  /** In o200k tokens, messages only. */
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
  /** The agent's later requests for removed content; absent if not watched. */
  readonly use?: UseAfter;
}

/** What was omitted from results before they were first sent. */
export interface NewResultsSummary {
  readonly results: number;
  /** O200k tokens. */
  readonly tokens: number;
  /**
   * How often the agent read again lines that a reference replaced; that file's results are sent
   * whole from then on.
   */
  readonly rereads: number;
}

/** A live conversation for lists and the status bar. */
export interface LiveSummary {
  readonly id: LiveId;
  /** The agent that owns it; absent: VS Code's chat. */
  readonly agent?: string;
  /** The agent's working folder. */
  readonly folder?: string;
  readonly title: string;
  /** The last request, in the model's tokens; of `contextWindow`. */
  readonly tokens: number;
  readonly contextWindow: number;
  /**
   * Tokens at which the next condensation is due: the threshold, or fewer if more would not fit.
   */
  readonly thresholdTokens: number;
  /**
   * What condenses then: "Lossless, then Smart (File-Aware) if that is not enough". Absent in
   * summaries of earlier versions.
   */
  readonly condensedBy?: string;
  /**
   * Lower limit if the prompt cache has expired; absent if expiry is never known or this is turned
   * off.
   */
  readonly coldTokens?: number;
  /** Why the last due condensation removed nothing; absent after one did. */
  readonly whyNot?: string;
  /** Present while condensing is paused. */
  readonly isPaused?: true;
  /** Set if the request is still above its threshold: what remains and what would help. */
  readonly exhausted?: string;
  /** Messages of the conversation and of the view. */
  readonly messages: number;
  readonly shownMessages: number;
  /** The agent asked for so much removed content again that only Lossless condenses from now on. */
  readonly isCareful: boolean;
  /** Oldest first. */
  readonly condensations: readonly LiveCondensation[];
  readonly lastDecision?: LiveDecision;
  /**
   * What was omitted from results before they were first sent; absent if nothing was, or it was
   * undone.
   */
  readonly newResults?: NewResultsSummary;
  /**
   * Tools of the last request, largest first; all are sent with every request. Absent if there are
   * none.
   */
  readonly tools?: readonly ToolWeight[];
  /** US dollars spent on the model's answers; absent if a price is unknown. */
  readonly spent?: number;
  readonly canUndo: boolean;
  readonly canRedo: boolean;
  /** Indexes of messages that stay unchanged. */
  readonly pinned: readonly number[];
  /** Milliseconds since the epoch. */
  readonly lastUsed: number;
  /** True while a model works on a condensation. */
  readonly isPreparing: boolean;
}

/** A live conversation's view, for comparison. */
export interface LiveView extends View {
  /** Edits excluded by a person that could be restored. */
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
  /** O200k tokens of the answer; default 2,000, at most 20,000. */
  readonly maxTokens?: number;
}

/** An image, for a tool's result. */
export interface RecalledImage {
  /** MIME type, such as `image/png`. */
  readonly mediaType: string;
  /** Base64. */
  readonly data: string;
}

export type RecallResult =
  | {
      readonly kind: 'found';
      /** Text for the agent: what was found, what was omitted, and how to get it. */
      readonly text: string;
      readonly references: readonly string[];
      /** Images that fit; the text names each of them. */
      readonly images: readonly RecalledImage[];
      /** False if the size limit omitted something. */
      readonly isComplete: boolean;
    }
  | { readonly kind: 'nothing'; readonly text: string };

/** A tool call's parameters with markers expanded, or an error for the agent. */
export type ExpandedInput = { readonly input: unknown } | { readonly error: string };

/** The outcome of a command; `detail` says why nothing was done. */
export type CommandResult =
  | { readonly kind: 'done'; readonly detail: string }
  | { readonly kind: 'nothing'; readonly detail: string };

/** How results are treated before they are first sent. */
export type NewResultsMode = 'off' | 'lossless';

/** What runs if Lossless misses the target at the threshold. */
export type WhenNotEnough = 'fileAware' | 'nothing';

/** The user's settings for live conversations; read for each request. */
export interface LiveSettings {
  readonly provider: string;
  readonly config?: unknown;
  /** Condensing is paused: only what would not fit is condensed. */
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
   * False: content that an agent requests again is removed too; to measure what resending it costs.
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
  /** Whether a failure may lead to a paid call; requires a condensing profile and a budget. */
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
   * Default none.
   */
  readonly coherenceFloor?: CoherenceFloor;
  /** Milliseconds that a request waits for a model's condensation; default 30,000. */
  readonly waitMs?: number;
  /** Milliseconds after which a model's condensation is abandoned; default 300,000. */
  readonly giveUpMs?: number;
}

/** What to send for agents' conversations, what was removed, and what a person can do about it. */
export interface LiveConversationsApi {
  /**
   * The view to send instead of a request, condensed if due. Originals and ledger entry of a
   * condensation are on disk when it returns; those of new results are written in the background
   * ({@link settled}).
   * @throws only the signal's reason if it was aborted; failures are in the notes
   */
  prepare(request: AgentRequest, signal?: AbortSignal): Promise<PreparedRequest>;
  /**
   * Condenses a prepared request further that the model rejected as too long. The caller decides
   * how often (`attempts.ts`).
   * @returns undefined if nothing more can be done
   * @throws the signal's reason if it was aborted
   */
  prepareAfterOverflow(
    prepared: PreparedRequest,
    request: AgentRequest,
    signal?: AbortSignal,
    overflow?: OverflowTokens,
  ): Promise<PreparedRequest | undefined>;
  /** O200k tokens of a whole original request. */
  count(request: AgentRequest): Promise<number>;
  /** O200k tokens of a text or message. */
  countPart(part: string | ApiMessage): Promise<number>;
  /** Records that a request was charged, including one that was cut off or had to be corrected. */
  recordUsage(prepared: PreparedRequest, usage: Usage | undefined): void;
  /** Records an answer: calibrates the model's token factor and notes the cache's state. */
  recordAnswer(prepared: PreparedRequest, usage: Usage | undefined): void;
  /** Replaces markers in a tool call's parameters with the originals, byte for byte. */
  expandMarkers(conversation: LiveId, input: unknown): Promise<ExpandedInput>;
  /**
   * Recalls condensed content by reference or search. Without a conversation: of all, last used
   * first.
   */
  recall(conversation: LiveId | undefined, query: RecallQuery): Promise<RecallResult>;
  /** Conversations of this host, last used first. */
  list(): LiveSummary[];
  /** The last used one. */
  active(): LiveSummary | undefined;
  view(conversation: LiveId): LiveView | undefined;
  /** The conversation beside its view, for a diff editor. */
  compare(conversation: LiveId): FoldedTexts | undefined;
  /** The conversation's messages, to choose from. */
  outline(conversation: LiveId): ReturnType<typeof listMessages> | undefined;
  /** Condenses at once; the next request is sent condensed. */
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

/** The parts of a prepared request that the chat's provider needs. */
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
   * @throws the signal's reason if it was aborted; any other error: the request is sent unchanged
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
  /** @throws Error for a person if the conversation's process does not answer */
  view(conversation: LiveId): Promise<LiveView | undefined>;
  /** @throws as {@link LiveControls.view} */
  compare(conversation: LiveId): Promise<FoldedTexts | undefined>;
  /** @throws as {@link LiveControls.view} */
  outline(conversation: LiveId): Promise<ReturnType<typeof listMessages> | undefined>;
}

/** The result of manual condensing. */
export interface ByHandResult {
  /** Absent if the conversation is gone. */
  readonly kind?: OutcomeSummary['kind'];
  /** Why nothing was condensed, in sentences; irrelevant otherwise. */
  readonly words: string;
}

/** An engine as a window uses it: the chat's or the gateways'. */
export interface WindowEngine extends LiveControls {
  has(conversation: LiveId): boolean;
  /** The last result of {@link LiveControls.view}, kept current from then on. */
  getCachedView(conversation: LiveId): LiveView | undefined;
  /**
   * Condenses at once; the next request is sent condensed.
   * @throws the signal's reason if it was aborted; Error for a person if it was abandoned or the
   * engine does not answer
   */
  condenseNow(
    conversation: LiveId,
    options: { readonly provider?: string; readonly config?: unknown; readonly targetPercent?: number },
    signal: AbortSignal,
  ): Promise<ByHandResult>;
}

/** Dependencies shared within the engine. */
export interface LiveDependencies {
  readonly manager: CondensationManager;
  readonly counter: MessageCounter;
  readonly settings: () => LiveSettings;
  readonly clock: Clock;
  readonly learning: TokenLearning;
  readonly emit: (event: LiveEvent) => void;
}
