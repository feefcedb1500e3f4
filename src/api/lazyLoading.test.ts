import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { lazyEntries } from '../../scripts/lazyPackages.mjs';

const folder = fileURLToPath(new URL('..', import.meta.url));
const names = Object.values(lazyEntries);
// The command line is a separate program, with lazy imports in its own bundle.
const sources = globSync('**/*.ts', {
  cwd: folder,
  exclude: (path) => path.endsWith('.test.ts') || path.startsWith('cli/'),
}).map((file) => readFileSync(join(folder, file), 'utf8'));

it('loads no SDK before its first use: they are imported as types, or by import() within a function', () => {
  const ofSdk = new RegExp(`import [^;]* from '(?:${names.join('|')})'`, 'g');
  const statics = sources.flatMap((source) => source.match(ofSdk) ?? []);
  expect(statics.length).toBeGreaterThan(2);
  for (const line of statics) expect(line).toMatch(/import type \{[^}]*\} from '[^']*'$/);
});

it('has a bundle for each package that is loaded by import(), and for no other', () => {
  const loaded = sources.flatMap((source) => [...source.matchAll(/import\('([^.'][^']*)'\)/g)].map(([, name]) => name));
  expect([...new Set(loaded)].toSorted()).toEqual(names.toSorted());
});

it('takes zod as a namespace: of `{ z }` no bundler could leave anything out', () => {
  for (const source of sources) expect(source).not.toMatch(/import (type )?\{ z \} from 'zod'/);
});
