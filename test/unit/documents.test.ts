/** The documents lead somewhere: each link to a file that there is, and the ones on the code to sources that there are. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const documents = globSync(['*.md', 'docs/**/*.md', 'src/**/*.md', 'sample/*.md', 'media/**/*.md'], { cwd: root });

it.each(documents)('%s: its links lead to files', (file) => {
  const targets = [...read(file).matchAll(/\]\((?!\w+:|#)([^)#]+)[^)]*\)/g)].map(([, target = '']) => target);
  expect(targets.filter((target) => !existsSync(join(root, dirname(file), target)))).toEqual([]);
});

it.each(documents.filter((file) => file.startsWith('src/') || /(ARCHITECTURE|lossless)\.md$/.test(file)))(
  '%s: names sources that there are',
  (file) => {
    const sources = new Set(
      globSync('{src,test,webview-ui,scripts}/**/*.{ts,tsx,mjs}', { cwd: root }).map((path) => basename(path)),
    );
    const named = [...read(file).matchAll(/`((?!dist\/)[\w./-]+\.(?:ts|tsx|mjs))`/g)].map(([, name = '']) =>
      basename(name),
    );
    expect(named.filter((name) => !sources.has(name) && !existsSync(join(root, name)))).toEqual([]);
  },
);

it('CONTRIBUTING names places that there are', () => {
  const named = [...read('CONTRIBUTING.md').matchAll(/\b(?:src|test|scripts|docs|webview-ui)\/[\w./-]*\w/g)].map(
    ([path]) => path,
  );
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});
