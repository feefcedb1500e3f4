// Finds and releases sections of the changelog by version.

const HEADING = /^## (.+)$/gm;

/** Returns each section's title and the offsets of its heading, text and end. */
const parseSections = (changelog) =>
  [...changelog.matchAll(HEADING)].map(({ 0: line, 1: title, index }, at, all) => ({
    title,
    start: index,
    textStart: index + line.length,
    end: all[at + 1]?.index ?? changelog.length,
  }));

const createVersionMatcher = (version) => (section) =>
  section.title === version || section.title.startsWith(`${version} (`);

/**
 * Returns a version's three numbers. The Marketplace allows no suffix such as "-beta"; by VS Code's
 * convention an odd minor version is a pre-release.
 */
export function parseVersion(version) {
  const numbers = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$/.exec(version);
  if (!numbers) throw new Error(`found the version ${JSON.stringify(version)}; expected three numbers, such as 2.0.0.`);
  return numbers.slice(1).map(Number);
}

/** @returns {'stable' | 'pre-release'} */
export const getChannel = (version) => (parseVersion(version)[1] % 2 === 1 ? 'pre-release' : 'stable');

export function isLater(version, other) {
  const [a, b] = [parseVersion(version), parseVersion(other)];
  const firstDifferenceIndex = a.findIndex((number, index) => number !== b[index]);
  return firstDifferenceIndex >= 0 && a[firstDifferenceIndex] > b[firstDifferenceIndex];
}

/**
 * Returns the changelog's text for a version.
 * @throws Error if it is missing or empty
 */
export function getReleaseNotes(changelog, version) {
  const section = parseSections(changelog).find(createVersionMatcher(version));
  if (!section) throw new Error(`CHANGELOG.md has no heading "## ${version} (DATE)".`);
  const text = changelog.slice(section.textStart, section.end).trim();
  if (text === '') throw new Error(`CHANGELOG.md says nothing under "${section.title}".`);
  return `${text}\n`;
}

/**
 * Returns the changelog after the release of a version: its changes are under a heading with
 * version and day, and "Unreleased" is empty.
 * @param {string} day such as "29 November 2026"
 * @throws Error if there is nothing to release, or if the version already has a heading and
 *   "Unreleased" is not empty
 */
export function createReleasedChangelog(changelog, version, day) {
  const sections = parseSections(changelog);
  const unreleasedSection = sections.find(({ title }) => title === 'Unreleased');
  if (sections.some(createVersionMatcher(version))) {
    getReleaseNotes(changelog, version);
    if (unreleasedSection && changelog.slice(unreleasedSection.textStart, unreleasedSection.end).trim() !== '')
      throw new Error(`CHANGELOG.md has a heading "## ${version}", and changes under "Unreleased" that belong there.`);
    return changelog;
  }
  if (!unreleasedSection)
    throw new Error(`CHANGELOG.md has neither a heading "## Unreleased" nor "## ${version} (DATE)".`);
  const releasedChangelog = `${changelog.slice(0, unreleasedSection.start)}## Unreleased\n\n## ${version} (${day})${changelog.slice(unreleasedSection.textStart)}`;
  getReleaseNotes(releasedChangelog, version);
  return releasedChangelog;
}
