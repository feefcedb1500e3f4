/** The layers: what eslint holds is what docs/ARCHITECTURE.md says, for every folder of src/. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { editorFolders, layers } from '../../scripts/layers.mjs';

const root = join(import.meta.dirname, '..', '..');

/** The table's rows: the folders of the first column, and what the third says. */
const rows = readFileSync(join(root, 'docs/ARCHITECTURE.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| `src/'))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .flatMap(([, names = '', , imports = '']) =>
    [...names.matchAll(/`src\/(\w+)`/g)].map(([, folder = '']) => ({ folder, imports })),
  );

it('every folder of src/ has its row', () => {
  const folders = readdirSync(join(root, 'src'), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  expect(rows.map(({ folder }) => folder).sort()).toEqual(folders.map(({ name }) => name).sort());
  expect([...Object.keys(layers), ...editorFolders].sort()).toEqual(folders.map(({ name }) => name).sort());
});

it.each(rows)('src/$folder may import what its row says: $imports', ({ folder, imports }) => {
  if (editorFolders.includes(folder)) expect(imports).toBe('all but extension');
  else if (folder === 'core') expect(imports).toBe('nothing above it');
  // Behind a name may stand in brackets what is taken of it.
  else expect(imports.replaceAll(/ \([^)]*\)/g, '').split(', ')).toEqual(layers[folder]);
});
