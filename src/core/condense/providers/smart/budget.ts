import type { SummarizerModel } from '../../summary/summarizer';
import { overBudget } from '../../summary/runPlan';

/** Money set aside for one call. */
export interface Reservation {
  /** US dollars that the call cost in the end; undefined where that is not known: then what was set aside counts. */
  settle(cost: number | undefined): void;
}

/** What may be spent on a condensation. Calls that run at the same time can't spend the same dollar twice. */
export class Budget {
  private committed = 0;

  /** @param maxCost US dollars; undefined: no limit. */
  constructor(private readonly maxCost: number | undefined) {}

  /** US dollars; `Infinity` where there is no limit. */
  get left(): number {
    return this.maxCost === undefined ? Infinity : Math.max(0, this.maxCost - this.committed);
  }

  /**
   * Sets the expected cost of a call aside.
   * @returns why it is not allowed, in words, where it isn't.
   */
  reserve(expected: number | undefined, model: SummarizerModel): Reservation | string {
    const limit = this.maxCost === undefined ? undefined : this.left;
    const over = overBudget(expected, model, limit);
    if (over !== undefined) return over;
    const held = expected ?? 0;
    this.committed += held;
    return {
      settle: (cost) => {
        this.committed += (cost ?? held) - held;
      },
    };
  }
}
