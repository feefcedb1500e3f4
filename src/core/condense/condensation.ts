/** The request for a condensation and its outcomes. */
import type { Violation } from '../messages/firewall';
import type { ApiMessage } from '../messages/types';
import type { CoherenceFloor, CoherenceReport } from './coherence/coherence';
import type { Edit } from './edits/edits';
import type { OwnModel } from './summarizer';
import type { CondensationOptions, ModelCall, ProviderCapabilities, StepReport, UnchangedReason } from './types';

/** When a result is worth applying: either figure is enough. */
export interface MinimumGain {
  /** Share of the tokens before, in percent. */
  readonly percent: number;
  readonly tokens: number;
}

export const DEFAULT_MINIMUM_GAIN: MinimumGain = { percent: 5, tokens: 1_000 };

export interface CondensationRequest extends CondensationOptions {
  /** Names the conversation, so that its cool-down is known. */
  readonly conversation: string;
  readonly messages: readonly ApiMessage[];
  /** Edits of earlier condensations that the view shows. */
  readonly edits?: readonly Edit[];
  /** Id of the provider; undefined: the active one. */
  readonly provider?: string;
  /** The provider's configuration as it came from outside. */
  readonly config?: unknown;
  /** The configuration's name for people, where the caller has one that the provider does not know. */
  readonly configName?: string | undefined;
  /**
   * Automatic ones wait while the conversation cools down; what a person asks for doesn't. One for the request's `weight` takes images out
   * for a vendor's limits, and tells nothing of the tokens that another one could free.
   */
  readonly trigger: 'manual' | 'automatic' | 'weight';
  /** The conversation's system prompt, where it is known. */
  readonly system?: string;
  /** Who the conversation's own model belongs to, such as `anthropic`. */
  readonly vendor?: string;
  /** Indexes of the messages that a person pinned. */
  readonly pinned?: ReadonlySet<number>;
  /** The conversation's own model, where it can be called. */
  readonly ownModel?: OwnModel;
  readonly minimumGain?: MinimumGain;
  /**
   * Shares of files, error lines, instructions and to-dos that must stand in the view; a result under them is refused.
   */
  readonly coherenceFloor?: CoherenceFloor;
}

/** Reported of every run, whatever its outcome. */
export interface OutcomeBase {
  readonly provider: string;
  /** The names of the presets and strategies that ran, by provider; absent: the user's own configurations ran. */
  readonly configNames?: Readonly<Record<string, string>>;
  readonly tokensBefore: number;
  readonly steps: readonly StepReport[];
  /** US dollars, spent also where nothing was applied; undefined where a price is not known. */
  readonly cost: number | undefined;
  /** Milliseconds. */
  readonly timeMs: number;
  /** Notes for a person, beside the figures. */
  readonly notes: readonly string[];
  /** The paid calls that were made, in order. */
  readonly calls?: readonly ModelCall[];
  /** US dollars that the calls were expected to cost. */
  readonly estimatedCost?: number;
}

/** What an outcome tells people: all but the messages and edits. */
export type OutcomeSummary = OutcomeBase &
  (
    | {
        readonly kind: 'condensed';
        readonly tokensAfter: number;
        /** The files, error lines, instructions and to-dos of the conversation that still stand in the view. */
        readonly coherence: CoherenceReport;
        /** Providers whose edits come before those of `provider`, where fallbacks were needed; absent: none. */
        readonly alsoBy?: readonly string[];
      }
    | { readonly kind: 'unchanged'; readonly reason: UnchangedReason; readonly detail: string }
    /** The firewall said no. */
    | { readonly kind: 'refused'; readonly violations: readonly Violation[] }
    | { readonly kind: 'cancelled' }
    | { readonly kind: 'failed'; readonly error: Error }
  );

export type CondensationOutcome =
  | Exclude<OutcomeSummary, { readonly kind: 'condensed' }>
  | (Extract<OutcomeSummary, { readonly kind: 'condensed' }> & {
      /** The new edits; the view shows them on top of the earlier ones. */
      readonly edits: readonly Edit[];
      readonly view: readonly ApiMessage[];
    });

interface Condensed {
  readonly kind: 'condensed';
}

/** An outcome without its messages and edits, which may be as long as the conversation. */
export function summarizeOutcome(outcome: OutcomeSummary & Condensed): OutcomeSummary & Condensed;
export function summarizeOutcome(outcome: OutcomeSummary): OutcomeSummary;
export function summarizeOutcome(outcome: OutcomeSummary): OutcomeSummary {
  if (outcome.kind !== 'condensed') return outcome;
  // The summary's type says nothing of them, but they may be there.
  const { edits: _edits, view: _view, ...summary } = outcome as CondensationOutcome & Condensed;
  return summary;
}

/** An outcome that is applied to messages which are at hand: its edits make the view. */
export type OutcomeWithoutView =
  | Exclude<OutcomeSummary, Condensed>
  | (Extract<OutcomeSummary, Condensed> & { readonly edits: readonly Edit[] });

/** An outcome without its view. */
export function withoutView(outcome: CondensationOutcome): OutcomeWithoutView {
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
