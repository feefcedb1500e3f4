// Which folders of src/ each folder may import. eslint.config.mjs makes its rules of this; docs/ARCHITECTURE.md says it to people.

/** Those that stand here import what is named and nothing else of src/. */
export const layers = {
  core: [],
  conversations: ['core'],
  storage: ['core'],
  api: ['core', 'conversations'],
  live: ['core', 'api', 'storage'],
  settings: ['core', 'api'],
  giveBack: ['core', 'conversations', 'storage'],
  background: ['core', 'conversations', 'storage', 'giveBack'],
  gateway: ['core', 'conversations', 'storage', 'api', 'live'],
  cli: ['core', 'conversations', 'storage', 'api', 'live', 'gateway'],
};

/** Those that know VS Code import each other and all layers; only src/extension.ts imports them all. */
export const editorFolders = ['window', 'agent', 'commands', 'extensionApi', 'panel', 'views'];
