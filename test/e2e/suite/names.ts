/** The environment by which the runner speaks to the suite in the extension host. */
export const resultsVariable = 'CONTEXT_CONDENSER_E2E_RESULTS';
export const onlyVariable = 'CONTEXT_CONDENSER_E2E_ONLY';
/** The id of the extension under test, "publisher.name". */
export const extensionVariable = 'CONTEXT_CONDENSER_E2E_EXTENSION';
