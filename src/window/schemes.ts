/** Schemes of the read-only documents that the extension shows. */

/** A conversation before and after. */
export const COMPARISON_SCHEME = 'context-condenser';

/** The language of rendered conversations (`contributes.languages` in package.json), and the folder that tells VS Code which documents have it. */
export const CONVERSATION_LANGUAGE = 'condenser-conversation';
export const CONVERSATION_FOLDER = '.condenser-conversation';

/** The original of a reference. */
export const ORIGINAL_SCHEME = 'context-condenser-original';
