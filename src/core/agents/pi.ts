/**
 * Pi and its fork Oh My Pi: same format, own tools. Sources: sessions, tools declared by Pi 0.73.
 */
import type { Agent } from './types';

const ANY_NAME = /^/;
const SESSION_FILE_NAME = /\.jsonl$/;

export const pi = {
  name: 'Pi',
  formats: ['pi'],
  seen: { versions: '3 (of its session format)', on: 'real sessions' },
  stores: [{ root: '${PI_CODING_AGENT_DIR:-~/.pi/agent}/sessions', steps: [ANY_NAME, SESSION_FILE_NAME] }],
  tools: {
    read: { kind: 'read', path: ['path', 'file_path'], range: { first: ['offset'], count: ['limit'] }, numbers: [] },
    edit: {
      kind: 'edit',
      path: ['path', 'file_path'],
      old: ['edits[].oldText', 'oldText'],
      new: ['edits[].newText', 'newText'],
    },
    write: { kind: 'write', path: ['path', 'file_path'], content: ['content'] },
    bash: { kind: 'command', command: ['command'] },
    ls: { kind: 'list', path: ['path'] },
    find: { kind: 'list', path: ['path'], pattern: ['pattern'] },
    grep: { kind: 'search', path: ['path'], pattern: ['pattern'] },
    multi_grep: { kind: 'search', path: ['path'], pattern: ['patterns[]'] },
  },
  preamble: { elements: ['skill'] },
  giveBack: undefined,
  live: { through: 'gateway', command: 'pi' },
} as const satisfies Agent;

export const ohMyPi = {
  name: 'Oh My Pi',
  formats: ['pi'],
  seen: { versions: '3 (of its session format)', on: 'real sessions' },
  stores: [
    { root: '~/.omp/agent/sessions', steps: [ANY_NAME, SESSION_FILE_NAME] },
    { root: '~/.omp/agent/sessions', steps: [ANY_NAME, ANY_NAME, SESSION_FILE_NAME], parent: 'session-folder' },
  ],
  tools: {
    read: { kind: 'read', path: ['path'], numbers: [] },
    edit: { kind: 'edit', patch: ['input'] },
    write: { kind: 'write', path: ['path'], content: ['content'] },
    bash: { kind: 'command', command: ['command'] },
    grep: { kind: 'search', path: ['path'], pattern: ['pattern'], numbers: ['bar'] },
    hub: { kind: 'agent' },
    yield: { kind: 'other' },
    // Not marked as asking the user, because Pi extensions share the session format but choose
    // their own tool names.
    ask: { kind: 'other' },
  },
  preamble: {},
  giveBack: undefined,
  live: { through: 'nothing' },
} as const satisfies Agent;
