import type { Clock } from '../api/clock';
import type { CondensationOutcome } from '../core/condense';
import type { ApiMessage } from '../core/messages/types';

/** A conversation at one time. */
export interface Standing {
  readonly revision: number;
  readonly original: readonly ApiMessage[];
  readonly view: readonly ApiMessage[];
}

export interface PreparationTerms {
  readonly clock: Clock;
  /** Milliseconds after which it is stopped. */
  readonly giveUpMs: number;
  /** A person waits for it; else it is for what is due or will be. */
  readonly isByHand: boolean;
  /** Told once the run of one that was given up has ended: it may have cost something. */
  readonly onGivenUp: (outcome: CondensationOutcome, why: string) => void;
}

/** A model's condensation that may take longer than a request can wait. */
export class Preparation {
  /** Set once it is there; a preparation that was given up has none. */
  outcome: CondensationOutcome | undefined;
  /** The outcome as it was applied, or why nothing was; absent where nobody has taken it. */
  taken: CondensationOutcome | undefined;
  isOver = false;
  /** A request has waited for it once; no other does. */
  hasWaited = false;
  readonly isByHand: boolean;
  /** Settles when it is over, and never fails. */
  readonly over: Promise<void>;
  /** Why it was given up, in words. */
  why: string | undefined;
  private readonly controller = new AbortController();
  private readonly onGivenUp: PreparationTerms['onGivenUp'];

  /**
   * @param madeFor the conversation that it is made for.
   * @param run is told to stop by the signal; where it doesn't, it is not waited for.
   */
  constructor(
    readonly madeFor: Standing,
    run: (signal: AbortSignal) => Promise<CondensationOutcome>,
    { clock, giveUpMs, isByHand, onGivenUp }: PreparationTerms,
  ) {
    this.isByHand = isByHand;
    this.onGivenUp = onGivenUp;
    const { signal } = this.controller;
    const cancelTimer = clock.after(giveUpMs, () => {
      this.giveUp(`the model took longer than ${Math.round(giveUpMs / 60_000)} minutes`);
    });
    const aborted = new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => {
        resolve();
      });
    });
    const ran = run(signal).then(
      (outcome) => {
        if (this.why === undefined) this.outcome = outcome;
        else onGivenUp(outcome, this.why);
      },
      // The manager tells failures in the outcome; what is thrown all the same is no result either.
      () => undefined,
    );
    this.over = Promise.race([ran, aborted]).then(() => {
      cancelTimer();
      this.isOver = true;
    });
  }

  /** Ends it where it runs, and drops what it made. @param why in words, without a full stop */
  giveUp(why: string): void {
    if (this.why !== undefined || this.taken) return;
    this.why = why;
    const { outcome } = this;
    this.outcome = undefined;
    if (outcome) this.onGivenUp(outcome, why);
    this.controller.abort(new Error(`The condensation was abandoned: ${why}.`));
  }
}
