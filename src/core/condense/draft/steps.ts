import type { StepReport } from '../stepReport';
import type { Draft } from './draft';
import type { Work } from './work';

/** A step of a pipeline; it may call a model. */
export interface Step<W extends Work = Draft> {
  /** The name in reports and edits. */
  readonly name: string;
  /** Why the step is skipped for now, in words; undefined if it runs. */
  readonly skip?: (work: W) => string | undefined | Promise<string | undefined>;
  /**
   * @param report receives a description of the step's current work
   * @throws the signal's reason if it is aborted; any other error drops the step's changes
   */
  run(work: W, signal?: AbortSignal, report?: StepReporter): void | Promise<void>;
  /** For a step with inner steps: what to report after a run instead of the step itself. */
  readonly result?: () => StepResult;
  /** Why its changes are rejected, in words; they are dropped then. */
  readonly refuse?: (work: W) => string | undefined;
  /** Returns what the step has spent so far, including failed calls. */
  readonly spent?: () => StepSpending;
  /** References to replace with text if the step removes what they name; see `watchReferences`. */
  readonly rewrites?: RewrittenReferences;
  /** Set if it repeats an earlier step and is reported only if it changes something. */
  readonly isRepeat?: boolean;
}

export type StepReporter = (doing: string) => void;

/** References of earlier condensations, or all, for steps that create none themselves. */
export type RewrittenReferences = 'earlier' | 'all';

/** Reported by a step with inner steps instead of its own result. */
export interface StepResult {
  readonly reports: readonly StepReport[];
  /** Ends the round. */
  readonly endsRound?: boolean;
}

/** A step without a model, which is finished when it returns. */
export interface MechanicalStep extends Step {
  run(draft: Draft, signal?: AbortSignal): void;
}

/** Spending on a step's calls. */
export interface StepSpending {
  readonly calls: number;
  /** In US dollars; undefined if a price is unknown. */
  readonly cost: number | undefined;
}
