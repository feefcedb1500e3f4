export interface StepReport {
  readonly name: string;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly edits: number;
  readonly timeMs: number;
  /** In US dollars; undefined if a price is unknown. */
  readonly cost: number | undefined;
  readonly calls?: number;
  readonly outcome: StepOutcome;
}

export type StepOutcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'skipped'; readonly reason: string }
  | { readonly kind: 'failed'; readonly reason: string };
