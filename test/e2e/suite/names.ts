/** Environment variables that the runner sets for the suite. */
export const resultsVariable = 'CONTEXT_CONDENSER_E2E_RESULTS';
export const onlyVariable = 'CONTEXT_CONDENSER_E2E_ONLY';
export const extensionVariable = 'CONTEXT_CONDENSER_E2E_EXTENSION';
/** The idle state to measure (idle.ts). If absent, none is measured. */
export const idleVariable = 'CONTEXT_CONDENSER_E2E_IDLE';
/** What was done before the window is left idle. */
export const IDLE_STATES = ['not active', 'active', 'its view shown', '2,000 sessions listed'] as const;
export type IdleState = (typeof IDLE_STATES)[number];
