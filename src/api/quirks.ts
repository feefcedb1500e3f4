/** Servers of one protocol differ, and say in their refusals what they don't take: what is asked is changed by that. */
import type { ApiError } from './apiError';

/** A change that a refusal teaches, and the words to recognize it by. */
export interface Quirk<Dialect> {
  readonly words: RegExp;
  /** Made of what the words matched where they name a value. */
  readonly change: Partial<Dialect> | ((match: RegExpExecArray) => Partial<Dialect>);
}

/** The change in a dialect after this refusal; undefined if it teaches nothing new. */
export function quirkChange<Dialect extends object>(
  dialect: Dialect,
  { kind, details: { vendorMessage = '' } }: ApiError,
  quirks: readonly Quirk<Dialect>[],
): Partial<Dialect> | undefined {
  if (kind !== 'invalid-request' && kind !== 'server') return undefined;
  const isNew = (change: Partial<Dialect>): boolean => {
    const next = { ...dialect, ...change };
    return Object.keys(next).some((field) => next[field as keyof Dialect] !== dialect[field as keyof Dialect]);
  };
  for (const { words, change } of quirks) {
    const match = words.exec(vendorMessage);
    const changed = match && (typeof change === 'function' ? change(match) : change);
    if (changed && isNew(changed)) return changed;
  }
  return undefined;
}

/** A server's dialect as far as it is known; it grows with what the server refuses, and is kept for the next calls. */
export class LearnedQuirks<Dialect extends object> {
  /**
   * @param dialect what is taken to be understood before anything was refused.
   * @param classify makes an ApiError of what a call threw.
   */
  constructor(
    private dialect: Dialect,
    private readonly quirks: readonly Quirk<Dialect>[],
    private readonly classify: (raw: unknown) => ApiError,
  ) {}

  /** Asks, and asks again in the dialect that a refusal teaches. Each quirk changes one thing, so there is an end. */
  async ask<Answer>(ask: (dialect: Dialect) => PromiseLike<Answer>): Promise<Answer> {
    for (let tried = 0; ; tried++) {
      // Calls run side by side: another one may learn the same meanwhile.
      const used = this.dialect;
      try {
        return await ask(used);
      } catch (raw) {
        const change = quirkChange(used, this.classify(raw), this.quirks);
        if (!change || tried >= this.quirks.length) throw raw;
        this.dialect = { ...this.dialect, ...change };
      }
    }
  }
}
