/**
 * In the place of `node:worker_threads` in unit and panel tests: our workers run in the tests' process, on copies of what they are sent.
 * A thread of its own reads two megabytes of bundle and the token table first, each time. Threads are tested in `*.system.test.ts`.
 */
import { EventEmitter } from 'node:events';
import { inject } from 'vitest';
import { serveForecasts } from '../../src/background/forecast/serveForecasts';
import { serveTask } from '../../src/background/serveTask';
import type { Task } from '../../src/background/tasks';
import type { ToForecastWorker } from '../../src/background/forecast/messages';
import { serveEngine } from '../../src/engine/serveEngine';
import type { Message } from '../../src/engine/rpc';
import { loadTokenCounter } from '../../src/storage/assets';
import { basename } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type {} from './ranks';

/** Ends a worker's code: a thread stops wherever it is when it is terminated, this one where it sends a message. */
class Terminated extends Error {}

export class Worker extends EventEmitter {
  private isEnded = false;
  private receive: (message: never) => void = () => undefined;

  constructor(path: string, { workerData }: { readonly workerData?: unknown } = {}) {
    super();
    const tokens = () => loadTokenCounter(inject('assets'));
    const send = (message: unknown): void => {
      if (!this.isEnded) this.emit('message', structuredClone(message));
      if (this.isEnded) throw new Terminated();
    };
    // Each was started with what its own side sends.
    const data = structuredClone(workerData);
    switch (basename(path)) {
      case 'worker.cjs':
        this.run(() => serveTask(data as Task, tokens, send));
        break;
      case 'engine.cjs':
        serveEngine({
          postMessage: (message) => {
            const copy = structuredClone(message);
            setImmediate(() => {
              if (!this.isEnded) this.emit('message', copy);
            });
          },
          on: (_event, listener) => (this.receive = listener),
        });
        break;
      case 'forecastWorker.cjs':
        this.receive = serveForecasts(tokens(), (message) => {
          if (!this.isEnded) this.emit('message', structuredClone(message));
        });
        break;
      default:
        throw new Error(`No worker of ours: ${path}`);
    }
  }

  postMessage(message: ToForecastWorker | Message): void {
    const copy = structuredClone(message);
    setImmediate(() => {
      // Each worker is sent its own kind of message.
      if (!this.isEnded) this.receive(copy as never);
    });
  }

  terminate(): Promise<number> {
    this.tell('exit', 1);
    this.isEnded = true;
    return Promise.resolve(1);
  }

  private run(work: () => void | Promise<void>): void {
    const done = nextTurn().then(work);
    done.then(
      () => {
        this.tell('exit', 0);
      },
      (error: unknown) => {
        if (!(error instanceof Terminated)) this.tell('error', error);
      },
    );
  }

  private tell(event: string, value: unknown): void {
    if (this.isEnded) return;
    queueMicrotask(() => {
      if (!this.isEnded || event === 'exit') this.emit(event, value);
    });
  }
}
