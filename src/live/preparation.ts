import type { TimeSource } from '../api/clock';
import type { CondensationOutcome } from '../core/condense';
import type { View } from '../core/condense/edits/view';

export interface ConversationState {
  readonly revision: number;
  readonly view: View;
}

export interface PreparationDependencies {
  readonly clock: TimeSource;
  /** Milliseconds after which the run is abandoned. */
  readonly giveUpMs: number;
  readonly isByHand: boolean;
  /** Called with the outcome of an abandoned run, because the run may have cost something. */
  readonly onGivenUp: (outcome: CondensationOutcome, reason: string) => void;
}

/**
 * A condensation by a model. It runs in the background, because it may take longer than requests
 * can wait.
 */
export class BackgroundCondensation {
  /** Undefined until the run has finished, and if it was abandoned. */
  outcome: CondensationOutcome | undefined;
  /** The outcome after it was used: as applied, or why nothing was applied. */
  appliedOutcome: CondensationOutcome | undefined;
  isOver = false;
  /** True after one request has waited for the run; later requests don't wait. */
  hasWaited = false;
  readonly isByHand: boolean;
  /** Resolves when the run has ended or was abandoned. Never rejects. */
  readonly finished: Promise<void>;
  reason: string | undefined;
  private readonly controller = new AbortController();
  private readonly onGivenUp: PreparationDependencies['onGivenUp'];

  /** @param run should stop when the signal aborts; if it doesn't, nothing waits for it */
  constructor(
    readonly madeFor: ConversationState,
    run: (signal: AbortSignal) => Promise<CondensationOutcome>,
    { clock, giveUpMs, isByHand, onGivenUp }: PreparationDependencies,
  ) {
    this.isByHand = isByHand;
    this.onGivenUp = onGivenUp;
    const { signal } = this.controller;
    const cancelTimer = clock.after(giveUpMs, () => {
      this.abandonPreparation(`the model took longer than ${Math.round(giveUpMs / 60_000)} minutes`);
    });
    const abortPromise = new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => {
        resolve();
      });
    });
    const condensation = run(signal).then(
      (outcome) => {
        if (this.reason === undefined) this.outcome = outcome;
        else onGivenUp(outcome, this.reason);
      },
      // The manager reports failures in the outcome.
      () => undefined,
    );
    this.finished = Promise.race([condensation, abortPromise]).then(() => {
      cancelTimer();
      this.isOver = true;
    });
  }

  /** @param reason without a full stop */
  abandonPreparation(reason: string): void {
    if (this.reason !== undefined || this.appliedOutcome) return;
    this.reason = reason;
    const { outcome } = this;
    this.outcome = undefined;
    if (outcome) this.onGivenUp(outcome, reason);
    this.controller.abort(new Error(`The condensation was abandoned: ${reason}.`));
  }
}
