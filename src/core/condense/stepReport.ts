/** One step of a condensation and what it did (NFR-U-002). */
export interface StepReport {
  readonly name: string;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly edits: number;
  /** Milliseconds. */
  readonly timeMs: number;
  /** US dollars; undefined where a price is not known. */
  readonly cost: number | undefined;
  /** Calls to a model; absent where there were none. */
  readonly calls?: number;
  readonly outcome: StepOutcome;
}

export type StepOutcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'skipped'; readonly reason: string }
  /** All changes of the step were dropped. */
  | { readonly kind: 'failed'; readonly reason: string };
