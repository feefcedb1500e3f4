// Writes the JSON Schemas that follow from the types: those of settings into package.json, that of preset files into schemas/;
// and docs/guide/settings.md from package.json.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { format, resolveConfig } from 'prettier';
import { settingsPage } from './settingsPage.mjs';

const folder = mkdtempSync(join(tmpdir(), 'context-condenser-schemas-'));
try {
  const outfile = join(folder, 'schemas.mjs');
  await build({ entryPoints: ['src/settings/schemas.ts'], bundle: true, platform: 'node', format: 'esm', outfile });
  const { presetFileJsonSchema, settingSchemas } = await import(pathToFileURL(outfile).href);
  const style = await resolveConfig('package.json');
  const text = (value) => format(JSON.stringify(value, null, 2), { ...style, parser: 'json' });
  mkdirSync('schemas', { recursive: true });
  writeFileSync('schemas/preset.schema.json', await text(presetFileJsonSchema()));
  const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
  const { properties } = manifest.contributes.configuration;
  for (const [name, schema] of Object.entries(settingSchemas())) {
    const { default: standard, scope, order, markdownDescription } = properties[name];
    properties[name] = { ...schema, default: standard, scope, order, markdownDescription };
  }
  writeFileSync(
    'package.json',
    await format(JSON.stringify(manifest, null, 2), { ...style, parser: 'json-stringify' }),
  );
  const words = JSON.parse(readFileSync('package.nls.json', 'utf8'));
  mkdirSync('docs/guide', { recursive: true });
  writeFileSync('docs/guide/settings.md', settingsPage(manifest, words));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
