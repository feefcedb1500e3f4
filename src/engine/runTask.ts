import type { ResourceLimits } from 'node:worker_threads';
import type { ProviderCalls } from '../extensionApi/remoteProvider';
import type { HostModels } from '../background/hostModels';
import type { Task, TaskProgress, TaskResult } from '../background/tasks';
import { EngineDiedError, EngineThread } from './engineThread';

export interface RunTaskOptions {
  /** Path of the engine's bundle. */
  readonly bundle: string;
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: TaskProgress) => void;
  /** Those that the task may ask. */
  readonly models?: HostModels | undefined;
  readonly providers?: ProviderCalls | undefined;
}

/**
 * The index runs for minutes beside everything else: with a small heap V8 collects early instead of growing. A file of the
 * largest size that is counted fits.
 */
const INDEX_LIMITS: ResourceLimits = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16 };

/**
 * Runs a task in an engine of its own, so that nothing else waits for it. An abort ends the thread at once, wherever it is; what it
 * was writing is safe, for the ledger's writes are whole or not there.
 * @throws the signal's reason where it was aborted; what {@link Engine.perform} throws; Error where the engine died.
 */
export async function runTask<T extends Task>(task: T, options: RunTaskOptions): Promise<TaskResult<T>> {
  const { bundle, signal, onProgress, models, providers } = options;
  signal.throwIfAborted();
  const isSmall = task.kind === 'index' || (task.kind === 'account' && !task.with);
  const thread = new EngineThread({ bundle, ...(isSmall && { limits: INDEX_LIMITS }) });
  try {
    return await thread.engine.perform(
      task,
      (progress) => onProgress?.(progress),
      signal,
      models?.select,
      models?.summarize,
      models?.warn,
      providers?.condense,
      providers?.estimate,
    );
  } catch (error) {
    if (!(error instanceof EngineDiedError)) throw error;
    throw new Error(`The background work stopped: ${error.message}. Nothing was changed.`, { cause: error });
  } finally {
    thread.end();
  }
}
