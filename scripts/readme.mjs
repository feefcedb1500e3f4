// The README as the extension's details page in VS Code shows it: there is no public repository that links to files of the
// project could lead to, and what needs the project itself (its commands, the command line) is not in the package.
import { readFileSync, writeFileSync } from 'node:fs';

/** Sections that are of use in the project alone, by their titles. */
const OF_THE_PROJECT = ['Two commands', 'On the command line', 'More'];

const LINK = String.raw`\[[^\]]+\]\((?!https:)[^)]+\)`;

/**
 * @param {string} text the project's README.
 * @returns {string} without those sections, without pictures, and without links to files.
 * @throws Error where the README has no such section any more.
 */
export function packagedReadme(text) {
  const sections = text.split(/^(?=## )/m);
  const titles = sections.map((section) => /^## (.*)$/m.exec(section)?.[1] ?? '');
  for (const title of OF_THE_PROJECT)
    if (!titles.includes(title))
      throw new Error(`README.md has no section "${title}" for scripts/readme.mjs to leave out.`);
  return (
    sections
      .filter((_, index) => !OF_THE_PROJECT.includes(titles[index] ?? ''))
      .join('')
      .replace(/^!\[[^\]]*\]\([^)]+\)\n\n?/gm, '')
      // A link in brackets, or one that is a sentence of its own, says nothing once it leads nowhere.
      .replace(new RegExp(String.raw` \(${LINK}\)`, 'g'), '')
      .replace(new RegExp(String.raw`(?<=\.) ${LINK}$`, 'gm'), '')
      .replace(new RegExp(LINK, 'g'), (link) => link.slice(1, link.indexOf(']')))
  );
}

/** @param {string} path of the file that is packed. */
export function writeReadme(path) {
  writeFileSync(path, packagedReadme(readFileSync('README.md', 'utf8')));
}
