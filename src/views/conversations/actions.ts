/** Each action is the command `contextCondenser.conversations.<name>`. */
export const CONVERSATION_ACTIONS = [
  'open',
  'openRaw',
  'condense',
  'condenseWith',
  'preview',
  'details',
  'diff',
  'undo',
  'redo',
  'history',
  'export',
  'read',
  'saveReport',
  'pin',
  'originals',
  'giveBack',
  'undoGiveBack',
  'runCondensed',
  'resume',
  'search',
  'filter',
  'clearFilter',
  'refresh',
  'showMore',
] as const;
export type ConversationAction = (typeof CONVERSATION_ACTIONS)[number];

export const CONVERSATIONS_VIEW_ID = 'contextCondenser.conversations';
