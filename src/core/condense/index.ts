/** The parts of the condensation core that the rest of the product uses. */
export { CondensationManager } from './manager';
export type { CondensationOutcome, CondensationRequest, OutcomeSummary } from './condensation';
export type { CondensationProvider, StepReport } from './types';
export { condenseIfNeeded, type AutomaticRequest } from './automatic';
export { condenseWithFallback, type FallbackPolicy } from './fallback';
export { losslessProvider } from './providers/lossless';
export { nativeProvider } from './providers/native';
export { smartProvider } from './providers/smart';
export { truncationProvider } from './providers/truncation';
export { createProviders } from './providers/createProviders';
