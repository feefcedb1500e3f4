import type { Edit } from '../edits/edits';

/** What a pipeline changes: a draft, or the edits that several providers make. */
export interface Work {
  /** o200k tokens of the view. */
  readonly tokens: number;
  /** The edits made so far. */
  readonly edits: readonly Edit[];
  checkpoint(): unknown;
  /** Drops everything that was done since a checkpoint. */
  rollback(checkpoint: unknown): void;
  /** The pipeline is over: what the work has taken for itself is free for others. */
  release?(): void;
}
