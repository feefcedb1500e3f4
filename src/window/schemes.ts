export const COMPARISON_SCHEME = 'context-condenser';

/**
 * Language of rendered conversations (`contributes.languages` in package.json), and the folder by
 * which VS Code assigns it.
 */
export const CONVERSATION_LANGUAGE = 'condenser-conversation';
export const CONVERSATION_FOLDER = '.condenser-conversation';

export const ORIGINAL_SCHEME = 'context-condenser-original';
