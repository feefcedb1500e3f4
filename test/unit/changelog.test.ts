import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { version } from '../../package.json' with { type: 'json' };
import { getChannel, isLater, createReleasedChangelog, getReleaseNotes } from '../../scripts/changelog.mjs';

const BEFORE = '# Changelog\n\n## Unreleased\n\n### New\n\n- one\n\n## 1.0.0 (22 November 2026)\n\n- old\n';

it("releasing a version moves the changelog's unreleased lines under its heading without loss", () => {
  const after = createReleasedChangelog(BEFORE, '1.2.0', '1 December 2026');
  expect(after).toBe(BEFORE.replace('## Unreleased', '## Unreleased\n\n## 1.2.0 (1 December 2026)'));
  expect(getReleaseNotes(after, '1.2.0')).toBe('### New\n\n- one\n');
  expect(getReleaseNotes(after, '1.0.0')).toBe('- old\n');
});

it("a changelog that already has the release's heading stays unchanged", () => {
  const prepared = BEFORE.replace('### New\n\n- one\n\n', '');
  expect(createReleasedChangelog(prepared, '1.0.0', '1 December 2026')).toBe(prepared);
  expect(() => createReleasedChangelog(BEFORE, '1.0.0', '1 December 2026')).toThrow('changes under "Unreleased"');
});

it('a changelog without unreleased lines is an error that names what is missing', () => {
  expect(() => getReleaseNotes(BEFORE, '1.0')).toThrow('no heading "## 1.0 (DATE)"');
  expect(() => createReleasedChangelog('# Changelog\n', '1.0.0', 'x')).toThrow('neither a heading "## Unreleased"');
  expect(() => createReleasedChangelog('## Unreleased\n\n## 1.0.0\n- a\n', '1.1.0', 'x')).toThrow(
    'says nothing under "1.1.0',
  );
});

it("the project’s own changelog has notes for package.json's version", () => {
  expect(getReleaseNotes(readFileSync('CHANGELOG.md', 'utf8'), version)).toMatch(/\S/);
});

it.each([
  ['2.0.0', 'stable'],
  ['2.1.7', 'pre-release'],
  ['2.10.1', 'stable'],
  ['3.11.0', 'pre-release'],
])('version %s goes to the %s channel', (version, expected) => {
  expect(getChannel(version)).toBe(expected);
});

it.each(['2.0', 'v2.0.0', '2.0.0-beta', '02.0.0', ''])('%j is not a version for the Marketplace', (version) => {
  expect(() => getChannel(version)).toThrow('expected three numbers');
});

it.each([
  ['2.0.0', '1.9.9', true],
  ['1.10.0', '1.9.0', true],
  ['1.0.10', '1.0.9', true],
  ['1.0.0', '1.0.0', false],
  ['1.9.0', '2.0.0', false],
])('the version %s may be released after %s: %s', (version, other, expected) => {
  expect(isLater(version, other)).toBe(expected);
});
