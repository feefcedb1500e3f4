/** Values are exported for somebody: each is named in another file than its own. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const EXPORT = /^export (?:async )?(?:const|function\*?|class) (\w+)/gm;

/** The exports that VS Code calls from outside. */
const ENTRY_POINTS = new Set(['activate', 'deactivate']);

const files = globSync('{src,webview-ui,test,scripts}/**/*.{ts,tsx,mts,mjs}', {
  cwd: root,
  exclude: ['**/node_modules/**'],
});
const texts = new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]));

/** In how many files each word stands. */
const filesWith = new Map<string, number>();
for (const text of texts.values()) {
  for (const word of new Set(text.match(/\w+/g))) filesWith.set(word, (filesWith.get(word) ?? 0) + 1);
}

it('no value is exported that only its own file names', () => {
  const alone = [...texts]
    .filter(([file]) => /^(?:src|webview-ui)/.test(file))
    .flatMap(([file, text]) => [...text.matchAll(EXPORT)].map(([, name = '']) => ({ file, name })))
    .filter(({ name }) => filesWith.get(name) === 1 && !ENTRY_POINTS.has(name));
  expect(alone).toEqual([]);
});
