/** Property tests start from one seed, so that a run in CI says something of the change and not of luck. FC_SEED sets another. */
import fc from 'fast-check';

fc.configureGlobal({ seed: Number(process.env['FC_SEED'] ?? 1) });
