import { Worker, type ResourceLimits } from 'node:worker_threads';
import { ConversationReadError } from '../conversations/readError';
import { getErrorCode, getErrorMessage } from '../core/errors';
import { GiveBackError } from '../giveBack/giveBackError';
import { StorageError } from '../storage/storageError';
import { recordEndedThread, shareEndedThreads } from '../storage/threads';
import type { Engine } from './engine';
import { RpcConnection } from './rpc';

export const ENGINE_BUNDLE = 'engine.cjs';

/** If the engine dies twice within this many milliseconds, it is not restarted automatically. */
const DEATH_WINDOW_MS = 60_000;

/** If the engine exceeds this heap, only its thread ends, not the host. */
const ENGINE_RESOURCE_LIMITS: ResourceLimits = { maxOldGenerationSizeMb: 2_048 };

/** Classes of errors that stay instances of their class across threads. */
const TRANSFERABLE_ERRORS = { ConversationReadError, GiveBackError, StorageError };

/** The engine's thread ended before answering, or can't be restarted. */
export class EngineDiedError extends Error {
  override readonly name = 'EngineDiedError';

  /**
   * @param isOutOfMemory true if the conversation did not fit into the engine's heap
   * @param isResting true if no engine starts until {@link EngineThread.wakeThread}
   */
  constructor(
    reason: string,
    readonly isOutOfMemory: boolean,
    options?: ErrorOptions,
    readonly isResting = false,
  ) {
    super(reason, options);
  }
}

export interface EngineThreadOptions {
  /** Path of {@link ENGINE_BUNDLE}. */
  readonly bundle: string;
  /**
   * Called for each unexpected end of the thread. `rests`: the engine is not restarted until {@link
   * EngineThread.wakeThread}.
   */
  readonly onDeath?: (error: EngineDiedError, rests: boolean) => void;
  /** Default: 2 GB of heap. */
  readonly limits?: ResourceLimits;
  /** Returns milliseconds of a monotonic clock. */
  readonly now?: () => number;
}

export class EngineThread {
  private running: { readonly worker: Worker; readonly connection: RpcConnection<Engine> } | undefined;
  private lastDeath = -Infinity;
  private resting: EngineDiedError | undefined;

  constructor(private readonly options: EngineThreadOptions) {}

  /**
   * Starts the engine if necessary.
   * @throws EngineDiedError if it died twice within a minute
   */
  get engine(): Engine {
    if (this.resting) {
      const { message, isOutOfMemory } = this.resting;
      throw new EngineDiedError(message, isOutOfMemory, { cause: this.resting }, true);
    }
    this.running ??= this.startWorker();
    return this.running.connection.remote;
  }

  /** Allows restarting after two deaths. */
  wakeThread(): void {
    this.resting = undefined;
    this.lastDeath = -Infinity;
  }

  /** Terminates the thread immediately; pending calls reject. The next call starts a new one. */
  endThread(): void {
    const { running } = this;
    this.running = undefined;
    running?.connection.close(new EngineDiedError('it was ended', false));
    // Not awaited, because the thread may be in a long synchronous step.
    void running?.worker.terminate();
  }

  private startWorker(): { readonly worker: Worker; readonly connection: RpcConnection<Engine> } {
    shareEndedThreads();
    const worker = new Worker(this.options.bundle, { resourceLimits: this.options.limits ?? ENGINE_RESOURCE_LIMITS });
    // Read now, because the worker resets its `threadId` when the thread ends.
    const { threadId } = worker;
    const connection = new RpcConnection<Engine>(worker, () => ({}), TRANSFERABLE_ERRORS);
    const recordThreadEnd = (reason: string, cause?: unknown): void => {
      const isOutOfMemory = getErrorCode(cause) === 'ERR_WORKER_OUT_OF_MEMORY';
      const error = new EngineDiedError(reason, isOutOfMemory, { cause });
      connection.close(error);
      if (this.running?.worker !== worker) return;
      this.running = undefined;
      this.recordDeath(error);
    };
    worker.once('error', (error: unknown) => {
      recordThreadEnd(getErrorMessage(error), error);
    });
    worker.once('messageerror', (error: unknown) => {
      recordThreadEnd(getErrorMessage(error), error);
      void worker.terminate();
    });
    worker.once('exit', (code) => {
      recordEndedThread(threadId);
      recordThreadEnd(`it ended with code ${code} before it answered`);
    });
    return { worker, connection };
  }

  private recordDeath(error: EngineDiedError): void {
    const { onDeath, now = () => performance.now() } = this.options;
    const deathTime = now();
    if (deathTime - this.lastDeath < DEATH_WINDOW_MS) this.resting = error;
    this.lastDeath = deathTime;
    onDeath?.(error, this.resting !== undefined);
  }
}
