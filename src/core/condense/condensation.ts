/** The request for a condensation and its outcomes. */
import type { Violation } from '../messages/firewall';
import type { ApiMessage } from '../messages/types';
import type { CoherenceFloor, CoherenceReport } from './coherence/coherence';
import type { Edit } from './edits/edits';
import type { LoadOwnModel } from './summarizer';
import type { CondensationOptions, ModelCall, ProviderCapabilities, StepReport, UnchangedReason } from './types';

/** A result is worth applying if it reaches either figure. */
export interface MinimumGain {
  /** Percentage of the tokens before. */
  readonly percent: number;
  readonly tokens: number;
}

export const DEFAULT_MINIMUM_GAIN: MinimumGain = { percent: 5, tokens: 1_000 };

export interface CondensationRequest extends CondensationOptions {
  /** Identifies the conversation for its cool-down. */
  readonly conversation: string;
  readonly messages: readonly ApiMessage[];
  /** Edits of earlier condensations that the view shows. */
  readonly edits?: readonly Edit[];
  /** ID of the provider; undefined for the active one. */
  readonly provider?: string;
  /** The provider's unchecked configuration. */
  readonly config?: unknown;
  /** The configuration's name for people, if the provider does not know it. */
  readonly configName?: string | undefined;
  /**
   * Automatic condensations wait during a cool-down, manual ones don't. `weight` removes images to
   * meet a vendor's limits, and says nothing about the tokens that others could free.
   */
  readonly trigger: 'manual' | 'automatic' | 'weight';
  /** The conversation's system prompt, if known. */
  readonly system?: string;
  /** Vendor of the conversation's own model, such as `anthropic`. */
  readonly vendor?: string;
  /** Indexes of pinned messages. */
  readonly pinned?: ReadonlySet<number>;
  /** The conversation's own model, if it can be called. */
  readonly ownModel?: LoadOwnModel;
  readonly minimumGain?: MinimumGain;
  /**
   * Minimum shares of files, error lines, instructions and to-dos to keep in the view; a result
   * below them is refused.
   */
  readonly coherenceFloor?: CoherenceFloor;
}

/** Reported for every run, whatever its outcome. */
export interface OutcomeBase {
  readonly provider: string;
  /**
   * Names of the presets and strategies that ran, by provider; absent for the user's own
   * configurations.
   */
  readonly configNames?: Readonly<Record<string, string>>;
  readonly tokensBefore: number;
  readonly steps: readonly StepReport[];
  /** In US dollars, including runs that changed nothing; undefined if a price is unknown. */
  readonly cost: number | undefined;
  /** In milliseconds. */
  readonly timeMs: number;
  /** Notes for a person. */
  readonly notes: readonly string[];
  /** The paid calls, in order. */
  readonly calls?: readonly ModelCall[];
  /** Estimated US dollars of the calls. */
  readonly estimatedCost?: number;
}

/** An outcome for people, without messages and edits. */
export type OutcomeSummary = OutcomeBase &
  (
    | {
        readonly kind: 'condensed';
        readonly tokensAfter: number;
        /**
         * How many of the conversation's files, error lines, instructions and to-dos are still in
         * the view.
         */
        readonly coherence: CoherenceReport;
        /** Providers whose edits precede those of `provider`, after fallbacks; absent for none. */
        readonly alsoBy?: readonly string[];
      }
    | { readonly kind: 'unchanged'; readonly reason: UnchangedReason; readonly detail: string }
    /** The firewall rejected the result. */
    | { readonly kind: 'refused'; readonly violations: readonly Violation[] }
    | { readonly kind: 'cancelled' }
    | { readonly kind: 'failed'; readonly error: Error }
  );

export type CondensationOutcome =
  | Exclude<OutcomeSummary, { readonly kind: 'condensed' }>
  | (Extract<OutcomeSummary, { readonly kind: 'condensed' }> & {
      /** The new edits; the view applies them after the earlier edits. */
      readonly edits: readonly Edit[];
      readonly view: readonly ApiMessage[];
    });

interface CondensedOutcome {
  readonly kind: 'condensed';
}

/** Removes messages and edits, which may be as long as the conversation. */
export function summarizeOutcome(outcome: OutcomeSummary & CondensedOutcome): OutcomeSummary & CondensedOutcome;
export function summarizeOutcome(outcome: OutcomeSummary): OutcomeSummary;
export function summarizeOutcome(outcome: OutcomeSummary): OutcomeSummary {
  if (outcome.kind !== 'condensed') return outcome;
  // The type excludes these fields, but the object may contain them.
  const { edits: _edits, view: _view, ...summary } = outcome as CondensationOutcome & CondensedOutcome;
  return summary;
}

/** An outcome for callers that have the messages: the edits determine the view. */
export type OutcomeWithoutView =
  | Exclude<OutcomeSummary, CondensedOutcome>
  | (Extract<OutcomeSummary, CondensedOutcome> & { readonly edits: readonly Edit[] });

export function removeView(outcome: CondensationOutcome): OutcomeWithoutView {
  if (outcome.kind !== 'condensed') return outcome;
  const { view: _view, ...rest } = outcome;
  return rest;
}

export interface ProviderInfo {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly capabilities: ProviderCapabilities;
}
