/**
 * Roo Code and relatives: Zoo Code, Kilo Code up to 5, Cline. Sources: tasks of October 2025 and of
 * Cline 4, tools declared by Cline 3.0.65, public tool definitions.
 */
import { kiloStores, kiloTools } from './openCode';
import type { Agent, PromptPreamble, StoreRow, AgentToolRules } from './types';

const ANY_NAME = /^/;
const TASK_FILE_STEPS = [ANY_NAME, 'api_conversation_history.json'] as const;

const makeTaskStore = (extension: string): StoreRow => ({
  root: `<user>/globalStorage/${extension}/tasks`,
  steps: TASK_FILE_STEPS,
});

const RANGE_PARAMETERS = { first: ['start_line', 'offset'], last: ['end_line'], count: ['limit'] } as const;

const commonTools = {
  read_file: {
    kind: 'read',
    path: ['path', 'file_path', 'files[].path'],
    range: RANGE_PARAMETERS,
    numbers: ['pipe'],
    xml: true,
  },
  write_to_file: { kind: 'write', path: ['path'], content: ['content'], xml: true },
  execute_command: { kind: 'command', command: ['command'], xml: true },
  list_files: { kind: 'list', path: ['path'], xml: true },
  list_code_definition_names: { kind: 'list', path: ['path'], xml: true },
  search_files: { kind: 'search', path: ['path'], pattern: ['regex'], xml: true },
  ask_followup_question: { kind: 'other', person: true },
  attempt_completion: { kind: 'other', person: true },
  new_task: { kind: 'agent', xml: true },
  use_mcp_tool: { kind: 'other', xml: true },
  access_mcp_resource: { kind: 'fetch', xml: true },
  browser_action: { kind: 'other', xml: true },
  condense: { kind: 'other' },
  skill: { kind: 'other' },
} as const satisfies AgentToolRules;

const rooTools = {
  ...commonTools,
  apply_diff: { kind: 'edit', path: ['path'], old: ['search'], new: ['diff', 'content', 'replace'], xml: true },
  insert_content: { kind: 'edit', path: ['path'], old: [], new: ['content'], xml: true },
  search_and_replace: {
    kind: 'edit',
    path: ['path', 'file_path'],
    old: ['search', 'old_string', 'operations[].search'],
    new: ['replace', 'new_string', 'operations[].replace'],
    xml: true,
  },
  search_replace: { kind: 'edit', path: ['file_path', 'path'], old: ['old_string'], new: ['new_string'] },
  edit: { kind: 'edit', path: ['file_path', 'path'], old: ['old_string'], new: ['new_string'] },
  edit_file: { kind: 'edit', path: ['file_path', 'path'], old: ['old_string'], new: ['new_string', 'content'] },
  apply_patch: { kind: 'edit', patch: ['patch'] },
  codebase_search: { kind: 'search', path: ['path'], pattern: ['query'], xml: true },
  read_command_output: { kind: 'command', command: [] },
  update_todo_list: { kind: 'plan', xml: true },
  fetch_instructions: { kind: 'other', xml: true },
  switch_mode: { kind: 'other' },
  run_slash_command: { kind: 'other' },
  generate_image: { kind: 'other' },
} as const satisfies AgentToolRules;

