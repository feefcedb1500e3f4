/** The preview's worker's entry point: answers until the host ends it. */
import { parentPort } from 'node:worker_threads';
import { loadTokenCounter } from '../../storage/assets';
import { serveForecasts } from './serveForecasts';

parentPort?.on(
  'message',
  serveForecasts(loadTokenCounter(__dirname), (message) => {
    parentPort?.postMessage(message);
  }),
);
