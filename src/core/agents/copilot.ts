/** GitHub Copilot: VS Code's own agent and the command line, which write the same events. */
import type { Agent, AgentToolRules } from './types';

const ANY_NAME = /^/;
const TRANSCRIPT_STEPS = [/^github\.copilot-chat$/i, 'transcripts', /\.jsonl$/] as const;

const LINE_PARAMETERS = {
  first: ['startLine', 'offset', 'startLineNumberBaseZero'],
  last: ['endLine', 'endLineNumberBaseZero'],
  count: ['limit'],
} as const;

const vscodeTools = {
  read_file: { kind: 'read', path: ['filePath'], range: LINE_PARAMETERS, numbers: [] },
  create_file: { kind: 'write', path: ['filePath'], content: ['content'] },
  create_directory: { kind: 'other' },
  replace_string_in_file: { kind: 'edit', path: ['filePath'], old: ['oldString'], new: ['newString'] },
  multi_replace_string_in_file: {
    kind: 'edit',
    path: ['replacements[].filePath'],
    old: ['replacements[].oldString'],
    new: ['replacements[].newString'],
  },
  insert_edit_into_file: { kind: 'edit', path: ['filePath'], old: [], new: ['code'] },
  apply_patch: { kind: 'edit', patch: ['input'] },
  edit_notebook_file: { kind: 'edit', path: ['filePath'], old: [], new: ['newCode'] },
  create_new_jupyter_notebook: { kind: 'other' },
  run_in_terminal: { kind: 'command', command: ['command'] },
  get_terminal_output: { kind: 'command', command: [] },
  terminal_last_command: { kind: 'command', command: [] },
  terminal_selection: { kind: 'command', command: [] },
  run_task: { kind: 'command', command: [] },
  create_and_run_task: { kind: 'command', command: ['task.command'] },
  get_task_output: { kind: 'command', command: [] },
  run_tests: { kind: 'command', command: [] },
  runtests: { kind: 'command', command: [] },
  test_failure: { kind: 'command', command: [] },
  grep_search: { kind: 'search', path: ['includePattern'], pattern: ['query'] },
  semantic_search: { kind: 'search', path: [], pattern: ['query'] },
  search_workspace_symbols: { kind: 'search', path: [], pattern: ['symbolName', 'query'] },
  list_code_usages: { kind: 'search', path: ['filePaths[]'], pattern: ['symbolName'] },
  get_search_view_results: { kind: 'search', path: [], pattern: [] },
  test_search: { kind: 'search', path: ['filePaths[]'], pattern: [] },
  file_search: { kind: 'list', path: [], pattern: ['query'] },
  list_dir: { kind: 'list', path: ['path'] },
  read_project_structure: { kind: 'list', path: [] },
  get_errors: { kind: 'other' },
  get_changed_files: { kind: 'other' },
  manage_todo_list: { kind: 'plan' },
  runsubagent: { kind: 'agent' },
  search_subagent: { kind: 'agent' },
  fetch_webpage: { kind: 'fetch' },
  github_repo: { kind: 'fetch' },
  open_simple_browser: { kind: 'fetch' },
  vscode_askquestions: { kind: 'other', person: true },
  ask_questions: { kind: 'other', person: true },
  memory: { kind: 'other' },
  think: { kind: 'other' },
  get_vscode_api: { kind: 'other' },
  install_extension: { kind: 'other' },
  run_vscode_command: { kind: 'other' },
  get_project_setup_info: { kind: 'other' },
  read_notebook_cell_output: { kind: 'other' },
  run_notebook_cell: { kind: 'other' },
} as const satisfies AgentToolRules;

const contributedTools = {
  copilot_readfile: vscodeTools.read_file,
  copilot_createfile: vscodeTools.create_file,
  copilot_replacestring: vscodeTools.replace_string_in_file,
  copilot_multireplacestring: vscodeTools.multi_replace_string_in_file,
  copilot_insertedit: vscodeTools.insert_edit_into_file,
  copilot_applypatch: vscodeTools.apply_patch,
  copilot_editnotebook: vscodeTools.edit_notebook_file,
  copilot_findtextinfiles: vscodeTools.grep_search,
  copilot_searchcodebase: vscodeTools.semantic_search,
  copilot_searchworkspacesymbols: vscodeTools.search_workspace_symbols,
  copilot_listcodeusages: vscodeTools.list_code_usages,
  copilot_findfiles: vscodeTools.file_search,
  copilot_listdirectory: vscodeTools.list_dir,
  copilot_geterrors: vscodeTools.get_errors,
  copilot_getchangedfiles: vscodeTools.get_changed_files,
  copilot_fetchwebpage: vscodeTools.fetch_webpage,
  copilot_githubrepo: vscodeTools.github_repo,
  copilot_memory: vscodeTools.memory,
  copilot_think: vscodeTools.think,
} as const satisfies AgentToolRules;

