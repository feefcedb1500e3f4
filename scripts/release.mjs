// npm run release -- VERSION [--dry-run] [--tested]: checks, tests, packs, commits and tags a
// release. docs/releasing.md describes the next steps.
//   --dry-run   only prints what it would do, and what prevents it
//   --tested    does not run the tests again, because they ran on this commit
// node scripts/release.mjs --notes [--tag TAG]: prints the changelog's section for the version in
//   package.json, which TAG must name
// node scripts/release.mjs --channel: prints "stable", or "pre-release" if the minor version is odd
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { getChannel, isLater, parseVersion, createReleasedChangelog, getReleaseNotes } from './changelog.mjs';
import { getRepositoryLinks, addRepositoryLinks } from './repository.mjs';

const CHANGED_FILES = ['CHANGELOG.md', 'package.json', 'package-lock.json'];

const git = (...args) => execFileSync('git', args, { encoding: 'utf8' }).trim();
const runCommand = (command, ...args) => {
  console.log(`\n> ${[command, ...args].join(' ')}`);
  execFileSync(command, args, { stdio: 'inherit', shell: process.platform === 'win32' });
};
const readManifest = () => JSON.parse(readFileSync('package.json', 'utf8'));

function main() {
  const flag = { type: 'boolean', default: false };
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { 'dry-run': flag, tested: flag, notes: flag, channel: flag, tag: { type: 'string' } },
  });
  if (values.channel) return console.log(getChannel(readManifest().version));
  if (values.notes) return printNotes(values.tag);
  if (positionals.length !== 1)
    throw new Error('expected one version: npm run release -- 2.0.0 [--dry-run] [--tested]');
  release(positionals[0], { isDry: values['dry-run'], isTested: values.tested });
}

function printNotes(tag) {
  const { version } = readManifest();
  if (tag !== undefined && tag !== `v${version}`)
    throw new Error(`the tag is ${tag}, and package.json's version is ${version}; expected the tag v${version}.`);
  process.stdout.write(getReleaseNotes(readFileSync('CHANGELOG.md', 'utf8'), version));
}

function release(version, { isDry, isTested }) {
  const manifest = readManifest();
  const tag = `v${version}`;
  parseVersion(version);
  const day = new Date().toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric' });
  const problems = [];
  /** `test` returns a description, or throws the problem. */
  const check = (words, test) => {
    try {
      console.log(`ok       ${words}: ${test()}`);
    } catch (error) {
      console.log(`PROBLEM  ${words}: ${error.message}`);
      problems.push(words);
    }
  };

  check("the version is package.json's or comes after it", () => {
    if (version !== manifest.version && !isLater(version, manifest.version))
      throw new Error(`${version} comes before ${manifest.version}.`);
    return `${manifest.version} → ${version}, ${getChannel(version)} channel`;
  });
  check('nothing is uncommitted', () => {
    const changes = git('status', '--porcelain').split('\n').filter(Boolean);
    if (changes.length > 0) throw new Error(`${changes.length} changed or new, such as ${changes[0]}`);
    return `${git('rev-parse', '--abbrev-ref', 'HEAD')} at ${git('rev-parse', '--short', 'HEAD')}`;
  });
  check('the tag is new', () => {
    if (git('tag', '--list', tag) !== '') throw new Error(`there is a tag ${tag} already.`);
    return tag;
  });
  let changelog = '';
  const hasNewHeading = () => changelog !== readFileSync('CHANGELOG.md', 'utf8');
  const isPrepared = () => version === manifest.version && !hasNewHeading();
  check('the changelog has something to release', () => {
    changelog = createReleasedChangelog(readFileSync('CHANGELOG.md', 'utf8'), version, day);
    return `${getReleaseNotes(changelog, version).trimEnd().split('\n').length} lines`;
  });
  check("the repository's address", () => {
    if (JSON.stringify(addRepositoryLinks(manifest)) !== JSON.stringify(manifest))
      throw new Error('`bugs` and `homepage` do not follow from `repository`: run "npm run manifest".');
    return getRepositoryLinks(manifest)?.homepage ?? 'none yet, so the package has no links (docs/releasing.md)';
  });

  if (isDry) {
    console.log(`\nWould ${problems.length > 0 ? 'stop here. Without these problems it would then:' : 'then:'}`);
    if (!isTested) console.log('  run "npm run test:all"');
    if (version !== manifest.version)
      console.log(`  set the version in package.json and package-lock.json to ${version}`);
    if (hasNewHeading()) console.log(`  write "## ${version} (${day})" into CHANGELOG.md, below a new "## Unreleased"`);
    console.log(`  run "npm run package": dist/context-condenser.vsix, ${getChannel(version)} channel`);
    console.log(
      `  ${isPrepared() ? 'tag the commit' : `commit "Release ${version}" and tag it`} ${tag}; nothing is pushed`,
    );
    console.log('Nothing was changed.');
    if (problems.length > 0) process.exitCode = 1;
    return;
  }
  if (problems.length > 0) throw new Error('nothing was changed; see the problems above.');

  if (!isTested) runCommand('npm', 'run', 'test:all');
  try {
    const needsCommit = !isPrepared();
    runCommand('npm', 'version', version, '--no-git-tag-version', '--allow-same-version');
    writeFileSync('CHANGELOG.md', changelog);
    runCommand('npm', 'run', 'package');
    if (needsCommit) git('commit', '--quiet', '--no-verify', '--message', `Release ${version}`, '--', ...CHANGED_FILES);
  } catch (error) {
    git('checkout', 'HEAD', '--', ...CHANGED_FILES);
    throw new Error(`nothing was changed: ${error.message}`, { cause: error });
  }
  git('tag', '--annotate', tag, '--message', `Release ${version}`);
  console.log(`\nTagged ${tag}. To publish it: git push --follow-tags`);
}

try {
  main();
} catch (error) {
  console.error(`release: ${error.message}`);
  process.exitCode = 1;
}
