/**
 * Checks that the names of settings and commands agree in package.json, its texts, the code and the
 * documents.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import words from '../../package.nls.json' with { type: 'json' };
import { renderSettingsPage } from '../../scripts/settingsPage.mjs';

const root = join(import.meta.dirname, '..', '..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const { contributes } = manifest;
const PREFIX = 'contextCondenser.';
const settings = contributes.configuration.flatMap(({ properties }) => Object.keys(properties));
const commands = contributes.commands.map(({ command }) => command);
const sources = globSync('{src,webview-ui}/**/*.{ts,tsx}', { cwd: root }).filter((file) => !file.includes('.test.'));
/** Tables that name every setting do not use them. */
const SETTING_TABLES = ['src/settings/table.ts', 'src/settings/groups.ts', 'webview-ui/src/groups.ts'];
const code = sources
  .filter((file) => !SETTING_TABLES.includes(file))
  .map(read)
  .join('\n');
const documents = [
  'README.md',
  ...globSync('docs/**/*.md', { cwd: root }),
  ...globSync('media/**/*.md', { cwd: root }),
];

describe('the settings in package.json', () => {
  it('are each read somewhere, by name', () => {
    const names = settings.map((name) => name.slice(PREFIX.length));
    expect(names.filter((name) => !code.includes(`'${name}'`))).toEqual([]);
  });

  it('are documented in the guide', () => {
    expect(read('docs/guide/settings.md')).toBe(renderSettingsPage(manifest, words));
  });
});

describe('the commands in package.json', () => {
  it('are each registered', () => {
    const actions = /CONVERSATION_ACTIONS = \[([^\]]+)\]/.exec(code)?.[1] ?? '';
    const missing = commands.filter((command) => {
      const action = /^contextCondenser\.conversations\.(\w+)$/.exec(command)?.[1];
      return action === undefined ? !code.includes(`registerCommand('${command}'`) : !actions.includes(`'${action}'`);
    });
    expect(missing).toEqual([]);
  });
});

it.each(Object.entries(words).flatMap(([key, text]) => (/^walkthrough\.\w+\.description$/.test(key) ? [text] : [])))(
  'a walkthrough step has one main action: VS Code shows a link in a line of its own as a button: %s',
  (text) => {
    expect(text.split('\n').filter((line) => /^\[[^\]]+\]\([^)]+\)$/.test(line))).toHaveLength(1);
  },
);

it('documents name no unknown setting or command', () => {
  const known = new Set([...settings, ...commands]);
  const groups = [...known].map((name) => name.slice(0, name.lastIndexOf('.')));
  for (const file of documents) {
    const named = read(file).match(/contextCondenser\.[\w.]*\w/g) ?? [];
    const wrong = named.filter((name) => !known.has(name) && !groups.includes(name) && !isPartOfKnown(name, known));
    expect(wrong, file).toEqual([]);
  }
});

/**
 * True for a field of a setting that is an object, such as contextCondenser.lossless.strictOnly.
 */
const isPartOfKnown = (name: string, known: ReadonlySet<string>): boolean => {
  const parent = name.slice(0, name.lastIndexOf('.'));
  return parent !== 'contextCondenser' && known.has(parent);
};

it('every text of package.json exists, and none is unused', () => {
  const used = new Set(
    read('package.json')
      .match(/(?<=")%[\w.]+%(?=")/g)
      ?.map((key) => key.slice(1, -1)),
  );
  const missing = [...used].filter((key) => !(key in words));
  const unused = Object.keys(words).filter((key) => !used.has(key));
  expect({ missing, unused }).toEqual({ missing: [], unused: [] });
});
