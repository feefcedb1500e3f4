/**
 * Checks that docs/guide/privacy.md names every file that we store: each kind in `OWN`, and each
 * part of our paths.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const page = readFileSync(join(root, 'docs', 'guide', 'privacy.md'), 'utf8');
const read = (pattern: string): string[] =>
  globSync(pattern, { cwd: root })
    .filter((file) => !/test(?:ing\w*)?\.ts$/.test(file))
    .map((file) => readFileSync(join(root, file), 'utf8'));

/** Matches, in source code, names of files within VS Code's storage folders. */
const VSCODE = /[sS]torageUri\)?\.fsPath,\s*'([^']+)'/g;
/** Matches, in source code, names of files within a store. */
const STORE = /join\((?:store|root|folder),\s*'([\w.]+)'\)/g;
const named = new Set([
  ...read('src/**/*.ts').flatMap((text) => [...text.matchAll(VSCODE)].map(([, name = '']) => name)),
  ...read('src/{storage,giveBack,cli,cli/gateway}/*.ts').flatMap((text) =>
    [...text.matchAll(STORE)].map(([, name = '']) => name),
  ),
]);

/** Names of files in a folder that has its own row on the page; the values are the folders. */
const INSIDE: Readonly<Record<string, string>> = {
  expired: 'replacements/',
  undone: 'replacements/',
  undoing: 'replacements/',
  done: 'replacements/',
  seen: 'runs/run-…/',
};

it('the check of the privacy page finds names in the sources', () => {
  expect([...named]).toEqual(
    expect.arrayContaining(['ledgers', 'live', 'running', 'summaries', 'replacements', 'gateway.json', 'account.json']),
  );
});

it.each([...named])('the privacy page names %s', (name) => {
  expect(page.includes(INSIDE[name] ?? name)).toBe(true);
});

it('the privacy page has a row for each kind of file that we store', () => {
  const table = readFileSync(join(root, 'src', 'storage', 'ownFiles.ts'), 'utf8');
  const kinds = [
    ...(/export const OWN_FILE_KINDS = \{([^]*?)\n\}/.exec(table)?.[1] ?? '').matchAll(/^ {2}(\w+):/gm),
  ].map(([, kind]) => kind);
  const rows: Readonly<Record<string, string>> = {
    store: '`.context-condenser`',
    account: '`account.json`',
    whatIf: '`whatIf.json`',
    conversations: '`conversations.json`',
    address: '`gateway.json`',
    gateway: '`running/`',
    run: '`runs/run-…/`',
    spending: '`spending.jsonl`',
    metrics: '`metrics.jsonl`',
    lock: '`lock`',
    log: '`--log`',
  };
  expect(kinds.toSorted()).toEqual(Object.keys(rows).toSorted());
  expect(Object.values(rows).filter((row) => !page.includes(row))).toEqual([]);
});
