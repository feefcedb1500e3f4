// npm run manifest: generates files from the settings table (src/settings/table.ts) and other
// types: settings in package.json and package.nls.json, docs/guide/settings.md, a table in
// docs/guide/privacy.md, the JSON Schema of preset files; README's table of agents
// (src/core/agents); and the repository's address (scripts/repository.mjs).
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { format } from 'oxfmt';
import { getRepositoryLinks, addRepositoryLinks } from './repository.mjs';
import { renderSettingsPage } from './settingsPage.mjs';

const folder = mkdtempSync(join(tmpdir(), 'context-condenser-manifest-'));
try {
  const bundleAndImport = async (entry) => {
    const outfile = join(folder, `${basename(entry, '.ts')}.mjs`);
    await build({ entryPoints: [entry], bundle: true, platform: 'node', format: 'esm', outfile });
    return import(pathToFileURL(outfile).href);
  };
  const {
    createPresetFileSchema,
    createSettingsFileSchema,
    createWorkspaceFileSchema,
    SCHEMA_FILES,
    createSettingsManifest,
    renderWorkspaceRulesTable,
  } = await bundleAndImport('src/settings/manifest.ts');
  const { renderAgentsTable } = await bundleAndImport('src/core/agents/documents.ts');
  const style = JSON.parse(readFileSync('.oxfmtrc.json', 'utf8'));
  const writeJson = async (path, value) => {
    const { code, errors } = await format(path, JSON.stringify(value, null, 2), style);
    if (errors.length > 0) throw new Error(`${path}: ${errors.map(({ message }) => message).join('; ')}`);
    writeFileSync(path, code);
  };
  mkdirSync('schemas', { recursive: true });
  await writeJson('schemas/preset.schema.json', createPresetFileSchema());
  await writeJson('schemas/settings.schema.json', createSettingsFileSchema());
  await writeJson('schemas/workspace.schema.json', createWorkspaceFileSchema());

  const { groups, restricted, words } = createSettingsManifest();
  const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
  manifest.contributes.configuration = groups;
  manifest.contributes.jsonValidation = SCHEMA_FILES;
  manifest.capabilities.untrustedWorkspaces.restrictedConfigurations = restricted;
  await writeJson('package.json', addRepositoryLinks(manifest));

  const otherTexts = Object.entries(JSON.parse(readFileSync('package.nls.json', 'utf8'))).filter(
    ([key]) => !key.startsWith('setting.'),
  );
  const allWords = { ...Object.fromEntries(otherTexts), ...words };
  await writeJson('package.nls.json', allWords);
  mkdirSync('docs/guide', { recursive: true });
  writeFileSync('docs/guide/settings.md', renderSettingsPage(manifest, allWords));
  replaceTable('docs/guide/privacy.md', renderWorkspaceRulesTable());
  replaceTable('README.md', renderAgentsTable());
  replaceBadges(getRepositoryLinks(manifest)?.badges);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Writes a table between the two comments that mark its place. */
function replaceTable(path, table) {
  const text = readFileSync(path, 'utf8');
  writeFileSync(
    path,
    text.replace(/(?<=<!-- made by npm run manifest -->\n)(?:[^]*?\n)?(?=<!-- end -->)/, () => `${table}\n`),
  );
}

/** Writes the badges between their two comments in the README. */
function replaceBadges(badges = '') {
  const text = readFileSync('README.md', 'utf8');
  const badgesPattern = /(?<=<!-- badges, made by npm run manifest -->\n)[^]*?(?=<!-- end -->)/;
  writeFileSync('README.md', text.replace(badgesPattern, badges === '' ? '' : `${badges}\n`));
}