export const vscode = {
  name: 'VS Code',
  formats: ['copilot', 'vscode-chat'],
  seen: { versions: 'the event schema of the Copilot SDK', on: 'hand-written sessions' },
  stores: [
    { root: '<user>/workspaceStorage', steps: [ANY_NAME, ...TRANSCRIPT_STEPS] },
    { root: '<user>/globalStorage', steps: TRANSCRIPT_STEPS },
    { root: '<user>/workspaceStorage', steps: [ANY_NAME, 'chatSessions', /\.jsonl?$/] },
    { root: '<user>/globalStorage', steps: ['emptyWindowChatSessions', /\.jsonl?$/] },
  ],
  tools: { ...vscodeTools, ...contributedTools },
  // Source: agentPrompt.tsx, promptFile.tsx and tag.tsx of microsoft/vscode (extensions/copilot).
  preamble: {
    contexts: [
      // A prompt file that the user ran precedes the user's words inside the element.
      /^(?:<[A-Za-z_][^]*?(?:<\/[\w.-]+>|\/>)\s*)?<(userRequest)>\s*(?:<attachment [^\n]*>\nPrompt instructions file:\n[^]*?\n<\/attachment>\s*)*/,
      // With Grok, the element has this name. Users write this name, too, so only VS Code's text
      // may precede it.
      /^(?:<attachments>\n[^]*?\n<\/attachments>\s*)?<(?:context>\s*(?:The current date is|There have been some changes)|reminderInstructions>\n)[^]*?<\/[\w.-]+>\s*<(user_query)>\s*/,
    ],
    openings: [
      // VS Code's own first message, which precedes the request.
      /^<environment_info>\s*The user's current OS is: [^]*/,
      /^<conversation-summary>\n[^]*<\/conversation-summary>$/,
      // VS Code's notice that a background command has ended (runInTerminalTool.ts).
      /^\[Terminal [\w-]+ notification: [^]*/,
    ],
  },
  giveBack: undefined,
  live: { through: 'chat-models' },
} as const satisfies Agent;

export const copilotCli = {
  name: 'Copilot CLI',
  formats: ['copilot'],
  seen: { versions: '1.0.64 to 1.0.79', on: 'real sessions' },
  stores: [
    { root: '${COPILOT_HOME:-~/.copilot}/session-state', steps: [ANY_NAME, 'events.jsonl'] },
    { root: '${COPILOT_HOME:-~/.copilot}/session-state', steps: [/\.jsonl$/] },
  ],
  tools: {
    view: { kind: 'read', path: ['path'], range: { pair: ['view_range'] }, numbers: ['dot'] },
    edit: { kind: 'edit', path: ['path'], old: ['old_str'], new: ['new_str'] },
    create: { kind: 'write', path: ['path'], content: ['file_text'] },
    apply_patch: { kind: 'edit', patch: ['input'] },
    bash: { kind: 'command', command: ['command'] },
    powershell: { kind: 'command', command: ['command'] },
    read_bash: { kind: 'command', command: [] },
    write_bash: { kind: 'command', command: [] },
    stop_bash: { kind: 'command', command: [] },
    list_bash: { kind: 'command', command: [] },
    read_powershell: { kind: 'command', command: [] },
    write_powershell: { kind: 'command', command: [] },
    stop_powershell: { kind: 'command', command: [] },
    list_powershell: { kind: 'command', command: [] },
    grep: { kind: 'search', path: ['paths', 'path'], pattern: ['pattern'] },
    rg: { kind: 'search', path: ['paths', 'path'], pattern: ['pattern'] },
    glob: { kind: 'list', path: ['path'], pattern: ['pattern'] },
    ask_user: { kind: 'other', person: true },
    exit_plan_mode: { kind: 'other', person: true },
    update_todo: { kind: 'plan' },
    task: { kind: 'agent' },
    read_agent: { kind: 'agent' },
    write_agent: { kind: 'agent' },
    list_agents: { kind: 'agent' },
    web_fetch: { kind: 'fetch' },
    web_search: { kind: 'fetch' },
    fetch_copilot_cli_documentation: { kind: 'fetch' },
    report_intent: { kind: 'other' },
    store_memory: { kind: 'other' },
    sql: { kind: 'other' },
    session_store_sql: { kind: 'other' },
    task_complete: { kind: 'other' },
    skill: { kind: 'other' },
  },
  // `tagged_files` names files that a prompt tags with @ (seen in published sessions).
  preamble: { elements: ['current_datetime', 'system_reminder', 'system_notification', 'tagged_files'] },
  giveBack: undefined,
  live: { through: 'gateway', command: 'copilot' },
} as const satisfies Agent;
