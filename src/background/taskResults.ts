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
import type { GivenBackConversation } from '../giveBack/replacements';

export interface CondensedResult extends DiffTexts {
  readonly kind: 'condensed';
  readonly conversation: ConversationSummary;
  readonly provider: string;
  readonly configNames?: Readonly<Record<string, string>>;
  /** Providers whose edits come before this provider's own. */
  readonly alsoBy?: readonly string[];
  readonly steps: readonly StepReport[];
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly targetTokens: number;
  readonly edits: number;
  /** US dollars that the condensation cost; undefined if a price is unknown. */
  readonly cost: number | undefined;
  /** US dollars saved per later request; absent if unknown. */
  readonly savedPerRequest?: number;
  readonly timeMs: number;
  readonly notes: readonly string[];
  readonly report: string;
  readonly metrics: RunMetrics;
  /** Originals by reference; set only for previews. */
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
  /** The undone condensation; undefined if there was none. */
  readonly undone: { readonly provider: string; readonly edits: number } | undefined;
}

export interface CondensationOutline {
  readonly id: CondensationId;
  /** When the condensation was made (ISO 8601). */
  readonly at: string;
  readonly provider: string;
  /** Name of the preset or strategy; absent if not recorded. */
  readonly configName?: string;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly isUndone: boolean;
  /** True if a later condensation was made from the original messages instead of from this one. */
  readonly isReplaced: boolean;
  readonly steps: readonly StepReport[];
  /** US dollars that the condensation cost; absent if a price is unknown. */
  readonly cost?: number;
  /** How often the agent later requested removed content; absent if not observed. */
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
  /** IDs of the conversations that have a ledger. */
  readonly known: readonly string[];
  readonly ledgers: readonly LedgerOutline[];
  /** When a ledger was last used, in milliseconds since the epoch. */
  readonly lastUsed: number;
  /** Conversations whose give-back can be undone. */
  readonly givenBack: readonly GivenBackConversation[];
}

/** The conversation's text before and after; both are equal if it isn't condensed. */
export interface ShownConversation extends DiffTexts {
  readonly conversation: ConversationSummary;
  /** Oldest first. */
  readonly condensations: readonly Pick<Condensation, 'provider' | 'configName'>[];
}

export interface CheckGiveBackResult {
  /** What could not be read of the file and is therefore missing in the copy, in sentences. */
  readonly damage: readonly string[];
}

export interface ConversationText {
  readonly title: string;
  readonly text: string;
  /** What the agent compacted away, and what could not be read of the file, in sentences. */
  readonly notes: readonly string[];
}

export interface ListedMessage {
  readonly role: string;
  /** The first words of the message, on one line. */
  readonly words: string;
  readonly isPinned: boolean;
}

export interface OriginalResult {
  /** The original; undefined if no ledger has the reference. */
  readonly text: string | undefined;
}

export interface ListedReference {
  readonly reference: string;
  /** Index of the message that contained the original. */
  readonly message: number;
  /** Length of the original in UTF-16 units. */
  readonly length: number;
  /** The first words of the message, on one line. */
  readonly words: string;
}

export interface GivenBackResult {
  readonly target: GiveBackTarget;
  /** Path of the file from which the agent continues. */
  readonly path: string;
  readonly conversation: string;
}

export interface ConversationPageResult {
  readonly conversation: ConversationSummary;
  /** HTML page; undefined if the conversation isn't condensed. */
  readonly page: string | undefined;
}

export interface AccountResult {
  readonly overview: AccountOverview;
  /** What the sessions would have cost with another provider, if requested. */
  readonly whatIf?: WhatIfSum & { readonly choice: string };
  /** Number of sessions left out because they can't be read; `problems` explains the first ones. */
  readonly leftOut: number;
  readonly problems: readonly AccountProblem[];
}

export interface RecoverReplacementsResult {
  /** Number of interrupted replacements that were completed or reverted. */
  readonly recovered: number;
  readonly problems: readonly string[];
}
