export interface WindowOptions {
  readonly path: string;
  /** Folders of the ledgers, and of the replacements. */
  readonly store: string;
  readonly replacements: string;
  readonly bundles: string;
  readonly seed: number;
}

export interface Did {
  readonly did: 'condensed' | 'undone' | 'given' | 'taken back' | 'refused' | 'nothing';
  /**
   * Figures of the condensation, the path of the file that was written, or the reason for the
   * refusal.
   */
  readonly as?: string;
}

export const ROUNDS = 24;
