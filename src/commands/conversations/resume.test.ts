import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../../test/support/temporaryFolder';
import { fake, window } from '../../../test/support/vscode';
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
  const folder = temporaryFolder();
  resumeInTerminal(SESSION, folder);
  const terminal = window.terminals.at(-1);
  expect(terminal?.options).toMatchObject({ name: 'Claude Code', cwd: folder });
  expect(terminal?.sent).toEqual(['claude --resume 0f3a']);
});

it('resuming a session whose folder was removed says so instead of opening a terminal', () => {
  fake.reset();
  resumeInTerminal(SESSION, join(temporaryFolder(), 'removed'));
  expect(window.terminals).toEqual([]);
  expect(fake.shown.at(-1)?.message).toMatch(/^The session was not resumed\. Its folder .*removed no longer exists/);
});
