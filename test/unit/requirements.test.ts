/**
 * Checks in docs/requirements.md that every incomplete row has a state, and that what rows refer to
 * exists.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };

interface Row {
  readonly id: string;
  readonly state: string;
  readonly shown: string;
}

const PAGE = readFileSync('docs/requirements.md', 'utf8');
const rows = PAGE.split('\n').flatMap((line): Row[] => {
  const [, id = '', , state = '', shown = ''] = line.split(/\s*\|\s*/);
  return /^[A-Z]\d+$/.test(id) ? [{ id, state, shown }] : [];
});

const known = new Set([
  ...manifest.contributes.configuration.flatMap(({ properties }) => Object.keys(properties)),
  ...manifest.contributes.commands.map(({ command }) => command),
]);
const decisions = readdirSync('docs/decisions').map((file) => Number.parseInt(file, 10));
const readme = readFileSync('README.md', 'utf8');

/** Lists the things that a row refers to and that don't exist. */
function missingIn({ shown }: Row): string[] {
  const missing: string[] = [];
  const need = (what: string, isThere: boolean): void => {
    if (!isThere) missing.push(what);
  };
  for (const [, name = ''] of shown.matchAll(/`([^`]+)`/g)) {
    const script = /^npm run (\S+)/.exec(name)?.[1];
    if (script !== undefined) need(name, Object.hasOwn(manifest.scripts, script));
    else if (name.startsWith('contextCondenser.')) need(name, known.has(name));
    else if (name.includes('/') || /\.(?:ts|tsx|md)$/.test(name)) need(name, existsSync(name));
  }
  for (const [, file = '', title = ''] of shown.matchAll(/`([^`]+\.test\.tsx?)`, "([^"]+)"/g))
    need(`${file}: ${title}`, readFileSync(file, 'utf8').includes(title));
  for (const [, target = ''] of shown.matchAll(/\]\(([^)#]+)/g)) need(target, existsSync(`docs/${target}`));
  for (const [, number] of shown.matchAll(/ADR (\d+)/g)) need(`ADR ${number}`, decisions.includes(Number(number)));
  for (const [, second] of shown.matchAll(/ADR \d+ and (\d+)/g))
    need(`ADR ${second}`, decisions.includes(Number(second)));
  for (const [, title] of shown.matchAll(/README "([^"]+)"/g)) need(`README ${title}`, readme.includes(`## ${title}`));
  for (const [, other] of shown.matchAll(/(?:^|[ :])([A-M]\d+)(?=$|[;,. ])/g))
    need(
      `row ${other}`,
      rows.some(({ id }) => id === other),
    );
  return missing;
}

describe('the table of requirements', () => {
  it('has each row once, done or decided', () => {
    expect(rows.length).toBeGreaterThan(70);
    expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
    expect(rows.filter(({ state, shown }) => !['✓', '≠'].includes(state) || shown === '')).toEqual([]);
  });

  it.each(rows)('refers only to existing things in row $id', (row) => {
    expect(missingIn(row)).toEqual([]);
  });

  it('proves each finished requirement with a file, a command or another row', () => {
    const unshown = rows.filter(({ state, shown }) => state === '✓' && !/`|\b[A-M]\d+\b/.test(shown));
    expect(unshown).toEqual([]);
  });

  const AUDIT = '../shared/review/REQUIREMENTS.md';
  it.runIf(existsSync(AUDIT))('contains every row that the audit did not mark as done', () => {
    const open = readFileSync(AUDIT, 'utf8')
      .split('\n')
      .flatMap((line) => {
        const [, id = '', , state = ''] = line.split(/\s*\|\s*/);
        return /^[A-M]\d+$/.test(id) && state !== 'done' ? [id] : [];
      });
    expect(open.filter((id) => !rows.some((row) => row.id === id))).toEqual([]);
  });
});
