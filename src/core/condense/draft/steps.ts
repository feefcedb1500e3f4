import type { Draft } from './draft';

/** A step that edits a draft; it may ask a model. */
export interface DraftStep {
  /** The name in reports. Edits carry it as their step. */
  readonly name: string;
  /** @throws the signal's reason if it is aborted. */
  run(draft: Draft, signal?: AbortSignal): void | Promise<void>;
  /** Why it isn't run on the draft as it now stands, in words; undefined where it is. */
  readonly skip?: (draft: Draft) => string | undefined;
  /** Its spending so far, also if it failed. */
  readonly spent?: () => StepSpending;
}

/** A step that needs no model, and so is done when it returns. */
export interface MechanicalStep extends DraftStep {
  run(draft: Draft, signal?: AbortSignal): void;
}

/** Spending of a step's calls. */
export interface StepSpending {
  readonly calls: number;
  /** US dollars; undefined where a price is not known. */
  readonly cost: number | undefined;
}
