import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { lazyEntries } from '../../scripts/lazyPackages.mjs';

const folder = fileURLToPath(new URL('..', import.meta.url));
const names = Object.values(lazyEntries);
// The command line is a separate program with lazy imports in its own bundle, so it is left out.
const sources = globSync('**/*.ts', {
  cwd: folder,
  exclude: (path) => path.endsWith('.test.ts') || path.startsWith('cli/'),
}).map((file) => readFileSync(join(folder, file), 'utf8'));

it('SDKs are imported only as types, or by import() inside a function, so that none is loaded before its first use', () => {
  const ofSdk = new RegExp(`import [^;]* from '(?:${names.join('|')})'`, 'g');
  const statics = sources.flatMap((source) => source.match(ofSdk) ?? []);
  expect(statics.length).toBeGreaterThan(2);
  for (const line of statics) expect(line).toMatch(/import type \{[^}]*\} from '[^']*'$/);
});

it('each package loaded by import() has a bundle of its own, and no other package has one', () => {
  const loaded = sources.flatMap((source) => [...source.matchAll(/import\('([^.'][^']*)'\)/g)].map(([, name]) => name));
  expect([...new Set(loaded)].toSorted()).toEqual(names.toSorted());
});

it('zod is imported as a namespace, because a bundler cannot tree-shake `{ z }`', () => {
  for (const source of sources) expect(source).not.toMatch(/import (type )?\{ z \} from 'zod'/);
});
