/** The environment by which the runner speaks to the suite in the extension host. */
export const resultsVariable = 'CONTEXT_CONDENSER_E2E_RESULTS';
export const onlyVariable = 'CONTEXT_CONDENSER_E2E_ONLY';
/** The id of the extension under test, "publisher.name". */
export const extensionVariable = 'CONTEXT_CONDENSER_E2E_EXTENSION';
/** The state in which a window is left alone to be watched (idle.ts); absent: none is. */
export const idleVariable = 'CONTEXT_CONDENSER_E2E_IDLE';
/** What is done with the extension before the window is left alone. */
export const IDLE_STATES = ['not active', 'active', 'its view shown', '2,000 sessions listed'] as const;
export type IdleState = (typeof IDLE_STATES)[number];
