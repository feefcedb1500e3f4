import type { Edit } from '../edits/edits';

/** What a pipeline changes: a draft, or the edits of several providers. */
export interface Work {
  /** o200k tokens of the view. */
  readonly tokens: number;
  readonly edits: readonly Edit[];
  checkpoint(): unknown;
  rollback(checkpoint: unknown): void;
  release?(): void;
}
