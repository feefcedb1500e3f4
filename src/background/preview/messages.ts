/**
 * Messages between host and preview worker, as plain data. The worker keeps requested conversations
 * parsed and counted, so that another configuration is previewed quickly.
 */
import type { HistoryScope } from '../../conversations/types';
import type { CoherenceReport } from '../../core/condense/coherence/coherence';
import type { FoldedTexts } from '../../core/condense/report/foldedTexts';
import type { Edit } from '../../core/condense/edits/edits';
import type { EditOutcome } from '../../core/condense/edits/operations';
import type { Preset } from '../../core/condense/providers/smart/presets';
import type { CodeLineRetention } from '../../core/condense/futureNeed/codeLines';
import type { OutputSample } from '../../core/condense/summary/expectedOutput';
import type { SelectedSummarizer, SummarizerModel } from '../../core/condense/summarizer';
import type { Confidence, CostRange, StepReport } from '../../core/condense/types';
import type { TokensByKind } from '../../core/cost/usage';
import type { ApiMessage } from '../../core/messages/types';

/** A conversation in an agent's file. */
export interface FileConversation {
  readonly kind: 'file';
  readonly path: string;
  readonly history: HistoryScope;
  /** Folder of the ledgers. */
  readonly store: string;
}

export interface LiveContent {
  readonly messages: readonly ApiMessage[];
  /** Edits in its view. */
  readonly edits: readonly Edit[];
}

/** An update of a list that the worker has: keeps its start and appends elements. */
export interface ListUpdate<T> {
  /** Number of leading elements that stay. */
  readonly kept: number;
  readonly added: readonly T[];
}

/** Changes of a live conversation since the last update; the first one adds everything. */
export interface LiveUpdate {
  readonly messages: ListUpdate<ApiMessage>;
  readonly edits: ListUpdate<Edit>;
}

/** A conversation that the chat holds in memory. */
export interface LiveConversation {
  readonly kind: 'live';
  readonly id: string;
  readonly title: string;
  /** Only on the host's side; the worker receives updates. */
  readonly content?: LiveContent;
  /** Indexes of messages pinned in the ledger. */
  readonly pinned: readonly number[];
}

export type ConversationSource = FileConversation | LiveConversation;

/** A model as far as an estimate needs it; it can't be called. */
export type PreviewModel =
  | {
      /** Profile named by a pass; absent for the one selected for condensing. */
      readonly apiProfile?: string;
      readonly model: SummarizerModel;
      readonly chosen: SelectedSummarizer['chosen'];
      readonly warning?: string;
      readonly samples: readonly OutputSample[];
    }
  | { readonly apiProfile?: string; readonly problem: string };

/** Configuration of the condensation. */
export interface PreviewSetup {
  /** Provider ID. */
  readonly provider: string;
  /** The provider's configuration as written in the settings. */
  readonly config: unknown;
  /** The user's presets. */
  readonly presets: readonly Preset[];
  /** Percentage of tokens that may remain. */
  readonly targetPercent: number;
  /** Limit in US dollars. */
  readonly maxCost: number;
  readonly models: readonly PreviewModel[];
  /** Folder of paid summaries, which cost nothing again. */
  readonly summaries: string;
}

export interface PreviewQuestion {
  readonly conversation: ConversationSource;
  readonly setup: PreviewSetup;
  /** Indexes of pinned messages; default: the ledger's pins. */
  readonly pinned?: readonly number[];
  /** Indexes of messages not to edit. */
  readonly excluded: readonly number[];
}

export type PreviewRequest =
  | ({ readonly kind: 'preview' } & PreviewQuestion)
  /** Texts for the diff editor. */
  | ({ readonly kind: 'texts' } & PreviewQuestion)
  /** Facts of the conversation that the view still contains. */
  | ({ readonly kind: 'coherence' } & PreviewQuestion)
  /** Messages selected by a pass. */
  | {
      readonly kind: 'selection';
      readonly conversation: ConversationSource;
      readonly setup: PreviewSetup;
      /** Index of the pass. */
      readonly pass: number;
    }
  | {
      readonly kind: 'pass';
      readonly conversation: ConversationSource;
      readonly setup: PreviewSetup;
      /** Index of the pass. */
      readonly pass: number;
    }
  | { readonly kind: 'compare'; readonly conversation: ConversationSource; readonly setup: PreviewSetup };

/** Result for one message. */
export interface MessageCell {
  readonly role: ApiMessage['role'];
  readonly outcome: EditOutcome;
  /** o200k tokens before and after. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** The start, on one line. */
  readonly words: string;
}

/** Excerpt of an edit for lists. */
export interface EditExcerpt {
  /** Index of the message. */
  readonly message: number;
  readonly step: string;
  readonly reason: string;
  readonly before: string;
  readonly after: string;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** A model would write the replacement, which is unknown yet. */
  readonly isWritten: boolean;
}

export interface PreviewFigures {
  /** o200k tokens of the messages. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly targetTokens: number;
  /** US dollars; absent if a price is unknown. */
  readonly cost?: number;
  readonly costRange?: CostRange;
  /** Tokens of calls by kind; absent if there are none or they are unknown. */
  readonly callTokens?: TokensByKind;
  /** Why no call would be made: it would cost more than may be spent. */
  readonly refusal?: string;
  /** Absent if nothing is estimated. */
  readonly confidence?: Confidence;
  /** Expected number of calls. */
  readonly calls: number;
  /** Milliseconds for the preview, without model time. */
  readonly timeMs: number;
}

export interface PreviewResult extends PreviewFigures {
  readonly title: string;
  /** Vendor's ID of the model that answered last, if recorded. */
  readonly model?: string;
  readonly provider: string;
  readonly steps: readonly StepReport[];
  readonly cells: readonly MessageCell[];
  /** The first edits. */
  readonly edits: readonly EditExcerpt[];
  /** Total number of edits. */
  readonly editCount: number;
  /** Indexes of messages pinned in this preview. */
  readonly pinned: readonly number[];
  /** Indexes of messages pinned in the ledger. */
  readonly savedPins: readonly number[];
  /** Notes for display. */
  readonly notes: readonly string[];
}

/** The conversation before and after, for display. */
export interface PreviewTexts extends FoldedTexts {
  readonly conversation: string;
  readonly title: string;
  /** Originals by reference. */
  readonly originals: Readonly<Record<string, string>>;
}

export interface SelectionResult {
  readonly title: string;
  /** Per message, true if the pass selects something in it. */
  readonly taken: readonly boolean[];
}

export interface PassResult {
  readonly title: string;
  /** Empty if the pass is disabled; several if it repeats. */
  readonly steps: readonly StepReport[];
}

export interface ComparedResult extends PreviewFigures {
  readonly title: string;
  /**
   * Facts of the conversation (files, error lines, instructions, to-dos), and the number that would
   * be lost.
   */
  readonly facts: { readonly all: number; readonly lost: number };
  readonly retention: CodeLineRetention;
}

interface Results {
  readonly preview: PreviewResult;
  readonly texts: PreviewTexts;
  readonly coherence: CoherenceReport;
  readonly selection: SelectionResult;
  readonly pass: PassResult;
  readonly compare: ComparedResult;
}
export type PreviewAnswer<R extends PreviewRequest> = Results[R['kind']];
