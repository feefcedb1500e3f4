import type { AccountProblem } from '../account/accountStores';
import type { AccountOverview } from '../core/account/account';
import type { WhatIfSum } from '../core/account/whatIf';
import type { DiffTexts } from '../core/condense/report/foldedTexts';
import type { UseAfterCondensation } from '../core/condense/ledger/use';
import type { ConversationFormat } from '../conversations/types';
import type { StepReport } from '../core/condense';
import type { Condensation, CondensationId } from '../core/condense/ledger/ledger';
import type { RunMetrics } from '../core/condense/metrics/metrics';
import type { FailureAdvice, UnchangedReason } from '../core/condense/types';
import type { GiveBackTarget } from '../core/agents/types';
import type { GivenBack } from '../giveBack/replacements';

export interface CondensedResult extends DiffTexts {
  readonly kind: 'condensed';
  readonly conversation: ConversationSummary;
  readonly provider: string;
  readonly configNames?: Readonly<Record<string, string>>;
  /** Providers whose edits precede this provider's own. */
  readonly alsoBy?: readonly string[];
  readonly steps: readonly StepReport[];
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly targetTokens: number;
  readonly edits: number;
  /** US dollars; undefined if a price is unknown. */
  readonly cost: number | undefined;
  /** US dollars saved per later request; absent if unknown. */
  readonly savedPerRequest?: number;
  readonly timeMs: number;
  readonly notes: readonly string[];
  readonly report: string;
  readonly metrics: RunMetrics;
  /** Set only for previews: originals by reference. */
  readonly originals?: Readonly<Record<string, string>>;
}

export interface NotCondensedResult {
  readonly kind: 'not-condensed';
  readonly reason: UnchangedReason | 'refused' | 'failed' | 'cancelled';
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
  /** Undefined if there was no condensation. */
  readonly undone: { readonly provider: string; readonly edits: number } | undefined;
}

export interface CondensationOutline {
  readonly id: CondensationId;
  /** ISO 8601 time. */
  readonly at: string;
  readonly provider: string;
  /** Name of the preset or strategy; absent if not recorded. */
  readonly configName?: string;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly isUndone: boolean;
  /** True if a later condensation was made from the original instead. */
  readonly isReplaced: boolean;
  readonly steps: readonly StepReport[];
  /** US dollars; absent if a price is unknown. */
  readonly cost?: number;
  /** The agent's later requests for removed content; absent if not observed. */
  readonly use?: UseAfterCondensation;
  /** How often the agent reread lines that were removed from new results. */
  readonly rereads?: number;
}

export interface LedgerOutline {
  readonly conversation: string;
  readonly title?: string;
  readonly path?: string;
  /** Oldest first. */
  readonly condensations: readonly CondensationOutline[];
}

export interface LedgersResult {
  /** Conversation IDs of all ledgers. */
  readonly known: readonly string[];
  readonly ledgers: readonly LedgerOutline[];
  /** Milliseconds since the epoch. */
  readonly lastUsed: number;
  /** Conversations whose give-back can be undone. */
  readonly givenBack: readonly GivenBack[];
}

/** Both texts are equal if the conversation isn't condensed. */
export interface ShownConversation extends DiffTexts {
  readonly conversation: ConversationSummary;
  /** Oldest first. */
  readonly condensations: readonly Pick<Condensation, 'provider' | 'configName'>[];
}

export interface CheckGiveBackResult {
  /** What could not be read of the file, in sentences, and is missing in what is given back. */
  readonly damage: readonly string[];
}

export interface ConversationText {
  readonly title: string;
  readonly text: string;
  /** What could not be read of the file, in sentences. */
  readonly damage: readonly string[];
}

export interface ListedMessage {
  readonly role: string;
  /** The message's start, on one line. */
  readonly words: string;
  readonly isPinned: boolean;
}

export interface OriginalResult {
  /** Undefined if no ledger has the reference. */
  readonly text: string | undefined;
}

export interface ListedReference {
  readonly reference: string;
  /** Index of the message that contained the original. */
  readonly message: number;
  /** UTF-16 units of the original. */
  readonly length: number;
  /** The message's start, on one line. */
  readonly words: string;
}

export interface GivenBackResult {
  readonly target: GiveBackTarget;
  /** The file that the agent continues from. */
  readonly path: string;
  readonly conversation: string;
}

export interface ReadingPageResult {
  readonly title: string;
  readonly page: string;
}

export interface ReportPageResult {
  readonly conversation: ConversationSummary;
  /** HTML; undefined if the conversation isn't condensed. */
  readonly page: string | undefined;
}

export interface AccountResult {
  readonly overview: AccountOverview;
  /** Costs with another provider, if requested. */
  readonly whatIf?: WhatIfSum & { readonly choice: string };
  /** Number of unreadable sessions, of which `problems` explains the first. */
  readonly leftOut: number;
  readonly problems: readonly AccountProblem[];
}

export interface RecoverReplacementsResult {
  /** Number of replacements completed or reverted. */
  readonly recovered: number;
  readonly problems: readonly string[];
}
