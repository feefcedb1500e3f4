import type { ResourceLimits } from 'node:worker_threads';
import type { ProviderCallHandlers } from '../extensionApi/remoteProvider';
import type { HostModels } from '../background/hostModels';
import type { Task, TaskProgress, TaskResult } from '../background/tasks';
import { EngineDiedError, EngineThread } from './engineThread';

export interface RunTaskOptions {
  readonly bundle: string;
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: TaskProgress) => void;
  readonly models?: HostModels | undefined;
  readonly providers?: ProviderCallHandlers | undefined;
}

/**
 * A small heap makes V8 collect garbage early, because the index runs for minutes. The largest file
 * that is counted fits in it.
 */
const INDEX_RESOURCE_LIMITS: ResourceLimits = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16 };

/**
 * Aborting terminates the thread, which is safe because ledger writes are atomic.
 * @throws the signal's reason; what `Engine.perform` throws; Error if the engine died
 */
export async function runTask<T extends Task>(task: T, options: RunTaskOptions): Promise<TaskResult<T>> {
  const { bundle, signal, onProgress, models, providers } = options;
  signal.throwIfAborted();
  const needsLittleMemory = task.kind === 'index' || (task.kind === 'account' && !task.with);
  const thread = new EngineThread({ bundle, ...(needsLittleMemory && { limits: INDEX_RESOURCE_LIMITS }) });
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
    thread.endThread();
  }
}
