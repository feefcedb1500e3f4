import { Worker, type ResourceLimits } from 'node:worker_threads';
import { ConversationReadError } from '../conversations/readError';
import { errorCode, errorMessage } from '../core/errors';
import { GiveBackError } from '../giveBack/giveBackError';
import { StorageError } from '../storage/storageError';
import { noteEndedThread, shareEndedThreads } from '../storage/threads';
import type { Engine } from './engine';
import { Connection } from './rpc';

/** The bundle of the engine's thread. */
export const ENGINE_BUNDLE = 'engine.cjs';

/** Two deaths within this many milliseconds, and no third engine is started by itself. */
const DEATHS_WITHIN_MS = 60_000;

/** The engine's heap, in MB: it may run out without taking the host along. */
const LIMITS: ResourceLimits = { maxOldGenerationSizeMb: 2_048 };

/** Errors that keep their class on the way from the engine. */
const ERRORS = { ConversationReadError, GiveBackError, StorageError };

/** The engine's thread ended before it had answered, or is not started again. */
export class EngineDiedError extends Error {
  override readonly name = 'EngineDiedError';

  /**
   * @param isOutOfMemory the conversation did not fit into the engine's heap.
   * @param isResting none is started until somebody wakes it.
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
  /** Called once for each death that was not asked for. `rests`: none is started until {@link EngineThread.wake}. */
  readonly onDeath?: (error: EngineDiedError, rests: boolean) => void;
  /** Of its memory; default 2 GB of heap. */
  readonly limits?: ResourceLimits;
  /** Milliseconds since any fixed moment. */
  readonly now?: () => number;
}

/** The host's end of the engine's thread: starts it when it is first needed, and anew after a death. */
export class EngineThread {
  private running: { readonly worker: Worker; readonly connection: Connection<Engine> } | undefined;
  private lastDeath = -Infinity;
  private resting: EngineDiedError | undefined;

  constructor(private readonly options: EngineThreadOptions) {}

  /** The engine, started if it is not running. @throws EngineDiedError where it died twice within a minute */
  get engine(): Engine {
    if (this.resting) {
      const { message, isOutOfMemory } = this.resting;
      throw new EngineDiedError(message, isOutOfMemory, { cause: this.resting }, true);
    }
    this.running ??= this.start();
    return this.running.connection.remote;
  }

  /** The engine may be started again after two deaths. */
  wake(): void {
    this.resting = undefined;
    this.lastDeath = -Infinity;
  }

  /** Ends the thread wherever it is; what waits for an answer fails. The next question starts another one. */
  end(): void {
    const { running } = this;
    this.running = undefined;
    running?.connection.close(new EngineDiedError('it was ended', false));
    // Not awaited: it may be in the middle of one long step.
    void running?.worker.terminate();
  }

  private start(): { readonly worker: Worker; readonly connection: Connection<Engine> } {
    shareEndedThreads();
    const worker = new Worker(this.options.bundle, { resourceLimits: this.options.limits ?? LIMITS });
    // It has none any more when it has ended.
    const { threadId } = worker;
    const connection = new Connection<Engine>(worker, () => ({}), ERRORS);
    const died = (reason: string, cause?: unknown): void => {
      const isOutOfMemory = errorCode(cause) === 'ERR_WORKER_OUT_OF_MEMORY';
      const error = new EngineDiedError(reason, isOutOfMemory, { cause });
      connection.close(error);
      if (this.running?.worker !== worker) return;
      this.running = undefined;
      this.noteDeath(error);
    };
    worker.once('error', (error: unknown) => {
      died(errorMessage(error), error);
    });
    worker.once('messageerror', (error: unknown) => {
      died(errorMessage(error), error);
      void worker.terminate();
    });
    worker.once('exit', (code) => {
      noteEndedThread(threadId);
      died(`it ended with code ${code} before it answered`);
    });
    return { worker, connection };
  }

  private noteDeath(error: EngineDiedError): void {
    const { onDeath, now = () => performance.now() } = this.options;
    const at = now();
    if (at - this.lastDeath < DEATHS_WITHIN_MS) this.resting = error;
    this.lastDeath = at;
    onDeath?.(error, this.resting !== undefined);
  }
}
