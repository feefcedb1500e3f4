// Which folders of src/ each folder may import, lowest first: a folder imports only what stands above it here, so folders form no circle. oxlint.config.mjs makes rules of it, docs/ARCHITECTURE.md says it to people, and test/unit/layers.test.ts holds all
// three to the imports that are really there.

export const layers = {
  core: [],
  conversations: ['core'],
  storage: ['core'],
  api: ['core', 'conversations'],
  account: ['core', 'conversations', 'storage', 'api'],
  live: ['core', 'api', 'storage'],
  settings: ['core', 'api'],
  giveBack: ['core', 'conversations', 'storage'],
  background: ['core', 'conversations', 'storage', 'account', 'giveBack'],
  engine: ['core', 'conversations', 'storage', 'giveBack', 'background'],
  gateway: ['core', 'conversations', 'storage', 'api', 'live'],
  cli: ['core', 'conversations', 'storage', 'api', 'account', 'live', 'engine', 'gateway'],
  window: ['core', 'conversations', 'storage', 'api', 'settings', 'background', 'engine'],
  views: ['core', 'conversations', 'live', 'background', 'window'],
  agent: ['core', 'conversations', 'storage', 'api', 'live', 'settings', 'gateway', 'window'],
  extensionApi: ['core', 'conversations', 'storage', 'api', 'window', 'agent'],
  commands: [
    ...['core', 'conversations', 'storage', 'api', 'live', 'settings', 'giveBack', 'background', 'engine', 'gateway'],
    ...['window', 'views', 'agent', 'extensionApi'],
  ],
  panel: ['core', 'settings', 'background', 'engine', 'window', 'commands'],
};