const rooPreamble: PromptPreamble = {
  elements: [
    'environment_details',
    'file_content',
    'folder_content',
    'url_content',
    'workspace_diagnostics',
    'explicit_instructions',
    'system_notice',
  ],
  openings: [
    // Tool results as text, from before native tool calls.
    /^\[[\w-]+(?: for .*)?\] Result:[\s\S]*/,
    /^\[Sliding window truncation[\s\S]*/,
    /^\[ERROR\] [\s\S]*/,
  ],
  wrappers: ['task', 'user_message', 'user_input', 'feedback', 'answer'],
};

/** Roo and Zoo continue a conversation from changed files in its task folder. */
const makeRooGiveBack = (extension: RegExp) =>
  ({
    target: 'roo-task',
    path: new RegExp(
      `[\\\\/]${extension.source}[\\\\/]tasks[\\\\/][^\\\\/]+[\\\\/]api_conversation_history\\.json$`,
      'i',
    ),
    customPath: /[\\/]tasks[\\/][^\\/]+[\\/]api_conversation_history\.json$/,
  }) as const;

export const roo = {
  name: 'Roo Code',
  formats: ['roo'],
  seen: { versions: '3.28 (October 2025)', on: 'real sessions' },
  stores: [
    makeTaskStore('rooveterinaryinc.roo-cline'),
    // The command-line version stores tasks in VS Code's layout.
    { root: '~/.vscode-mock/global-storage/tasks', steps: TASK_FILE_STEPS },
  ],
  settings: 'roo-cline',
  tools: rooTools,
  preamble: rooPreamble,
  giveBack: makeRooGiveBack(/rooveterinaryinc\.roo-cline/),
  live: { through: 'nothing' },
} as const satisfies Agent;

export const zoo = {
  name: 'Zoo Code',
  formats: ['roo'],
  seen: { versions: 'those of Roo Code', on: 'hand-written sessions' },
  stores: [makeTaskStore('zoocodeorganization.zoo-code')],
  settings: 'zoo-code',
  tools: rooTools,
  preamble: rooPreamble,
  giveBack: makeRooGiveBack(/zoocodeorganization\.zoo-code/),
  live: { through: 'nothing' },
} as const satisfies Agent;

export const kilo = {
  name: 'Kilo Code',
  formats: ['roo', 'opencode'],
  seen: { versions: 'those of Roo Code and OpenCode', on: 'hand-written sessions' },
  stores: [makeTaskStore('kilocode.kilo-code'), ...kiloStores],
  settings: 'kilo-code',
  tools: { ...rooTools, ...kiloTools },
  preamble: rooPreamble,
  giveBack: undefined,
  live: { through: 'gateway', command: 'kilo' },
} as const satisfies Agent;

export const cline = {
  name: 'Cline',
  formats: ['roo'],
  seen: { versions: '4 and 3.0.65', on: 'real sessions' },
  stores: [
    makeTaskStore('saoudrizwan.claude-dev'),
    { root: '${CLINE_DATA_DIR:-${CLINE_DIR:-~/.cline}/data}/tasks', steps: TASK_FILE_STEPS },
    {
      root: '${CLINE_SESSION_DATA_DIR:-${CLINE_DATA_DIR:-${CLINE_DIR:-~/.cline}/data}/sessions}',
      steps: [ANY_NAME, /\.messages\.json$/],
    },
  ],
  tools: {
    ...commonTools,
    read_files: {
      kind: 'read',
      path: ['files[].path', 'path'],
      range: { first: ['files[].start_line'], last: ['files[].end_line'] },
      numbers: ['pipe'],
    },
    editor: { kind: 'edit', path: ['path'], old: ['old_text'], new: ['new_text'] },
    apply_patch: { kind: 'edit', patch: ['input'] },
    replace_in_file: { kind: 'edit', path: ['path'], old: [], new: ['diff'], xml: true },
    run_commands: { kind: 'command', command: ['commands'] },
    search_codebase: { kind: 'search', path: [], pattern: ['queries[]'] },
    fetch_web_content: { kind: 'fetch' },
    ask_question: { kind: 'other', person: true },
    plan_mode_respond: { kind: 'other', person: true },
    focus_chain: { kind: 'plan' },
    summarize_task: { kind: 'other' },
    spawn_agent: { kind: 'agent' },
    use_subagents: { kind: 'agent' },
  },
  preamble: rooPreamble,
  giveBack: { target: 'cline-sidecar', path: /[\\/]sessions[\\/]([^\\/]+)[\\/]\1\.messages\.json$/ },
  live: { through: 'gateway', command: 'cline' },
} as const satisfies Agent;
