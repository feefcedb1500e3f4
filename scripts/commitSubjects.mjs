// node scripts/commitSubjects.mjs [FILE]: checks the subject in FILE (commit-msg hook), or all
// subjects since this check was added (`npm test`). A shallow clone has only the newest commits;
// without git nothing is checked.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const MIN_LENGTH = 8;
const MAX_LENGTH = 72;
/** Git and bots write these subjects. */
const GENERATED_SUBJECT = /^(?:(?:fixup|squash|amend)! |Merge |Revert "|Bump )/;

/** @returns {string | undefined} a problem for display */
function findProblem(subject) {
  if (GENERATED_SUBJECT.test(subject)) return undefined;
  const { length } = [...subject];
  if (length > MAX_LENGTH)
    return `The subject has ${length} characters, and at most ${MAX_LENGTH} are allowed: put the reason into the body.`;
  if (length < MIN_LENGTH)
    return `The subject has ${length} characters, and at least ${MIN_LENGTH} are needed: say what the commit does.`;
  return undefined;
}

/** Returns the first line that is neither blank nor a comment. */
function readSubject(file) {
  return (
    readFileSync(file, 'utf8')
      .split('\n')
      .find((line) => line.trim() !== '' && !line.startsWith('#')) ?? ''
  ).trim();
}

/**
 * Returns `HASH SUBJECT` for each commit after the one that added this file, or, in a shallow
 * clone, after the oldest commit.
 */
function listNewCommits() {
  const git = (...args) =>
    execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
      .split('\n')
      .filter(Boolean);
  try {
    const introducingCommit = git('log', '--diff-filter=A', '--format=%H', '--', 'scripts/commitSubjects.mjs').at(-1);
    return introducingCommit === undefined
      ? []
      : git('log', '--no-merges', '--format=%h %s', `${introducingCommit}..HEAD`);
  } catch {
    return [];
  }
}

const [file] = process.argv.slice(2);
const problems =
  file === undefined
    ? listNewCommits().flatMap((commit) => {
        const problem = findProblem(commit.slice(commit.indexOf(' ') + 1));
        return problem === undefined ? [] : [`${commit}\n  ${problem}`];
      })
    : [findProblem(readSubject(file))].filter((problem) => problem !== undefined);
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;
