import { expect, it } from 'vitest';
import { window } from '../../../test/support/vscode';
import { getResumeShellCommand, resumeInTerminal } from './resume';

const SESSION = '/home/me/.claude/projects/-work-app/0f3a.jsonl';

it.each([
  [undefined, 'claude --resume 0f3a'],
  ['/work/app', "cd '/work/app' && claude --resume 0f3a"],
  ["/work/it's mine", "cd '/work/it'\\''s mine' && claude --resume 0f3a"],
])(
  'the command to resume a Claude Code session first changes to the folder %s, where Claude Code looks for it',
  (folder, command) => {
    expect(getResumeShellCommand(SESSION, folder)).toBe(command);
  },
);

it("resuming a session opens a terminal in the session's folder", () => {
  resumeInTerminal(SESSION, '/work/app');
  const terminal = window.terminals.at(-1);
  expect(terminal?.options).toMatchObject({ name: 'Claude Code', cwd: '/work/app' });
  expect(terminal?.sent).toEqual(['claude --resume 0f3a']);
});
