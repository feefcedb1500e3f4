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
  extensionApi: ['core', 'conversations', 'storage'],
  background: ['core', 'conversations', 'storage', 'account', 'giveBack', 'extensionApi'],
  engine: ['core', 'conversations', 'storage', 'api', 'live', 'giveBack', 'extensionApi', 'background'],
  gateway: ['core', 'conversations', 'storage', 'api', 'live'],
  cli: ['core', 'conversations', 'storage', 'api', 'account', 'live', 'engine', 'gateway'],
  window: ['core', 'conversations', 'storage', 'api', 'settings', 'extensionApi', 'background', 'engine'],
  views: ['core', 'conversations', 'live', 'background', 'window'],
  agent: ['core', 'conversations', 'storage', 'api', 'live', 'settings', 'extensionApi', 'engine', 'gateway', 'window'],
  commands: [
    ...[
      'core',
      'conversations',
      'storage',
      'api',
      'live',
      'settings',
      'giveBack',
      'extensionApi',
      'background',
      'engine',
    ],
    ...['gateway', 'window', 'views', 'agent'],
  ],
  panel: ['core', 'settings', 'background', 'engine', 'window', 'commands'],
};
