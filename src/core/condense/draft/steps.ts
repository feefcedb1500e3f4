import type { StepReport } from '../stepReport';
import type { Draft } from './draft';
import type { Work } from './work';

/** A step of a pipeline; it may ask a model. */
export interface Step<W extends Work = Draft> {
  /** The name in reports. Edits carry it as their step. */
  readonly name: string;
  /** Why it is not run on the work as it is now, in words; undefined if it is. */
  readonly skip?: (work: W) => string | undefined | Promise<string | undefined>;
  /** @throws the signal's reason if it is aborted; any other error drops the step's changes. */
  run(work: W, signal?: AbortSignal): void | Promise<void>;
  /** After a run of a step with steps of its own: what it reports in place of itself. */
  readonly result?: () => StepResult;
  /** Why its changes are refused, in words: they are dropped then. */
  readonly refuse?: (work: W) => string | undefined;
  /** Its spending so far, also if it failed. */
  readonly spent?: () => StepSpending;
  /** Which references are written again if the step removes what they name; see `watchReferences`. */
  readonly rewrites?: RewrittenReferences;
  /** It repeats what an earlier step did, and is reported only if it changes something. */
  readonly isRepeat?: boolean;
}

/** References of earlier condensations, or all: for steps that make none themselves. */
export type RewrittenReferences = 'earlier' | 'all';

/** What a step with steps of its own reports in place of itself. */
export interface StepResult {
  readonly reports: readonly StepReport[];
  /** No other step follows in this round. */
  readonly endsRound?: boolean;
}

/** A step that needs no model, and is done when it returns. */
export interface MechanicalStep extends Step {
  run(draft: Draft, signal?: AbortSignal): void;
}

/** Spending of a step's calls. */
export interface StepSpending {
  readonly calls: number;
  /** US dollars; undefined if a price is unknown. */
  readonly cost: number | undefined;
}
