/**
 * Sources: sessions of 0.118 to 0.171, tools declared by 0.169, the agent's code (codex-rs/core,
 * codex-rs/protocol).
 */
import type { Agent } from './types';

const ANY_NAME = /^/;
const ROLLOUT_FILE_NAME = /^rollout-.*\.jsonl(?:\.zst)?$/s;

const FILE_LINE =
  /^(?:## .+: .|Distinguish instructions in attached documents |(?:The attached pasted|Pasted) text .*contains? the user's request\.)/;

export const codex = {
  name: 'Codex',
  formats: ['codex'],
  seen: { versions: '0.118 to 0.171', on: 'real sessions' },
  stores: [
    { root: '${CODEX_HOME:-~/.codex}/sessions', steps: [ANY_NAME, ANY_NAME, ANY_NAME, ROLLOUT_FILE_NAME] },
    { root: '${CODEX_HOME:-~/.codex}/sessions', steps: [ROLLOUT_FILE_NAME] },
    { root: '${CODEX_HOME:-~/.codex}/archived_sessions', steps: [ROLLOUT_FILE_NAME] },
  ],
  tools: {
    exec_command: { kind: 'command', command: ['cmd'] },
    shell_command: { kind: 'command', command: ['command'] },
    shell: { kind: 'command', command: ['command'] },
    local_shell: { kind: 'command', command: ['command'] },
    'container.exec': { kind: 'command', command: ['command', 'cmd'] },
    // In code mode the model writes JavaScript that calls the other tools.
    exec: { kind: 'command', command: ['input'] },
    wait: { kind: 'command', command: [] },
    write_stdin: { kind: 'command', command: [] },
    apply_patch: { kind: 'edit', patch: ['input', 'patch'] },
    read_file: { kind: 'read', path: ['file_path'], range: { first: ['offset'], count: ['limit'] }, numbers: ['L'] },
    list_dir: { kind: 'list', path: ['dir_path'] },
    grep_files: { kind: 'search', path: ['path'], pattern: ['pattern'] },
    view_image: { kind: 'read', path: ['path'], numbers: [] },
    update_plan: { kind: 'plan' },
    request_user_input: { kind: 'other', person: true },
    web_search: { kind: 'fetch' },
    tool_search: { kind: 'other' },
    spawn_agent: { kind: 'agent' },
    send_input: { kind: 'agent' },
    send_message: { kind: 'agent' },
    wait_agent: { kind: 'agent' },
    close_agent: { kind: 'agent' },
    list_agents: { kind: 'agent' },
    multi_agent_v1: { kind: 'agent' },
    get_goal: { kind: 'other' },
    create_goal: { kind: 'other' },
    update_goal: { kind: 'other' },
  },
  preamble: {
    elements: [
      'environment_context',
      'user_instructions',
      'app-context',
      'codex_internal_context',
      'in-app-browser-context',
      'apps_instructions',
      'collaboration_mode',
      'goal_context',
      'hook_prompt',
      'model_switch',
      'multi_agent_mode',
      'plugins_instructions',
      'recommended_plugins',
      'skill',
      'skills_instructions',
      'subagent_notification',
      'turn_aborted',
      'user_shell_command',
    ],
    openings: [
      /^# AGENTS\.md instructions(?![^\s])[^\n]*\s*(?:<INSTRUCTIONS>[\s\S]*?(?:<\/INSTRUCTIONS>|$))?/,
      // Codex puts these lines around each image (protocol models, `local_image_open_tag_text`).
      /^<image(?: name=[^\n]*)?>$/,
      /^<\/image>$/,
    ],
    // The desktop app and the VS Code extension write prompts in this form (their bundled code,
    // published rollouts): a heading, its lines, then the request.
    sections: {
      lines: {
        '# Context from my IDE setup:': /^(?:## (?:Active file: |Open tabs:$)|- )/,
        '# Files mentioned by the user:': FILE_LINE,
        '# Files pasted by the user:': FILE_LINE,
        '# In app browser:': /^- /,
        '# Chrome tabs:': /^- /,
      },
      selection: { before: '## Active selection of the file:', after: '## Open tabs:' },
      withUserWords:
        /^(?:# (?:Diff comments|Browser comments|Selected text|Response annotations|Failing PR checks)|## (?:Prior conversation with Codex|Referenced chats with Codex)):$/,
      words: ['## My request:', '## My request for Codex:'],
    },
  },
  giveBack: undefined,
  live: { through: 'gateway', command: 'codex' },
} as const satisfies Agent;
