import type { Edit } from '../edits/edits';

/** The object that a pipeline changes: a draft, or the edits of several providers. */
export interface Work {
  /** In o200k tokens of the view. */
  readonly tokens: number;
  /** The edits so far. */
  readonly edits: readonly Edit[];
  checkpoint(): unknown;
  /** Drops everything since a checkpoint. */
  rollback(checkpoint: unknown): void;
  /** Called when the pipeline is over, to release resources. */
  release?(): void;
}
