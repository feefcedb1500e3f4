/** The recall tool in package.json. */
export const RECALL_TOOL = 'contextCondenser_recall';
/** The MCP server provider in package.json. */
export const RECALL_SERVER = 'contextCondenser.recall';
/** `@condenser` in package.json. */
export const PARTICIPANT = 'context-condenser.condenser';

/** Name of the terminal for the shared gateway, by which it is found after a reload. */
export const GATEWAY_TERMINAL = 'Gateway for agent extensions';
