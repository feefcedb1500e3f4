/** Entry point of the engine's thread, bundled to `dist/engine.cjs`. */
import { parentPort } from 'node:worker_threads';
import { loadTokenCounter } from '../storage/assets';
import { serveEngine } from './serveEngine';

if (parentPort) serveEngine(parentPort, () => loadTokenCounter(__dirname));
