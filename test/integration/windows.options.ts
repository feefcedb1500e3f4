export interface WindowOptions {
  readonly path: string;
  /** Folders of ledgers and replacements. */
  readonly store: string;
  readonly replacements: string;
  readonly bundles: string;
  readonly seed: number;
}

export interface Did {
  readonly did: 'condensed' | 'undone' | 'given' | 'taken back' | 'refused' | 'nothing';
  /** Figures of the condensation, the written file, or why it was refused. */
  readonly as?: string;
}

export const ROUNDS = 24;
