/** Must match package.json. */
export const RECALL_TOOL_NAME = 'contextCondenser_recall';
/** Must match package.json. */
export const RECALL_SERVER_ID = 'contextCondenser.recall';
/** Must match package.json. */
export const PARTICIPANT_ID = 'context-condenser.condenser';

/** The terminal is found by this name after a reload. */
export const GATEWAY_TERMINAL_NAME = 'Gateway for agent extensions';
