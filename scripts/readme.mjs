// Adapts the README for VS Code's extension page: removes what requires the project (its commands,
// the command line).
import { readFileSync, writeFileSync } from 'node:fs';
import { getRepositoryLinks } from './repository.mjs';

/** Titles of sections that are useful only in the project. */
const PROJECT_ONLY_SECTIONS = ['Two commands', 'On the command line', 'More'];

const LINK = String.raw`\[[^\]]+\]\((?!https:)[^)]+\)`;

/**
 * @param {string} text the project's README
 * @param {import('./repository.mjs').RepositoryLinks} [links] links to the repository; undefined if
 *   its address is unknown
 * @returns {string} the README without sections that are useful only in the project. Its pictures
 *   and links to files lead to the repository, or are removed without `links`.
 * @throws Error if the README lacks one of these sections
 */
export function createPackagedReadme(text, links) {
  const sections = text.split(/^(?=## )/m);
  const titles = sections.map((section) => /^## (.*)$/m.exec(section)?.[1] ?? '');
  for (const title of PROJECT_ONLY_SECTIONS)
    if (!titles.includes(title))
      throw new Error(`README.md has no section "${title}" for scripts/readme.mjs to leave out.`);
  const keptText = sections.filter((_, index) => !PROJECT_ONLY_SECTIONS.includes(titles[index] ?? '')).join('');
  return links ? completeLinks(keptText, links) : removeLinks(keptText);
}

const completeLinks = (text, links) =>
  text.replace(
    /(?<head>(?<isPicture>!)?\[[^\]]*\]\()(?!https:|#)(?<path>[^)]+)/g,
    (_all, head, isPicture, path) => `${head}${isPicture ? links.picture(path) : links.file(path)}`,
  );

const removeLinks = (text) =>
  text
    .replace(/^!\[[^\]]*\]\([^)]+\)\n\n?/gm, '')
    // A link in parentheses, or one that is a whole sentence, is useless without its target.
    .replace(new RegExp(String.raw` \(${LINK}\)`, 'g'), '')
    .replace(new RegExp(String.raw`(?<=\.) ${LINK}$`, 'gm'), '')
    .replace(new RegExp(LINK, 'g'), (link) => link.slice(1, link.indexOf(']')));

/** @param {string} path of the packed file */
export function writeReadme(path) {
  const links = getRepositoryLinks(JSON.parse(readFileSync('package.json', 'utf8')));
  writeFileSync(path, createPackagedReadme(readFileSync('README.md', 'utf8'), links));
}
