import type { Violation } from '../messages/firewall';
import type { ApiMessage } from '../messages/types';
import type { MinimumCoherence, CoherenceReport } from './coherence/coherence';
import type { Edit } from './edits/edits';
import type { LoadOwnModel } from './summarizer';
import type { CondensationOptions, ModelCall, ProviderCapabilities, StepReport, UnchangedReason } from './types';

/** A result is worth applying if it reaches either figure. */
export interface MinimumGain {
  /** Percentage of the tokens before condensing. */
  readonly percent: number;
  readonly tokens: number;
}

export const DEFAULT_MINIMUM_GAIN: MinimumGain = { percent: 5, tokens: 1_000 };

export interface CondensationRequest extends CondensationOptions {
  /** Identifies the conversation for its cool-down. */
  readonly conversation: string;
  readonly messages: readonly ApiMessage[];
  readonly edits?: readonly Edit[];
  /** Default: the active provider. */
  readonly provider?: string;
  readonly config?: unknown;
  readonly configName?: string | undefined;
  /**
   * Only automatic condensations wait for a cool-down. `weight` removes images to meet a vendor's
   * limit on request size.
   */
  readonly trigger: 'manual' | 'automatic' | 'weight';
  readonly system?: string;
  readonly vendor?: string;
  readonly pinned?: ReadonlySet<number>;
  readonly ownModel?: LoadOwnModel;
  readonly minimumGain?: MinimumGain;
  readonly coherenceFloor?: MinimumCoherence;
}

export interface OutcomeFields {
  readonly provider: string;
  /** Names of presets and strategies, by provider ID. */
  readonly configNames?: Readonly<Record<string, string>>;
  readonly tokensBefore: number;
  readonly steps: readonly StepReport[];
  /** In US dollars, even if nothing changed; undefined if a price is unknown. */
  readonly cost: number | undefined;
  readonly timeMs: number;
  readonly notes: readonly string[];
  readonly calls?: readonly ModelCall[];
  /** Estimate in US dollars. */
  readonly estimatedCost?: number;
}

export type OutcomeSummary = OutcomeFields &
  (
    | {
        readonly kind: 'condensed';
        readonly tokensAfter: number;
        readonly coherence: CoherenceReport;
        /** Providers whose edits come before those of `provider`, if it was a fallback. */
        readonly alsoBy?: readonly string[];
      }
    | { readonly kind: 'unchanged'; readonly reason: UnchangedReason; readonly detail: string }
    | { readonly kind: 'refused'; readonly violations: readonly Violation[] }
    | { readonly kind: 'cancelled' }
    | { readonly kind: 'failed'; readonly error: Error }
  );

export type CondensationOutcome =
  | Exclude<OutcomeSummary, { readonly kind: 'condensed' }>
  | (Extract<OutcomeSummary, { readonly kind: 'condensed' }> & {
      /** The new edits, without those of earlier condensations. */
      readonly edits: readonly Edit[];
      readonly view: readonly ApiMessage[];
    });

interface CondensedOutcome {
  readonly kind: 'condensed';
}

export function dropMessagesAndEdits(outcome: OutcomeSummary & CondensedOutcome): OutcomeSummary & CondensedOutcome;
export function dropMessagesAndEdits(outcome: OutcomeSummary): OutcomeSummary;
export function dropMessagesAndEdits(outcome: OutcomeSummary): OutcomeSummary {
  if (outcome.kind !== 'condensed') return outcome;
  const { edits: _edits, view: _view, ...summary } = outcome as CondensationOutcome & CondensedOutcome;
  return summary;
}

export type OutcomeWithoutView =
  | Exclude<OutcomeSummary, CondensedOutcome>
  | (Extract<OutcomeSummary, CondensedOutcome> & { readonly edits: readonly Edit[] });

export function dropViewFromOutcome(outcome: CondensationOutcome): OutcomeWithoutView {
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
