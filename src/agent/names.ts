/** The recall tool in package.json. */
export const RECALL_TOOL_NAME = 'contextCondenser_recall';
/** The MCP server provider in package.json. */
export const RECALL_SERVER_ID = 'contextCondenser.recall';
/** `@condenser` in package.json. */
export const PARTICIPANT_ID = 'context-condenser.condenser';

/** Name of the terminal for the shared gateway, by which it is found after a reload. */
export const GATEWAY_TERMINAL_NAME = 'Gateway for agent extensions';
