/**
 * Continue, in VS Code and on the command line. Sources: tools declared by 1.5.47, the extension's
 * definitions.
 */
import type { Agent } from './types';

export const continueDev = {
  name: 'Continue',
  formats: ['continue'],
  seen: { versions: '1.5', on: 'hand-written sessions' },
  // Skips `sessions.json`, the index of the folder.
  stores: [{ root: '${CONTINUE_GLOBAL_DIR:-~/.continue}/sessions', steps: [/^(?!sessions\.json$).*\.json$/] }],
  tools: {
    read: { kind: 'read', path: ['filepath'], numbers: [] },
    read_file: { kind: 'read', path: ['filepath'], numbers: [] },
    read_file_range: {
      kind: 'read',
      path: ['filepath'],
      range: { first: ['startLine'], last: ['endLine'] },
      numbers: [],
    },
    read_currently_open_file: { kind: 'read', path: [], numbers: [] },
    write: { kind: 'write', path: ['filepath'], content: ['content'] },
    create_new_file: { kind: 'write', path: ['filepath'], content: ['contents'] },
    edit: { kind: 'edit', path: ['file_path'], old: ['old_string'], new: ['new_string'] },
    multiedit: { kind: 'edit', path: ['file_path'], old: ['edits[].old_string'], new: ['edits[].new_string'] },
    edit_existing_file: { kind: 'edit', path: ['filepath'], old: [], new: ['changes'] },
    single_find_and_replace: { kind: 'edit', path: ['filepath'], old: ['old_string'], new: ['new_string'] },
    multi_edit: { kind: 'edit', path: ['filepath'], old: ['edits[].old_string'], new: ['edits[].new_string'] },
    bash: { kind: 'command', command: ['command'] },
    run_terminal_command: { kind: 'command', command: ['command'] },
    checkbackgroundjob: { kind: 'command', command: [] },
    search: { kind: 'search', path: ['path'], pattern: ['pattern'] },
    grep_search: { kind: 'search', path: [], pattern: ['query'] },
    codebase: { kind: 'search', path: [], pattern: ['query'] },
    list: { kind: 'list', path: ['dirpath'] },
    ls: { kind: 'list', path: ['dirPath'] },
    file_glob_search: { kind: 'list', path: [], pattern: ['pattern'] },
    view_subdirectory: { kind: 'list', path: ['directory_path'] },
    view_repo_map: { kind: 'list', path: [] },
    fetch: { kind: 'fetch' },
    search_web: { kind: 'fetch' },
    fetch_url_content: { kind: 'fetch' },
    checklist: { kind: 'plan' },
    askquestion: { kind: 'other', person: true },
    subagent: { kind: 'agent' },
    view_diff: { kind: 'other' },
    diff: { kind: 'other' },
    exit: { kind: 'other' },
    skills: { kind: 'other' },
    create_rule_block: { kind: 'other' },
    request_rule: { kind: 'other' },
  },
  preamble: {},
  giveBack: undefined,
  live: { through: 'gateway', command: 'cn' },
} as const satisfies Agent;
