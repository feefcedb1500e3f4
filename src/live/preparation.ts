import type { TimeSource } from '../api/clock';
import type { CondensationOutcome } from '../core/condense';
import type { View } from '../core/condense/edits/view';

export interface ConversationState {
  readonly revision: number;
  readonly view: View;
}

export interface PreparationDependencies {
  readonly clock: TimeSource;
  /** Milliseconds. */
  readonly giveUpMs: number;
  readonly isByHand: boolean;
  /** Called with the outcome of an abandoned run, which may have cost something. */
  readonly onGivenUp: (outcome: CondensationOutcome, reason: string) => void;
}

/** A model's condensation, which may take longer than a request can wait. */
export class BackgroundCondensation {
  /** Undefined until finished, and if abandoned. */
  outcome: CondensationOutcome | undefined;
  /** The outcome as applied, or why nothing was applied; absent until used. */
  appliedOutcome: CondensationOutcome | undefined;
  isOver = false;
  /** True after one request has waited; no other waits. */
  hasWaited = false;
  readonly isByHand: boolean;
  /** Never rejects. */
  readonly finished: Promise<void>;
  reason: string | undefined;
  private readonly controller = new AbortController();
  private readonly onGivenUp: PreparationDependencies['onGivenUp'];

  /** @param run should stop on the signal; if it doesn't, nothing waits for it */
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
    const abortion = new Promise<void>((resolve) => {
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
    this.finished = Promise.race([condensation, abortion]).then(() => {
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
