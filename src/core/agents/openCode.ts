/**
 * OpenCode and its fork Kilo (from 7). Sources: sessions of 1.2 to 1.18, tools declared by OpenCode
 * 1.18.33 and Kilo 7.7.7.
 */
import type { Agent, StoreRow, AgentToolRules } from './types';

const ANY_NAME = /^/;

/**
 * OpenCode and Kilo use `XDG_DATA_HOME` on every system; some macOS and Windows builds use the
 * system's own folder.
 */
const listStoreRows = (name: string): StoreRow[] =>
  [`<data>/${name}`, `<local>/${name}`].flatMap((root): StoreRow[] => [
    { root, steps: [new RegExp(`^${name}(?:-[\\w.-]+)?\\.db$`)], kind: 'database' },
    { root: `${root}/storage/session`, steps: [ANY_NAME, /^ses_\w+\.json$/], kind: 'session' },
  ]);

const openCodeTools = {
  read: {
    kind: 'read',
    path: ['filePath'],
    range: { first: ['offset'], count: ['limit'] },
    numbers: ['colon', 'bar'],
  },
  edit: { kind: 'edit', path: ['filePath'], old: ['oldString'], new: ['newString'] },
  multiedit: { kind: 'edit', path: ['filePath'], old: ['edits[].oldString'], new: ['edits[].newString'] },
  write: { kind: 'write', path: ['filePath'], content: ['content'] },
  apply_patch: { kind: 'edit', patch: ['patchText'] },
  patch: { kind: 'edit', patch: ['patchText'] },
  bash: { kind: 'command', command: ['command'] },
  grep: { kind: 'search', path: ['path'], pattern: ['pattern'] },
  glob: { kind: 'list', path: ['path'], pattern: ['pattern'] },
  list: { kind: 'list', path: ['path'] },
  todowrite: { kind: 'plan' },
  todoread: { kind: 'plan' },
  question: { kind: 'other', person: true },
  plan_exit: { kind: 'other', person: true },
  webfetch: { kind: 'fetch' },
  websearch: { kind: 'fetch' },
  codesearch: { kind: 'fetch' },
  task: { kind: 'agent' },
  skill: { kind: 'other' },
  lsp: { kind: 'other' },
  batch: { kind: 'other' },
} as const satisfies AgentToolRules;

export const openCode = {
  name: 'OpenCode',
  formats: ['opencode'],
  seen: { versions: '1.2 to 1.18', on: 'real sessions' },
  stores: listStoreRows('opencode'),
  tools: openCodeTools,
  preamble: {
    elements: ['system-reminder'],
    // OpenCode does not mark the texts that it adds: files that it read for a prompt, and its
    // request to continue.
    openings: [
      /^Called the (?:Read|read|List|list) tool with the following input: \{[\s\S]*/,
      /^<path>[^<\n]*<\/path>\n<type>(?:file|directory)<\/type>\n[\s\S]*/,
      /^Continue if you have next steps, or stop and ask for clarification if you are unsure how to proceed\.$/,
    ],
  },
  giveBack: undefined,
  live: { through: 'gateway', command: 'opencode' },
} as const satisfies Agent;

/** Tools of Kilo 7 and of the VS Code extension up to 5, which belongs to the Roo family. */
export const kiloTools = {
  ...openCodeTools,
  background_process: { kind: 'command', command: ['command'] },
  board_post: { kind: 'other' },
  board_read: { kind: 'other' },
  kilo_local_recall: { kind: 'other' },
  schedule_wakeup: { kind: 'other' },
  cancel_wakeup: { kind: 'other' },
} as const satisfies AgentToolRules;

export const kiloStores = listStoreRows('kilo');
