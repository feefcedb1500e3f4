/** Checks links in documents, and names of source files in documents about the code. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const documents = globSync(['*.md', 'docs/**/*.md', 'src/**/*.md', 'sample/*.md', 'media/**/*.md'], { cwd: root });

it.each(documents)('every relative link in %s leads to a file', (file) => {
  const targets = [...read(file).matchAll(/\]\((?!\w+:|#)([^)#]+)[^)]*\)/g)].map(([, target = '']) => target);
  expect(targets.filter((target) => !existsSync(join(root, dirname(file), target)))).toEqual([]);
});

/** Returns the fragment with which GitHub links to a heading. */
const fragment = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');

it.each(documents)('every link in %s to a part of a document leads to a heading', (file) => {
  const links = [...read(file).matchAll(/\]\((?!\w+:)([^)#]*)#([^)]+)\)/g)];
  const broken = links.filter(([, target = '', part = '']) => {
    const text = read(target === '' ? file : join(dirname(file), target));
    return ![...text.matchAll(/^#+ (.+)$/gm)].some(([, heading = '']) => fragment(heading) === part);
  });
  expect(broken.map(([link]) => link)).toEqual([]);
});

it.each(documents.filter((file) => file.startsWith('src/') || /(ARCHITECTURE|lossless)\.md$/.test(file)))(
  '%s names only source files that exist',
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

it.each(documents.filter((file) => file.startsWith('src/')))(
  'files that %s names are where the document says',
  (file) => {
    const named = [...read(file).matchAll(/`([\w./-]+(?:\.(?:ts|tsx|mjs|md)|\/))`/g)].map(([, name = '']) => name);
    const places = [join(root, dirname(file)), root];
    expect(named.filter((name) => !places.some((place) => existsSync(join(place, name))))).toEqual([]);
  },
);

it('the glossary names code that exists', () => {
  const code = globSync('src/**/*.ts', { cwd: root }).map(read).join('\n');
  const names = [...read('docs/glossary.md').matchAll(/^\| [^|]+ \| `([^`]+)` \|/gm)].map(([, name = '']) => name);
  expect(names.length).toBeGreaterThan(25);
  const missing = names.filter((name) =>
    name.includes('/') ? !existsSync(join(root, name)) : !new RegExp(String.raw`\b${name}\b`).test(code),
  );
  expect(missing).toEqual([]);
});

it('CONTRIBUTING names only files and folders that exist', () => {
  const named = [...read('CONTRIBUTING.md').matchAll(/\b(?:src|test|scripts|docs|webview-ui)\/[\w./-]*\w/g)].map(
    ([path]) => path,
  );
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

it('CONTRIBUTING names only tables that the code has', () => {
  const code = globSync('{src,webview-ui/src}/**/*.ts', { cwd: root }).map(read).join('\n');
  const named = [...read('CONTRIBUTING.md').matchAll(/`([A-Z]+(?:_[A-Z]+)*)`/g)].map(([, name = '']) => name);
  expect(named.length).toBeGreaterThan(0);
  expect(named.filter((name) => !new RegExp(String.raw`const ${name}\b`).test(code))).toEqual([]);
});
