/** The results of the background worker: plain data, for it crosses a thread. */
import type { AccountProblem } from '../account/accountStores';
import type { AccountOverview } from '../core/account/account';
import type { WhatIfSum } from '../core/account/whatIf';
import type { FoldedTexts } from '../core/condense/report/foldedTexts';
import type { UseAfter } from '../core/condense/ledger/use';
import type { ConversationFormat } from '../conversations/types';
import type { StepReport } from '../core/condense';
import type { Condensation, CondensationId } from '../core/condense/ledger/ledger';
import type { RunMetrics } from '../core/condense/metrics/metrics';
import type { FailureAdvice, UnchangedReason } from '../core/condense/types';
import type { GiveBackTarget } from '../core/agents/types';

/** What condensing came to, with the conversation before and after to compare. */
export interface CondensedResult extends FoldedTexts {
  readonly kind: 'condensed';
  readonly conversation: ConversationSummary;
  readonly provider: string;
  /** The names of the presets and strategies that ran, by provider; absent: none. */
  readonly configNames?: Readonly<Record<string, string>>;
  /** Providers whose edits come before its own; absent: none. */
  readonly alsoBy?: readonly string[];
  readonly steps: readonly StepReport[];
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly targetTokens: number;
  readonly edits: number;
  /** US dollars; undefined where a price is not known. */
  readonly cost: number | undefined;
  /** US dollars that each later request costs less; absent where the price of the agent's model is not known. */
  readonly savedPerRequest?: number;
  /** Milliseconds. */
  readonly timeMs: number;
  readonly notes: readonly string[];
  /** The report in words. */
  readonly report: string;
  readonly metrics: RunMetrics;
  /** Of a preview: what its markers stand for, by their references. */
  readonly originals?: Readonly<Record<string, string>>;
}

export interface NotCondensedResult {
  readonly kind: 'not-condensed';
  readonly reason: UnchangedReason | 'refused' | 'failed' | 'cancelled';
  /** What may help after a failure, where the provider says so. */
  readonly advice?: FailureAdvice;
  readonly conversation: ConversationSummary;
  readonly report: string;
  readonly metrics: RunMetrics;
}

export interface ConversationSummary {
  readonly id: string;
  readonly title: string;
  readonly format: ConversationFormat;
  readonly path: string;
}

export interface UndoResult {
  /** The condensation that was undone; undefined if there was nothing to undo. */
  readonly undone: { readonly provider: string; readonly edits: number } | undefined;
}

/** A condensation as a list shows it. */
export interface CondensationOutline {
  readonly id: CondensationId;
  /** ISO 8601 time. */
  readonly at: string;
  readonly provider: string;
  /** Name of the preset or strategy that it ran with; absent where none is recorded. */
  readonly configName?: string;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly isUndone: boolean;
  /** A later one was made from the original in its place. */
  readonly isReplaced: boolean;
  /** The changes, pass by pass. */
  readonly steps: readonly StepReport[];
  /** US dollars; absent where a price is not known. */
  readonly cost?: number;
  /** The agent's later requests for removed content; absent where they were not watched. */
  readonly use?: UseAfter;
  /** Of the one that grows as results arrive: how often the agent read lines again for which a reference stood; absent: never. */
  readonly rereads?: number;
}

export interface LedgerOutline {
  readonly conversation: string;
  readonly title?: string;
  /** Of the conversation's file, where it is known. */
  readonly path?: string;
  /** Oldest first. */
  readonly condensations: readonly CondensationOutline[];
}

export interface LedgersResult {
  /** Ids of the conversations of all ledgers there are, used since or not. */
  readonly known: readonly string[];
  readonly ledgers: readonly LedgerOutline[];
  /** When the last of them was used, in milliseconds since the epoch. */
  readonly lastUsed: number;
  /** Ids of all conversations whose giving back can be undone. */
  readonly givenBack: readonly string[];
}

/** Both texts are the same if it is not condensed. */
export interface ShownConversation extends FoldedTexts {
  readonly conversation: ConversationSummary;
  /** What condensed it, oldest first. */
  readonly condensations: readonly Pick<Condensation, 'provider' | 'configName'>[];
}

/** A conversation for people to read. */
export interface ConversationText {
  readonly title: string;
  readonly text: string;
}

export interface ListedMessage {
  readonly role: string;
  /** The beginning, on one line. */
  readonly words: string;
  readonly isPinned: boolean;
}

export interface OriginalResult {
  /** Undefined where no ledger knows the reference. */
  readonly text: string | undefined;
}

export interface ListedReference {
  readonly reference: string;
  /** Index of the message that it was taken out of. */
  readonly message: number;
  /** Of the original, in UTF-16 units. */
  readonly length: number;
  /** Its beginning, on one line. */
  readonly words: string;
}

export interface GivenBackResult {
  readonly target: GiveBackTarget;
  /** The file that the agent goes on with. */
  readonly path: string;
  readonly conversation: string;
}

export interface PageToRead {
  readonly title: string;
  /** HTML for a webview. */
  readonly page: string;
}

export interface ReportedPage {
  readonly conversation: ConversationSummary;
  /** HTML; undefined where nothing of the conversation is condensed. */
  readonly page: string | undefined;
}

export interface AccountResult {
  readonly overview: AccountOverview;
  /** Where another way was asked for. */
  readonly whatIf?: WhatIfSum & { readonly way: string };
  /** Sessions that could not be read, the first of them with the reason. */
  readonly leftOut: number;
  readonly problems: readonly AccountProblem[];
}

export interface RecoverResult {
  /** Replacements that were finished or taken back. */
  readonly recovered: number;
  /** Steps that could not be completed, in words. */
  readonly problems: readonly string[];
}
