/**
 * Compares the guide's table of options and the summary of the benchmarks with
 * docs/research/benchmarks.md.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const docs = join(import.meta.dirname, '..', '..', 'docs');

/** Returns the cells of the tables under a heading, without header rows. */
const rowsUnder = (file: string, heading: string): string[][] =>
  (readFileSync(join(docs, file), 'utf8').split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '')
    .split('\n')
    .filter((line) => /^\| [A-Z]/.test(line))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );

const guide = new Map(rowsUnder('guide/choosing.md', 'What was measured').map(([way = '', ...cells]) => [way, cells]));
const measured = rowsUnder('research/benchmarks.md', 'Every way to condense');

const FOOTNOTE = / [¹²³⁴]$/;

const rounded = (share: string): string => `${Math.round(Number.parseFloat(share))}%`;

/** @param cost "$0.051", or a dash if nothing was paid. */
function costWords(cost: string): string {
  if (cost === '–') return 'nothing';
  const dollars = Number(cost.slice(1));
  return dollars < 0.01 ? 'less than $0.01' : `$${dollars.toFixed(2)}`;
}

it('the guide on choosing lists every measured option', () => {
  expect(measured.length).toBeGreaterThan(8);
  expect([...guide.keys()].sort()).toEqual(measured.map(([way]) => way).sort());
});

it.each(measured.map((cells) => [cells[0] ?? '', cells] as const))(
  'the guide on choosing gives the measured figures of %s',
  (way, cells) => {
    const [removes = '', stand = '', , cost = ''] = guide.get(way) ?? [];
    const [, removed = '', lines = ''] = cells;
    expect({ removes, stand: stand.replace(FOOTNOTE, ''), cost: cost.replace(FOOTNOTE, '') }).toEqual({
      removes: rounded(removed),
      stand: rounded(lines),
      cost: costWords(cells[9] ?? ''),
    });
  },
);

it('the summary of benchmarks quotes rows of the measured tables', () => {
  const rows = (file: string): string[] =>
    readFileSync(join(docs, file), 'utf8')
      .split('\n')
      .filter((line) => /^\|.*\d.* %/.test(line));
  const tables = new Set(rows('research/benchmarks.md'));
  const quoted = rows('BENCHMARKS.md');
  expect(quoted.length).toBeGreaterThan(5);
  expect(quoted.filter((row) => !tables.has(row))).toEqual([]);
});
