/**
 * Checks that input from outside is bounded, because the globs of an imported preset are matched
 * with every call.
 */
import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { createFileMatcher } from '../../src/core/glob';
import { parsePresetFile } from '../../src/core/condense/providers/smart/presets';

interface Schema {
  readonly [field: string]: unknown;
}

/** Finds nested schemas, with their paths. */
function* schemasIn(value: unknown, place = ''): Generator<readonly [string, Schema]> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield [place, value as Schema];
  for (const [key, inner] of Object.entries(value)) yield* schemasIn(inner, `${place}/${key}`);
}

const schema: unknown = JSON.parse(readFileSync('schemas/preset.schema.json', 'utf8'));

it('every list in a preset has a limit', () => {
  const endless = [...schemasIn(schema)].filter(([, { type, maxItems }]) => type === 'array' && maxItems === undefined);
  expect(endless.map(([place]) => place)).toEqual([]);
});

it('every free text in a preset has a limit', () => {
  const endless = [...schemasIn(schema)].filter(
    ([place, { type, maxLength, enum: values, const: value, pattern }]) =>
      type === 'string' &&
      [maxLength, values, value, pattern].every((bound) => bound === undefined) &&
      !place.endsWith('/$schema'),
  );
  expect(endless.map(([place]) => place)).toEqual([]);
});

const preset = (protect: unknown, marker = 'x'): string =>
  JSON.stringify({
    id: 'x',
    name: 'X',
    config: {
      version: 1,
      passes: [
        {
          ...{ id: 'p', name: 'p', selection: { type: 'preserve_recent', count: 0 }, mode: 'individual', protect },
          individualConfig: { defaults: { toolResults: { operation: 'suppress', marker } } },
        },
      ],
    },
  });

it.each<[string, unknown]>([
  ['10,000 globs', { files: Array.from({ length: 10_000 }, (_, at) => `a*${at}`), tools: [] }],
  ['a glob of a megabyte', { files: ['a'.repeat(500_000)], tools: [] }],
  ['many long globs', { files: [], tools: Array.from({ length: 150 }, () => 'a*'.repeat(200)) }],
])('a preset with %s is rejected in words', (_, protect) => {
  const parsed = parsePresetFile(preset(protect));
  expect(parsed.valid).toBe(false);
  expect(JSON.stringify(parsed)).toMatch(/protect/);
});

it.each(['two\nlines', 'bell\u0007', 'turned \u202e around', ''])('a marker text of %j is rejected', (marker) => {
  expect(parsePresetFile(preset({}, marker)).valid).toBe(false);
});

it('a glob matches what its regular expression matches', () => {
  const parts = fc.constantFrom('a', 'b', '/', '*', '?', '**/', '.ts');
  fc.assert(
    fc.property(
      fc.array(parts, { maxLength: 8 }),
      fc.array(fc.constantFrom('a', 'b', '/', '.ts'), { maxLength: 8 }),
      (glob, path) => {
        const pattern = glob.join('').replaceAll(/\*{2,}(?!\/)/g, '*');
        const source = pattern.replaceAll(/(?:\*\*\/)+|\*|\?|\./g, (part) =>
          part.startsWith('**/') ? '(?:[^]*/)?' : part === '*' ? '[^/]*' : part === '?' ? '[^/]' : '\\.',
        );
        const anywhere = pattern.startsWith('/') ? source : `(?:[^]*/)?${source}`;
        expect(createFileMatcher([pattern])(path.join(''))).toBe(new RegExp(`^${anywhere}$`).test(path.join('')));
      },
    ),
  );
});
