/** The background worker's entry point: does the one task it was started with. */
import { parentPort, workerData } from 'node:worker_threads';
import { loadTokenCounter } from '../storage/assets';
import { serveTask } from './serveTask';
import type { Task } from './tasks';

void serveTask(
  workerData as Task,
  () => loadTokenCounter(__dirname),
  (message) => {
    parentPort?.postMessage(message);
  },
);
