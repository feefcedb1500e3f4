import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../test/support/temporaryFolder';
import { BundleLoader } from './bundles';

interface Told {
  told: string[];
}

/** Writes a program in two parts, which record when they are loaded. */
function writeProgram(): {
  bundles: BundleLoader<{ readonly program: { readonly name: string } }>;
  told: () => string[];
} {
  const folder = temporaryFolder();
  const note = (name: string): string => `require('./told.cjs').told.push('${name}');`;
  const files = {
    'told.cjs': 'exports.told = [];',
    'parts.json': JSON.stringify({ program: ['part-1.cjs', 'part-2.cjs'] }),
    'part-1.cjs': note('1'),
    'part-2.cjs': `require('./part-1.cjs'); ${note('2')}`,
    'program.cjs': `require('./part-2.cjs'); ${note('program')} exports.name = 'it';`,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const { told } = new BundleLoader<{ readonly told: Told }>(folder).loadBundleNow('told');
  return { bundles: new BundleLoader(folder), told: () => told };
}

/** Records each turn of the event loop until the work is done. */
async function withTurns<T>(told: string[], work: () => Promise<T>): Promise<T> {
  const next = (): void => {
    told.push('turn');
    timer = setImmediate(next);
  };
  let timer = setImmediate(next);
  try {
    return await work();
  } finally {
    clearImmediate(timer);
  }
}

it('parts of a program are each loaded in a separate turn of the event loop, and only once', async () => {
  const { bundles, told } = writeProgram();
  const [first, again] = await withTurns(told(), () =>
    Promise.all([bundles.loadBundle('program'), bundles.loadBundle('program')]),
  );
  expect(first.name).toBe('it');
  expect(again).toBe(first);
  expect(told().filter((each) => each !== 'turn')).toEqual(['1', '2', 'program']);
  for (const part of ['2', 'program']) expect(told()[told().indexOf(part) - 1]).toBe('turn');
  expect(told().at(-1)).toBe('turn');
  const before = told().length;
  expect((await withTurns(told(), () => bundles.loadBundle('program'))).name).toBe('it');
  expect(
    told()
      .slice(before)
      .filter((each) => each !== 'turn'),
  ).toEqual([]);
});

it("parts of a program are loaded synchronously for callers that can't wait", () => {
  const { bundles, told } = writeProgram();
  expect(bundles.loadBundleNow('program').name).toBe('it');
  expect(told()).toEqual(['1', '2', 'program']);
});
