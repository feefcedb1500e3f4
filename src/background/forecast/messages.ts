/**
 * The messages between the extension host and the forecast's worker: plain data, for it crosses a thread. The worker keeps
 * the conversations that it was asked about, read and counted, so that another configuration is previewed at once.
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
import type { Confidence, StepReport } from '../../core/condense/types';
import type { TokensByKind } from '../../core/cost/usage';
import type { ApiMessage } from '../../core/messages/types';

/** A conversation of an agent's own file. */
export interface FileConversation {
  readonly kind: 'file';
  readonly path: string;
  readonly history: HistoryScope;
  /** Folder of the ledgers. */
  readonly store: string;
}

/** The content of a chat's conversation. */
export interface LiveContent {
  readonly messages: readonly ApiMessage[];
  /** Those that its view shows. */
  readonly edits: readonly Edit[];
}

/** The change of a list that the worker has: its beginning stays, and new elements follow it. */
export interface ListUpdate<T> {
  /** How many of its first elements stay. */
  readonly kept: number;
  readonly added: readonly T[];
}

/** The changes of a live conversation since the worker's last update; at first all of it is added. */
export interface LiveUpdate {
  readonly messages: ListUpdate<ApiMessage>;
  readonly edits: ListUpdate<Edit>;
}

/** A conversation that the chat holds in memory. */
export interface LiveConversation {
  readonly kind: 'live';
  readonly id: string;
  readonly title: string;
  /** On the host's side alone: the worker is told by updates. */
  readonly content?: LiveContent;
  /** Indexes of the messages that its ledger pins. */
  readonly pinned: readonly number[];
}

export type ForecastConversation = FileConversation | LiveConversation;

/** A model that could be asked, as far as an estimate needs it; nothing here can call it. */
export type ForecastModel =
  | {
      /** The profile that a pass names; absent: the one chosen for condensing. */
      readonly apiProfile?: string;
      readonly model: SummarizerModel;
      readonly chosen: SelectedSummarizer['chosen'];
      readonly warning?: string;
      readonly samples: readonly OutputSample[];
    }
  | { readonly apiProfile?: string; readonly problem: string };

/** How would be condensed. */
export interface ForecastSetup {
  /** Id of the provider. */
  readonly provider: string;
  /** As the settings hold it. */
  readonly config: unknown;
  /** The user's own. */
  readonly presets: readonly Preset[];
  /** How many percent of the tokens may stay. */
  readonly targetPercent: number;
  /** US dollars that may be spent. */
  readonly maxCost: number;
  readonly models: readonly ForecastModel[];
  /** Folder of the summaries that were paid for: they cost nothing. */
  readonly summaries: string;
}

export interface ForecastQuestion {
  readonly conversation: ForecastConversation;
  readonly setup: ForecastSetup;
  /** Indexes of the messages that are to be pinned; absent: those that the ledger pins. */
  readonly pinned?: readonly number[];
  /** Indexes of the messages that no edit is to touch. */
  readonly excluded: readonly number[];
}

export type ForecastRequest =
  | ({ readonly kind: 'preview' } & ForecastQuestion)
  /** The texts for the diff editor. */
  | ({ readonly kind: 'texts' } & ForecastQuestion)
  /** Which facts of the conversation the view would still hold. */
  | ({ readonly kind: 'coherence' } & ForecastQuestion)
  /** The messages that the selection of a pass takes. */
  | {
      readonly kind: 'selection';
      readonly conversation: ForecastConversation;
      readonly setup: ForecastSetup;
      /** Index of the pass. */
      readonly pass: number;
    }
  /** The steps of a pass. */
  | {
      readonly kind: 'pass';
      readonly conversation: ForecastConversation;
      readonly setup: ForecastSetup;
      /** Index of the pass. */
      readonly pass: number;
    }
  | { readonly kind: 'compare'; readonly conversation: ForecastConversation; readonly setup: ForecastSetup };

/** The outcome for one message. */
export interface MessageCell {
  readonly role: ApiMessage['role'];
  readonly outcome: EditOutcome;
  /** o200k tokens of it now and afterwards. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** The beginning, on one line. */
  readonly words: string;
}

/** One edit, as much of it as is shown beside others. */
export interface EditExcerpt {
  /** Index of the message. */
  readonly message: number;
  readonly step: string;
  readonly reason: string;
  readonly before: string;
  readonly after: string;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** A model would write what stands there afterwards: nobody knows it yet. */
  readonly isWritten: boolean;
}

export interface ForecastFigures {
  /** o200k tokens of the messages. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly targetTokens: number;
  /** US dollars; absent where a price is not known. */
  readonly cost?: number;
  /** US dollars at least and at most. */
  readonly costRange?: { readonly least: number; readonly most: number };
  /** Tokens of the calls by kind; absent where there are none, or nobody can tell. */
  readonly callTokens?: TokensByKind;
  /** Absent where nothing is guessed. */
  readonly confidence?: Confidence;
  /** Calls that would be made. */
  readonly calls: number;
  /** Milliseconds that the preview took; a model's time is not in it. */
  readonly timeMs: number;
}

export interface ForecastResult extends ForecastFigures {
  readonly title: string;
  /** The vendor's id of the model that answered last, where the conversation tells. */
  readonly model?: string;
  readonly provider: string;
  readonly steps: readonly StepReport[];
  readonly cells: readonly MessageCell[];
  /** The first ones. */
  readonly edits: readonly EditExcerpt[];
  /** How many there are. */
  readonly editCount: number;
  /** Indexes of the pinned messages that this was made with. */
  readonly pinned: readonly number[];
  /** Those that the ledger pins. */
  readonly savedPins: readonly number[];
  /** Notes for a person, beside the figures. */
  readonly notes: readonly string[];
}

/** The conversation as it is and as it would be, for people to read. */
export interface ForecastTexts extends FoldedTexts {
  readonly conversation: string;
  readonly title: string;
  /** What the markers stand for, by their references. */
  readonly originals: Readonly<Record<string, string>>;
}

export interface SelectionResult {
  readonly title: string;
  /** For each message whether the pass looks at something in it. */
  readonly taken: readonly boolean[];
}

export interface PassResult {
  readonly title: string;
  /** None where it is switched off; more than one where it runs again. */
  readonly steps: readonly StepReport[];
}

export interface ComparedResult extends ForecastFigures {
  readonly title: string;
  /** Facts of the conversation (files, error lines, instructions, to-dos), and how many of them would be lost. */
  readonly facts: { readonly all: number; readonly lost: number };
  readonly retention: CodeLineRetention;
}

interface Results {
  readonly preview: ForecastResult;
  readonly texts: ForecastTexts;
  readonly coherence: CoherenceReport;
  readonly selection: SelectionResult;
  readonly pass: PassResult;
  readonly compare: ComparedResult;
}
export type ForecastAnswer<R extends ForecastRequest> = Results[R['kind']];
