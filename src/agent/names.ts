/** The recall tool, as package.json declares it. */
export const RECALL_TOOL = 'contextCondenser_recall';
