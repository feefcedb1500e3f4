// Lists which folders of src/ each folder may import, lowest first. A folder imports only folders
// that come before it, so there are no cycles. oxlint.config.mjs makes rules of this list,
// docs/ARCHITECTURE.md describes it, and test/unit/layers.test.ts compares all three with the
// actual imports.

export const layers = {
  core: [],
  pages: ['core'],
  conversations: ['core'],
  storage: ['core'],
  api: ['core', 'conversations'],
  account: ['core', 'conversations', 'storage', 'api'],
  live: ['core', 'api', 'storage'],
  settings: ['core', 'api'],
  giveBack: ['core', 'conversations', 'storage'],
  extensionApi: ['core', 'conversations', 'storage'],
  background: ['core', 'pages', 'conversations', 'storage', 'account', 'giveBack', 'extensionApi'],
  engine: ['core', 'conversations', 'storage', 'api', 'live', 'giveBack', 'extensionApi', 'background'],
  gateway: ['core', 'conversations', 'storage', 'api', 'live'],
  cli: ['core', 'pages', 'conversations', 'storage', 'api', 'account', 'live', 'engine', 'gateway'],
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

/**
 * For each folder, the folders that it may import from, lowest layer first. Type imports count,
 * too.
 */
export const floors = {
  'src/core': {
    agents: [],
    cost: [],
    messages: ['agents'],
    vendors: ['cost'],
    json: ['messages'],
    secrets: ['messages'],
    tokens: ['messages'],
    condense: ['agents', 'cost', 'messages', 'secrets', 'tokens'],
    account: ['agents', 'cost', 'messages', 'secrets', 'tokens', 'condense'],
  },
  'src/core/condense': {
    edits: [],
    lines: [],
    trigger: [],
    draft: ['edits'],
    ledger: ['edits', 'lines'],
    operations: ['draft'],
    outline: ['lines', 'draft'],
    lossless: ['edits', 'lines', 'draft', 'operations'],
    relevance: ['lines', 'operations', 'outline'],
    summary: ['trigger', 'draft', 'operations', 'lossless'],
    coherence: ['edits', 'operations', 'lossless', 'summary'],
    metrics: ['trigger', 'ledger', 'summary'],
    providers: ['edits', 'trigger', 'draft', 'operations', 'outline', 'lossless', 'relevance', 'summary', 'coherence'],
    report: ['edits', 'coherence'],
    futureNeed: ['edits', 'lines', 'providers'],
  },
};
