import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readCpuMs } from '../testing';
import { hashText, type Hash } from '../hash';
import {
  expandMarkers,
  findMarkers,
  isSingleMarker,
  makeMarker,
  MARKER_EXAMPLE,
  makeUniqueReference,
  statesMarkerRule,
  removeMarkerRule,
  addMarkerRule,
  type ReferenceId,
} from './markers';

const ref = (id: string): ReferenceId => id as ReferenceId;

describe('the reference in a marker', () => {
  const hash = hashText('content');

  it('has six hex digits of a hash, and more only if another content has the same six', () => {
    expect(makeUniqueReference(hash, new Map())).toBe(hash.slice(0, 6));
    expect(makeUniqueReference(hash, new Map([[ref(hash.slice(0, 6)), hash]]))).toBe(hash.slice(0, 6));
    expect(makeUniqueReference(hash, new Map([[ref(hash.slice(0, 6)), hashText('other')]]))).toBe(hash.slice(0, 8));
  });

  it('is the whole hash if all shorter forms are taken', () => {
    const taken = new Map<ReferenceId, Hash>();
    for (let length = 6; length < 64; length += 2) taken.set(ref(hash.slice(0, length)), hashText('other'));
    expect(makeUniqueReference(hash, taken)).toBe(hash);
  });
});

describe('a marker', () => {
  it('is found in a text with its description and reference', () => {
    const text = `a ${makeMarker('3 lines · ref of x', ref('abcdef'))}${makeMarker('y', ref('abcdef01'))} b`;
    expect(findMarkers(text).map(({ what, reference }) => [what, reference])).toEqual([
      ['3 lines · ref of x', 'abcdef'],
      ['y', 'abcdef01'],
    ]);
    expect(
      findMarkers(text)
        .map(({ start, end }) => text.slice(start, end))
        .join(''),
    ).toBe(text.slice(2, -2));
    const other = makeMarker('x', ref('abcdef'));
    expect(findMarkers(`${other.replace(/\W*abcdef/, '')} ${other.replace('abcdef', 'zz')}`)).toEqual([]);
  });

  it.each([
    `${MARKER_EXAMPLE}${makeMarker('evil', ref('123456')).slice(1)}`,
    'two\r\nlines\u2028more',
    `${'x'.repeat(199)}😀`,
    'y'.repeat(10_000),
  ])('keeps its form if its description is %j', (what) => {
    const text = makeMarker(what, ref('abcdef'));
    expect(isSingleMarker(text)).toBe(true);
    expect(text).not.toMatch(/[\r\n]/);
    expect(text.isWellFormed()).toBe(true);
    expect(text.length).toBeLessThan(300);
  });

  it('may contain the explanation of markers', () => {
    const plain = makeMarker('x · ref abcdef of y', ref('abcdef'));
    expect(statesMarkerRule(plain)).toBe(false);
    expect(statesMarkerRule(addMarkerRule(plain))).toBe(true);
    expect(isSingleMarker(addMarkerRule(plain))).toBe(true);
    expect(removeMarkerRule(addMarkerRule(plain))).toBe(plain);
    expect(statesMarkerRule(addMarkerRule(makeMarker('z'.repeat(300), ref('abcdef'))))).toBe(true);
  });

  it("counts as a text's only content only if there is no other text", () => {
    const one = makeMarker('x', ref('abcdef'));
    expect([one, `${one} `, one + one, 'x', ''].map(isSingleMarker)).toEqual([true, false, false, false, false]);
  });
});

describe('expanding markers', () => {
  it('replaces known markers with their originals and keeps others', () => {
    const [known, unknown] = [makeMarker('x', ref('abcdef')), makeMarker('x', ref('000000'))];
    const resolve = (reference: ReferenceId): string | undefined => (reference === 'abcdef' ? 'ORIGINAL' : undefined);
    expect(expandMarkers(`a${known}b${unknown}c`, resolve)).toBe(`aORIGINALb${unknown}c`);
    expect(expandMarkers('plain', resolve)).toBe('plain');
  });

  it('takes linear time on text full of marker beginnings', () => {
    const started = readCpuMs();
    const opening = MARKER_EXAMPLE.slice(0, -2);
    const reference = makeMarker('', ref('a')).slice(opening.length, -1);
    expect(findMarkers(opening.repeat(100_000))).toEqual([]);
    expect(findMarkers(opening + reference.repeat(100_000))).toEqual([]);
    expect(readCpuMs() - started).toBeLessThan(1_000);
  });
});

it('only one source file contains the form of markers, and other extensions get it from the exported types', () => {
  const root = join(import.meta.dirname, '..', '..');
  const spelled = globSync('**/*.ts', { cwd: root }).filter(
    (file) =>
      !/\.test\./.test(file) &&
      new RegExp(`[${MARKER_EXAMPLE.at(0)!}${MARKER_EXAMPLE.at(-1)!}]`).test(readFileSync(join(root, file), 'utf8')),
  );
  expect(spelled.sort()).toEqual([join('core', 'messages', 'markers.ts'), join('extensionApi', 'api.ts')]);
});
