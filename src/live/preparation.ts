import type { Clock } from '../api/clock';
import type { CondensationOutcome } from '../core/condense';
import type { ApiMessage } from '../core/messages/types';

/** A conversation at one time. */
export interface Standing {
  readonly revision: number;
  readonly original: readonly ApiMessage[];
  readonly view: readonly ApiMessage[];
}

/** A model's condensation that may take longer than a request can wait. */
export class Preparation {
  /** Set once it is there; a preparation that was given up or aborted has none. */
  outcome: CondensationOutcome | undefined;
  isOver = false;
  /** A request has waited for it once; no other does. */
  hasWaited = false;
  /** Settles when it is over, and never fails. */
  readonly over: Promise<void>;
  private readonly controller = new AbortController();

  /**
   * @param madeFor the conversation that it is made for.
   * @param run is told to stop by the signal; where it doesn't, it is not waited for.
   * @param giveUpMs milliseconds after which it is stopped.
   */
  constructor(
    readonly madeFor: Standing,
    run: (signal: AbortSignal) => Promise<CondensationOutcome>,
    clock: Clock,
    giveUpMs: number,
  ) {
    const { signal } = this.controller;
    const cancelTimer = clock.after(giveUpMs, () => {
      this.abort();
    });
    const aborted = new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => {
        resolve();
      });
    });
    const ran = run(signal).then(
      (outcome) => {
        if (!signal.aborted) this.outcome = outcome;
      },
      // The manager tells failures in the outcome; what is thrown all the same is no result either.
      () => undefined,
    );
    this.over = Promise.race([ran, aborted]).then(() => {
      cancelTimer();
      this.isOver = true;
    });
  }

  abort(): void {
    this.controller.abort(new Error('The condensation was given up.'));
  }
}
