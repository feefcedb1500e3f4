/** What the rest of the product uses of the condensation core. */
export { CondensationManager, UnknownProviderError } from './manager';
export type { CondensationOutcome, CondensationRequest, ProviderInfo } from './manager';
export type { CondensationProvider, StepReport } from './types';
export { losslessProvider } from './providers/lossless';
export { truncationProvider } from './providers/truncation';
