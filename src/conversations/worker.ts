/** The reader's worker, bundled to `dist/readerWorker.cjs`: one file, one reply, done. */
import { parentPort, workerData } from 'node:worker_threads';
import { type WorkerRequest, replyTo } from './workerReply';

parentPort?.postMessage(replyTo(workerData as WorkerRequest));
