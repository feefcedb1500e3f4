import type { StepReport } from '../stepReport';
import type { Draft } from './draft';
import type { PipelineWork } from './work';

export interface PipelineStep<W extends PipelineWork = Draft> {
  readonly name: string;
  /** Explains why the step cannot run now; undefined if it can. */
  readonly skip?: (work: W) => string | undefined | Promise<string | undefined>;
  /**
   * @param report receives descriptions of the current work
   * @throws the signal's reason if it is aborted; any other error drops the step's changes
   */
  run(work: W, signal?: AbortSignal, report?: StepReporter): void | Promise<void>;
  /** For a step with inner steps: their result, which replaces the step's own report. */
  readonly result?: () => PipelineResult;
  /** Explains why the step's changes must be dropped; undefined if they are fine. */
  readonly refuse?: (work: W) => string | undefined;
  /** What the step spent, including failed calls. */
  readonly spent?: () => StepSpending;
  /**
   * References to replace with text if the step removes what they name; see
   * `createRestorerOfBrokenReferences`.
   */
  readonly rewrites?: ReferencesAStepMayRewrite;
  /** If true, the step is reported only if it changes something. */
  readonly isRepeat?: boolean;
}

export type StepReporter = (doing: string) => void;

/** Use `all` only in steps that create no references themselves. */
export type ReferencesAStepMayRewrite = 'earlier' | 'all';

export interface PipelineResult {
  readonly reports: readonly StepReport[];
  /** If true, no further step runs in this round. */
  readonly endsRound?: boolean;
}

/** A step that calls no model and finishes when `run` returns. */
export interface MechanicalStep extends PipelineStep {
  run(draft: Draft, signal?: AbortSignal): void;
}

export interface StepSpending {
  readonly calls: number;
  /** In US dollars; undefined if a price is unknown. */
  readonly cost: number | undefined;
}
