/** Questions to the preview worker, which keeps requested conversations parsed and counted. */
import type { HistoryScope } from '../../conversations/types';
import type { CoherenceReport } from '../../core/condense/coherence/coherence';
import type { DiffTexts } from '../../core/condense/report/foldedTexts';
import type { Edit } from '../../core/condense/edits/edits';
import type { EditOutcome } from '../../core/condense/edits/operations';
import type { Preset } from '../../core/condense/providers/smart/presets';
import type { CodeLineRetention } from '../../core/condense/futureNeed/codeLines';
import type { OutputSample } from '../../core/condense/summary/expectedOutput';
import type { SelectedSummarizer, SummarizerModel } from '../../core/condense/summarizer';
import type { Confidence, CostRange, StepReport } from '../../core/condense/types';
import type { TokensByKind } from '../../core/cost/usage';
import type { ApiMessage } from '../../core/messages/types';

export interface FileConversation {
  readonly kind: 'file';
  readonly path: string;
  readonly history: HistoryScope;
  readonly store: string;
}

export interface LiveConversationContent {
  readonly messages: readonly ApiMessage[];
  readonly edits: readonly Edit[];
}

export interface ListUpdate<T> {
  /** Number of elements at the beginning that stay. */
  readonly kept: number;
  readonly added: readonly T[];
}

/** Changes since the last update; the first update contains everything. */
export interface LiveConversationUpdate {
  readonly messages: ListUpdate<ApiMessage>;
  readonly edits: ListUpdate<Edit>;
}

export interface LiveConversation {
  readonly kind: 'live';
  readonly id: string;
  readonly title: string;
  /** Set only where the question is asked; the preview engine receives updates instead. */
  readonly content?: LiveConversationContent;
  /** Indexes of messages pinned in the ledger. */
  readonly pinned: readonly number[];
}

export type ConversationSource = FileConversation | LiveConversation;

/** What an estimate needs to know about a model, or why there is no model. */
export type PreviewModel =
  | {
      /** ID of the profile that a pass names; absent for the profile selected for condensing. */
      readonly apiProfile?: string;
      readonly model: SummarizerModel;
      readonly chosen: SelectedSummarizer['chosen'];
      readonly warning?: string;
      readonly samples: readonly OutputSample[];
    }
  | { readonly apiProfile?: string; readonly problem: string };

export interface PreviewSetup {
  readonly provider: string;
  readonly config: unknown;
  readonly presets: readonly Preset[];
  /** Percentage of the messages' tokens that may remain. */
  readonly targetPercent: number;
  /** Maximum US dollars that the condensation may cost. */
  readonly maxCost: number;
  readonly models: readonly PreviewModel[];
  /** Folder of paid summaries, which are reused without cost. */
  readonly summaries: string;
}

export interface PreviewQuestion {
  readonly conversation: ConversationSource;
  readonly setup: PreviewSetup;
  /** Indexes of pinned messages; default: the ledger's pins. */
  readonly pinned?: readonly number[];
  /** Indexes of messages that are not edited. */
  readonly excluded: readonly number[];
}

export type PreviewRequest =
  | ({ readonly kind: 'preview' } & PreviewQuestion)
  | ({ readonly kind: 'texts' } & PreviewQuestion)
  | ({ readonly kind: 'coherence' } & PreviewQuestion)
  | {
      readonly kind: 'selection';
      readonly conversation: ConversationSource;
      readonly setup: PreviewSetup;
      readonly pass: number;
    }
  | {
      readonly kind: 'pass';
      readonly conversation: ConversationSource;
      readonly setup: PreviewSetup;
      readonly pass: number;
    }
  | { readonly kind: 'compare'; readonly conversation: ConversationSource; readonly setup: PreviewSetup };

export interface MessageCell {
  readonly role: ApiMessage['role'];
  readonly outcome: EditOutcome;
  /** o200k tokens of the message before and after. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** The first words of the message, on one line. */
  readonly words: string;
}

export interface EditExcerpt {
  readonly message: number;
  readonly step: string;
  readonly reason: string;
  readonly before: string;
  readonly after: string;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** True if a model would write `after`, whose text is therefore unknown. */
  readonly isWritten: boolean;
}

export interface PreviewFigures {
  /** o200k tokens of all messages before and after, and of the target. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly targetTokens: number;
  /** Estimated US dollars; absent if a price is unknown. */
  readonly cost?: number;
  readonly costRange?: CostRange;
  /** Expected tokens of model calls; absent if there are no calls or their tokens are unknown. */
  readonly callTokens?: TokensByKind;
  /** Why no model would be called, because the cost exceeds the limit; absent if it doesn't. */
  readonly refusal?: string;
  /** How reliable the estimate is; absent if nothing is estimated. */
  readonly confidence?: Confidence;
  /** Expected number of calls of models. */
  readonly calls: number;
  /** Milliseconds that the preview took, without the time of models. */
  readonly timeMs: number;
}

export interface PreviewResult extends PreviewFigures {
  readonly title: string;
  /** The vendor's ID of the model that answered last, if recorded. */
  readonly model?: string;
  readonly provider: string;
  readonly steps: readonly StepReport[];
  readonly cells: readonly MessageCell[];
  readonly edits: readonly EditExcerpt[];
  /** Number of all edits; `edits` has only the first ones. */
  readonly editCount: number;
  /** Indexes of messages pinned in this preview. */
  readonly pinned: readonly number[];
  /** Indexes of messages pinned in the ledger. */
  readonly savedPins: readonly number[];
  readonly notes: readonly string[];
}

export interface PreviewDiffTexts extends DiffTexts {
  readonly conversation: string;
  readonly title: string;
  readonly originals: Readonly<Record<string, string>>;
}

export interface PassSelectionResult {
  readonly title: string;
  /** For each message, true if the pass selects something in it. */
  readonly taken: readonly boolean[];
}

export interface PassStepsResult {
  readonly title: string;
  /** The steps of the pass: empty if it is disabled, several if it repeats. */
  readonly steps: readonly StepReport[];
}

export interface ComparedSetupResult extends PreviewFigures {
  readonly title: string;
  /**
   * Number of all facts (files, error lines, instructions, to-dos), and of those that would be
   * lost.
   */
  readonly facts: { readonly all: number; readonly lost: number };
  readonly retention: CodeLineRetention;
}

interface ResultByRequestKind {
  readonly preview: PreviewResult;
  readonly texts: PreviewDiffTexts;
  readonly coherence: CoherenceReport;
  readonly selection: PassSelectionResult;
  readonly pass: PassStepsResult;
  readonly compare: ComparedSetupResult;
}
export type PreviewAnswer<R extends PreviewRequest> = ResultByRequestKind[R['kind']];
