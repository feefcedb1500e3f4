import type { ApiError } from './apiError';

export interface Quirk<Dialect> {
  readonly pattern: RegExp;
  readonly change: Partial<Dialect> | ((match: RegExpExecArray) => Partial<Dialect>);
}

export function findQuirkChange<Dialect extends object>(
  dialect: Dialect,
  { kind, details: { vendorMessage = '' } }: ApiError,
  quirks: readonly Quirk<Dialect>[],
): Partial<Dialect> | undefined {
  if (kind !== 'invalid-request' && kind !== 'server') return undefined;
  const isNew = (change: Partial<Dialect>): boolean => {
    const changedDialect = { ...dialect, ...change };
    return Object.keys(changedDialect).some(
      (field) => changedDialect[field as keyof Dialect] !== dialect[field as keyof Dialect],
    );
  };
  for (const { pattern, change } of quirks) {
    const match = pattern.exec(vendorMessage);
    const resolvedChange = match && (typeof change === 'function' ? change(match) : change);
    if (resolvedChange && isNew(resolvedChange)) return resolvedChange;
  }
  return undefined;
}

export class LearnedQuirks<Dialect extends object> {
  constructor(
    private dialect: Dialect,
    private readonly quirks: readonly Quirk<Dialect>[],
    private readonly classify: (raw: unknown) => ApiError,
  ) {}

  /** The loop ends because each quirk applies only once. */
  async askWithLearnedDialect<Answer>(ask: (dialect: Dialect) => PromiseLike<Answer>): Promise<Answer> {
    for (let changeCount = 0; ; changeCount++) {
      // A concurrent call may have learned the same.
      const usedDialect = this.dialect;
      try {
        return await ask(usedDialect);
      } catch (raw) {
        const change = findQuirkChange(usedDialect, this.classify(raw), this.quirks);
        if (!change || changeCount >= this.quirks.length) throw raw;
        this.dialect = { ...this.dialect, ...change };
      }
    }
  }
}
