import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../support/temporaryFolder';

const SCRIPT = resolve('scripts/commitSubjects.mjs');
const LONG = `Explain ${'a'.repeat(65)}`;

/** Returns the hook's output, which is empty if it accepts the message. */
function refusal(message: string): string {
  const file = join(temporaryFolder(), 'COMMIT_EDITMSG');
  writeFileSync(file, message);
  const { status, stderr } = spawnSync('sh', ['.githooks/commit-msg', file], { encoding: 'utf8' });
  expect(status).toBe(stderr === '' ? 0 : 1);
  return stderr;
}

it.each([
  ['72 characters', LONG.slice(0, 72)],
  ['72 characters of more than one byte', 'é'.repeat(72)],
  ['8 characters', 'Fix undo'],
  ['a long body', `Fix undo\n\n${LONG}`],
  ['a long comment before the subject', `# ${LONG}\n\nFix undo`],
  ['a commit that git squashes into another', `fixup! ${LONG}`],
  ['a merge', `Merge branch '${LONG}'`],
])('the commit-msg hook accepts %s', (_name, message) => {
  expect(refusal(message)).toBe('');
});

it.each([
  ['73 characters', `${LONG}\n\nbody`, '73 characters, and at most 72'],
  ['7 characters', 'Fix it!\n', '7 characters, and at least 8'],
  ['only comments', '# nothing\n', '0 characters, and at least 8'],
])('the commit-msg hook refuses a subject of %s', (_name, message, words) => {
  expect(refusal(message)).toContain(words);
});

/** Creates a repository with a commit per subject; `null` adds the hook. */
function repository(subjects: readonly (string | null)[]): string {
  const folder = temporaryFolder();
  const git = (...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], {
      cwd: folder,
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], HOME: folder },
    });
  git('init', '-q');
  mkdirSync(join(folder, 'scripts'));
  for (const subject of subjects) {
    if (subject === null) {
      copyFileSync(SCRIPT, join(folder, 'scripts', 'commitSubjects.mjs'));
      git('add', '.');
    }
    git('commit', '-q', '--allow-empty', '--no-verify', '-m', subject ?? 'Check subjects of commits');
  }
  return folder;
}

const check = (folder: string): { readonly status: number | null; readonly stderr: string } =>
  spawnSync(process.execPath, ['scripts/commitSubjects.mjs'], { cwd: folder, encoding: 'utf8' });

it('CI refuses a long subject after the check was added, and names the commit', () => {
  const { status, stderr } = check(repository(['Begin it', null, 'Fix undo', LONG]));
  expect(status).toBe(1);
  expect(stderr).toMatch(new RegExp(`^[0-9a-f]+ ${LONG}\\n`));
  expect(stderr).not.toContain('Fix undo');
});

it('CI accepts long subjects from before the check was added', () => {
  expect(check(repository([LONG, null, 'Fix undo']))).toMatchObject({ status: 0, stderr: '' });
});

it("CI's check of commit subjects succeeds in a shallow clone, which lacks earlier commits", () => {
  const origin = repository([null, LONG, 'Fix undo']);
  const folder = join(temporaryFolder(), 'clone');
  execFileSync('git', ['clone', '-q', '--depth', '1', pathToFileURL(origin).href, folder]);
  expect(check(folder)).toMatchObject({ status: 0, stderr: '' });
});

it("CI's check of commit subjects succeeds outside a repository", () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'scripts'));
  copyFileSync(SCRIPT, join(folder, 'scripts', 'commitSubjects.mjs'));
  expect(check(folder)).toMatchObject({ status: 0, stderr: '' });
});
