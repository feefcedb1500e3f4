import type { Edit } from '../edits/edits';

/** What a pipeline changes: a draft, or the edits of several providers. */
export interface PipelineWork {
  /** o200k tokens of the view. */
  readonly tokens: number;
  readonly edits: readonly Edit[];
  saveState(): unknown;
  restoreState(checkpoint: unknown): void;
  releaseResources?(): void;
}
