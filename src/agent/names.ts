/** Name of the recall tool, as in package.json. */
export const RECALL_TOOL_NAME = 'contextCondenser_recall';
/** ID of the recall tool's MCP server, as in package.json. */
export const RECALL_SERVER_ID = 'contextCondenser.recall';
/** ID of the chat participant, as in package.json. */
export const PARTICIPANT_ID = 'context-condenser.condenser';

/** Name by which the terminal is found again after a reload. */
export const GATEWAY_TERMINAL_NAME = 'Gateway for agent extensions';
