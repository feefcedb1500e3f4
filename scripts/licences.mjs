// Collects the licenses of all bundled packages in one text that ships with the extension.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const PACKAGE_FOLDER = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//;
/**
 * Includes licenses that a package brings along: NOTICES, CopyrightNotice.txt,
 * ThirdPartyNotices.txt.
 */
const LICENCE_FILE = /^(licen[cs]es?|copying|(copyright|third[-_]?party[-_]?)?notices?)([.-].*)?$/i;

/**
 * Writes the licenses of the packages whose code the builds contain.
 * @param {string} file
 * @param {readonly import('esbuild').Metafile[]} metafiles of the builds
 * @param {readonly string[]} more folders of packages whose data ships
 */
export function writeLicences(file, metafiles, more = []) {
  const packageFolders = new Set(more);
  for (const inputPath of metafiles.flatMap(({ inputs }) => Object.keys(inputs))) {
    const folder = PACKAGE_FOLDER.exec(inputPath)?.[1];
    if (folder !== undefined) packageFolders.add(folder);
  }
  const titlesByText = new Map();
  for (const { title, text } of [...packageFolders].map(readLicense)) {
    titlesByText.set(text, new Set([...(titlesByText.get(text) ?? []), title]));
  }
  // Identical texts are included once.
  const sections = [...titlesByText].map(([text, of]) => `${[...of].toSorted().join('\n')}\n\n${text}\n`);
  const introduction = 'Context Condenser contains code of these packages.\n';
  writeFileSync(file, [introduction, ...sections.toSorted()].join(`\n${'-'.repeat(80)}\n\n`));
}

function readLicense(folder) {
  const { name, version, license, author } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  if (typeof license !== 'string')
    throw new Error(`${folder}: package.json names no licence; it can't be shipped unseen`);
  const files = readdirSync(folder).filter((entry) => LICENCE_FILE.test(entry));
  const authorName = typeof author === 'string' ? author : (author?.name ?? '');
  const text = files.map((entry) => readFileSync(join(folder, entry), 'utf8').replaceAll('\r', '').trim()).join('\n\n');
  return { title: `${name} ${version} (${license})`, text: text === '' ? `Licence: ${license}. ${authorName}` : text };
}
