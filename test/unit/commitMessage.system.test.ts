import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'commit-message-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** What the hook says of a message; empty if it lets it pass. */
function refusal(message: string): string {
  const file = join(folder, 'COMMIT_EDITMSG');
  writeFileSync(file, message);
  const { status, stderr } = spawnSync('sh', ['.githooks/commit-msg', file], { encoding: 'utf8' });
  expect(status).toBe(stderr === '' ? 0 : 1);
  return stderr;
}

const LONG = `Explain ${'a'.repeat(65)}`;

it.each([
  ['72 characters', LONG.slice(0, 72)],
  ['72 characters of more than one byte', 'é'.repeat(72)],
  ['a long body', `Short\n\n${LONG}`],
  ['a long comment before the subject', `# ${LONG}\n\nShort`],
  ['a commit that git squashes into another', `fixup! ${LONG}`],
  ['a merge', `Merge branch '${LONG}'`],
])('the hook for commit messages lets pass: %s', (_name, message) => {
  expect(refusal(message)).toBe('');
});

it('the hook for commit messages refuses a subject of 73 characters, and says so', () => {
  expect(refusal(`${LONG}\n\nbody`)).toContain('73 characters, and at most 72');
});
