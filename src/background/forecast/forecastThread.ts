/** The host's end of the preview's worker: started with the first question, ended when nobody has asked for a while. */
import { Worker } from 'node:worker_threads';
import { errorMessage } from '../../core/errors';
import { unchanged, updateOf } from './listUpdate';
import type { FromForecastWorker, LiveContent, ForecastAnswer, ForecastRequest, ToForecastWorker } from './messages';

export interface ForecastThreadOptions {
  /** The bundled worker. */
  readonly workerPath: string;
  /** Milliseconds without a question after which it ends; default a minute. */
  readonly idleMs?: number;
  /** Why an answer never came, in the user's language. */
  readonly ended: (reason: string) => string;
}

/** Room for the largest file that is previewed, several times over. */
const LIMITS = { maxOldGenerationSizeMb: 1_024 };

const NO_CONTENT: LiveContent = { messages: [], edits: [] };

interface Pending {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

interface Running {
  readonly worker: Worker;
  /** Contents of live conversations that the worker has, by id. */
  readonly contents: Map<string, LiveContent>;
}

export class ForecastThread {
  private running: Running | undefined;
  private readonly pending = new Map<number, Pending>();
  private nextId = 1;
  private idle: NodeJS.Timeout | undefined;

  constructor(private readonly options: ForecastThreadOptions) {}

  /**
   * @throws Error with what the worker said, or that it ended; the signal's reason where it was aborted. The next question
   * starts a new worker.
   */
  async ask<R extends ForecastRequest>(request: R, signal: AbortSignal): Promise<ForecastAnswer<R>> {
    signal.throwIfAborted();
    clearTimeout(this.idle);
    const running = (this.running ??= this.start());
    const id = this.nextId++;
    const cancel = (): void => {
      this.pending.get(id)?.reject(signal.reason as Error);
      this.post(running, { type: 'cancel', id });
    };
    signal.addEventListener('abort', cancel);
    try {
      // A request is answered with its own kind of result.
      return (await new Promise<unknown>((resolve, reject) => {
        this.pending.set(id, { resolve, reject });
        this.post(running, { type: 'ask', id, request: this.withoutContent(request, running) });
      })) as ForecastAnswer<R>;
    } finally {
      signal.removeEventListener('abort', cancel);
      this.pending.delete(id);
      if (this.pending.size === 0) this.endLater();
    }
  }

  /** Whether it has something to answer. */
  get isAsked(): boolean {
    return this.pending.size > 0;
  }

  /** Ends the worker; what was asked fails. */
  end(): void {
    clearTimeout(this.idle);
    const { running } = this;
    this.running = undefined;
    void running?.worker.terminate();
    this.failAll('closed');
  }

  private start(): Running {
    const worker = new Worker(this.options.workerPath, { resourceLimits: LIMITS });
    const running: Running = { worker, contents: new Map() };
    worker.on('message', (message: FromForecastWorker) => {
      const pending = this.pending.get(message.id);
      if (message.type === 'answer') pending?.resolve(message.result);
      else pending?.reject(new Error(message.message));
    });
    const lost = (reason: string): void => {
      if (this.running !== running) return;
      this.running = undefined;
      this.failAll(reason);
    };
    worker.once('error', (error: unknown) => {
      lost(errorMessage(error));
    });
    worker.once('exit', (code) => {
      lost(`exit code ${code}`);
    });
    return running;
  }

  /** The request without the content of a live conversation, once the worker has been told what is new of it. */
  private withoutContent(request: ForecastRequest, running: Running): ForecastRequest {
    const { conversation } = request;
    if (conversation.kind !== 'live' || !conversation.content) return request;
    const { content, ...rest } = conversation;
    const known = running.contents.get(rest.id) ?? NO_CONTENT;
    const messages = updateOf(known.messages, content.messages);
    const edits = updateOf(known.edits, content.edits);
    if (messages || edits) {
      running.contents.set(rest.id, content);
      const update = { messages: messages ?? unchanged(known.messages), edits: edits ?? unchanged(known.edits) };
      this.post(running, { type: 'live', id: rest.id, update });
    }
    return { ...request, conversation: rest };
  }

  private post({ worker }: Running, message: ToForecastWorker): void {
    worker.postMessage(message);
  }

  private failAll(reason: string): void {
    for (const { reject } of this.pending.values()) reject(new Error(this.options.ended(reason)));
    this.pending.clear();
  }

  private endLater(): void {
    this.idle = setTimeout(() => {
      this.end();
    }, this.options.idleMs ?? 60_000);
    this.idle.unref();
  }
}
