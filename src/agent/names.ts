/** The recall tool, as package.json declares it. */
export const RECALL_TOOL = 'contextCondenser_recall';
/** The provider of the MCP server with recall, as package.json names it. */
export const RECALL_SERVER = 'contextCondenser.recall';
/** `@condenser`, as package.json has it. */
export const PARTICIPANT = 'context-condenser.condenser';

/** The terminal of the gateway for agent extensions: found again by it after a reload. */
export const GATEWAY_TERMINAL = 'Gateway for agent extensions';
