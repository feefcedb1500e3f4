/** The entry point of the engine's thread, bundled to `dist/engine.cjs`: answers until its host ends it. */
import { parentPort } from 'node:worker_threads';
import { loadTokenCounter } from '../storage/assets';
import { serveEngine } from './serveEngine';

if (parentPort) serveEngine(parentPort, () => loadTokenCounter(__dirname));
