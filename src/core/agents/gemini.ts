/**
 * Gemini CLI and its fork Qwen Code. Sources: a Gemini CLI session of 2026, tools declared by
 * Gemini CLI 0.61 and Qwen Code 0.24.
 */
import type { Agent, AgentToolRules } from './types';

const ANY_NAME = /^/;

const commonTools = {
  read_file: {
    kind: 'read',
    path: ['file_path', 'absolute_path'],
    range: { first: ['start_line', 'offset'], last: ['end_line'], count: ['limit'] },
    numbers: [],
  },
  read_many_files: { kind: 'read', path: ['include[]', 'paths[]'], numbers: [] },
  write_file: { kind: 'write', path: ['file_path'], content: ['content'] },
  run_shell_command: { kind: 'command', command: ['command'] },
  grep_search: { kind: 'search', path: ['dir_path', 'path'], pattern: ['pattern'], numbers: ['L'] },
  glob: { kind: 'list', path: ['dir_path', 'path'], pattern: ['pattern'] },
  list_directory: { kind: 'list', path: ['dir_path', 'path'] },
  exit_plan_mode: { kind: 'other', person: true },
  web_fetch: { kind: 'fetch' },
  save_memory: { kind: 'other' },
} as const satisfies AgentToolRules;

/**
 * Gemini CLI puts these lines around files that a prompt names with @, each as a separate part
 * (atCommandProcessor.ts, in Qwen Code readManyFiles.ts).
 */
const fileFrame = {
  first: '\n--- Content from referenced files ---',
  last: '\n--- End of content ---',
} as const;

export const gemini = {
  name: 'Gemini CLI',
  formats: ['gemini'],
  seen: { versions: 'one of spring 2026', on: 'real sessions' },
  stores: [
    { root: '${GEMINI_CLI_HOME:-~}/.gemini/tmp', steps: [ANY_NAME, 'chats', /^session-.*\.jsonl?$/s] },
    { root: '${GEMINI_CLI_HOME:-~}/.gemini/tmp', steps: [ANY_NAME, 'chats', ANY_NAME, /\.jsonl$/] },
  ],
  tools: {
    ...commonTools,
    replace: { kind: 'edit', path: ['file_path'], old: ['old_string'], new: ['new_string'] },
    search_file_content: { kind: 'search', path: ['dir_path', 'path'], pattern: ['pattern'], numbers: ['L'] },
    write_todos: { kind: 'plan' },
    update_topic: { kind: 'other' },
    enter_plan_mode: { kind: 'other' },
    ask_user: { kind: 'other', person: true },
    google_web_search: { kind: 'fetch' },
    invoke_agent: { kind: 'agent' },
    codebase_investigator: { kind: 'agent' },
    list_agents: { kind: 'agent' },
    activate_skill: { kind: 'other' },
  },
  preamble: {
    elements: ['session_context', 'hook_context'],
    openings: [
      // A command that the user ran with `!` and its output (shellCommandProcessor.ts).
      /^I ran the following shell command:\n```sh\n[\s\S]*?\n```\n\nThis produced the following result:\n```\n[\s\S]*/,
      /^System: Please continue\.$/,
    ],
    fileFrame,
  },
  giveBack: undefined,
  live: { through: 'gateway', command: 'gemini' },
} as const satisfies Agent;

export const qwenCode = {
  name: 'Qwen Code',
  formats: ['qwen'],
  seen: { versions: '0.21', on: 'real sessions' },
  stores: [
    { root: '~/.qwen/projects', steps: [ANY_NAME, 'chats', /\.jsonl$/] },
    { root: '~/.qwen/projects', steps: [ANY_NAME, 'chats', 'archive', /\.jsonl$/] },
    { root: '~/.qwen/tmp', steps: [ANY_NAME, 'chats', /\.jsonl$/] },
  ],
  tools: {
    ...commonTools,
    edit: { kind: 'edit', path: ['file_path'], old: ['old_string'], new: ['new_string'] },
    notebook_edit: { kind: 'edit', path: ['notebook_path'], old: [], new: ['new_source'] },
    todo_write: { kind: 'plan' },
    task_create: { kind: 'plan' },
    task_update: { kind: 'plan' },
    exit_plan_mode: { kind: 'other', person: true },
    ask_user_question: { kind: 'other', person: true },
    web_search: { kind: 'fetch' },
    agent: { kind: 'agent' },
    task: { kind: 'agent' },
    skill: { kind: 'other' },
    lsp: { kind: 'other' },
    tool_search: { kind: 'other' },
    tool_call: { kind: 'other' },
  },
  preamble: { fileFrame },
  giveBack: undefined,
  live: { through: 'gateway', command: 'qwen' },
} as const satisfies Agent;
