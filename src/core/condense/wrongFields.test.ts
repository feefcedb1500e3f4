import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parsePresets } from '../../settings/presets';
import { SETTINGS } from '../../settings/table';
import { parseConfigOrThrow } from './config';
import { losslessProvider } from './providers/lossless';
import { createSmartProvider } from './providers/smart';
import { nativeConfigSchema } from './summary/nativeConfig';
import { truncationProvider } from './providers/truncation';
import { validateFields } from './config';
import type { ValidationResult } from './types';

/**
 * For each field, a valid value other than the default that has an effect on its own, and a value
 * that the field rejects.
 */
const FIELDS = {
  truncation: {
    validate: (config: unknown): ValidationResult<unknown> => truncationProvider.validateConfig(config),
    fields: {
      preserveRecentCount: [3, -1],
      toolResults: [{ mode: 'truncate', maxLines: 7, keep: 'head' }, { maxLines: 'many' }],
      toolParameters: [{ mode: 'keep' }, { mode: 'shorten' }],
      images: [{ keepNewest: 1 }, { keepNewest: 'all' }],
      preserveUserMessages: [false, 'no'],
      minimumTokens: [5, null],
    },
  },
  lossless: {
    validate: (config: unknown): ValidationResult<unknown> => losslessProvider.validateConfig(config),
    fields: {
      terminalNoise: [false, 'off'],
      keep: ['first', 'oldest'],
      strictOnly: [true, 1],
      tools: [{ Mine: { kind: 'read', path: ['file'] } }, { Mine: { kind: 'reads' } }],
    },
  },
  native: {
    validate: (config: unknown): ValidationResult<unknown> => validateFields(nativeConfigSchema, config),
    fields: { keepLast: [7, 1.5], prompt: ['Mine.', 'Mine {{nope}}'], maskSecrets: ['always', 'sometimes'] },
  },
} as const;

const used = (result: ValidationResult<unknown>): unknown => (result.valid ? result.config : result.rest?.config);

describe('invalid fields in a configuration', () => {
  it.each(Object.keys(FIELDS) as (keyof typeof FIELDS)[])('are omitted for %s, and the others are used', (provider) => {
    const { validate, fields } = FIELDS[provider];
    const names = Object.keys(fields);
    const choice = fc.record(Object.fromEntries(names.map((name) => [name, fc.constantFrom('absent', 0, 1)])));
    fc.assert(
      fc.property(choice, fc.boolean(), (chosen, hasUnknown) => {
        const of = (wanted: readonly unknown[]): Record<string, unknown> =>
          Object.fromEntries(
            Object.entries(fields as Record<string, readonly [unknown, unknown]>).flatMap(([name, values]) => {
              const which = chosen[name];
              return typeof which === 'number' && wanted.includes(which) ? [[name, values[which]]] : [];
            }),
          );
        const written = { ...of([0, 1]), ...(hasUnknown && { truncationMode: 'x' }) };
        const result = validate(written);
        expect(used(result)).toEqual(used(validate(of([0]))));
        const problems = result.valid ? [] : result.problems.map(({ path }) => path.split('.')[0]);
        expect(new Set(problems)).toEqual(
          new Set([...Object.keys(of([1])), ...(hasUnknown ? ['truncationMode'] : [])]),
        );
      }),
    );
  });

  it('that are unknown are reported with a suggestion', () => {
    const config = { preserveRecentCounts: 3, toolResults: { maxLine: 5, maxLines: 9 }, minimumTokens: 7 };
    expect(truncationProvider.validateConfig(config)).toMatchObject({
      valid: false,
      problems: [
        { path: 'toolResults.maxLine', message: 'is not a known field (did you mean maxLines?)' },
        { path: 'preserveRecentCounts', message: 'is not a known field (did you mean preserveRecentCount?)' },
      ],
      rest: { config: { preserveRecentCount: 10, toolResults: { maxLines: 9 }, minimumTokens: 7 } },
    });
  });
});

const pass = (id: string) => ({ id, name: id, mode: 'individual', selection: { type: 'preserve_recent', count: 5 } });
const wrongPass = (id: string) => ({ ...pass(id), selection: { type: 'preserve_recent', count: 'few' } });
const modelPass = (id: string) => ({ ...pass(id), mode: 'batch', batchConfig: { operation: 'summarize' } });
const MAKE = { sound: pass, wrong: wrongPass, model: modelPass };
const kinds = fc.array(fc.constantFrom('sound' as const, 'wrong' as const, 'model' as const), { maxLength: 6 });

describe('invalid passes', () => {
  const smart = createSmartProvider({ presets: () => [] });

  it('are left out of Smart and presets, together with later passes that call a model', () => {
    fc.assert(
      fc.property(kinds, (list) => {
        const passes = list.map((kind, index) => MAKE[kind](`p${index}`));
        const first = list.indexOf('wrong');
        const kept = passes.filter(
          (_, index) => list[index] === 'sound' || (list[index] === 'model' && (first === -1 || index < first)),
        );
        const config = { version: 1, passes, parallelCalls: 2 };
        const preset = { id: 'mine', name: 'Mine', description: '', config };
        const { presets, problems } = parsePresets([preset]);
        const isUsable = first === -1 || kept.length > 0;
        expect(presets).toEqual(isUsable ? [{ ...preset, config: { ...config, passes: kept } }] : []);
        expect(problems.length > 0).toBe(first !== -1);
        const ran = parseConfigOrThrow(smart, config);
        expect(ran.notes.length > 0).toBe(first !== -1);
        if (isUsable) expect(ran.config).toMatchObject({ parallelCalls: 2, passes: kept.map(({ id }) => ({ id })) });
      }),
    );
  });

  it('name the choices for a field that decides what else a pass needs', () => {
    const { mode: _, ...modeless } = pass('a');
    expect(smart.validateConfig({ version: 1, passes: [modeless, { ...modeless, mode: 'nope' }] })).toMatchObject({
      problems: [
        { path: 'passes.0.mode', message: 'is missing; must be "individual" or "batch"' },
        { path: 'passes.1.mode', message: 'must be "individual" or "batch"; found "nope"' },
      ],
    });
  });

  it('include every pass but the first of those with the same ID', () => {
    expect(smart.validateConfig({ version: 1, passes: [pass('a'), pass('a'), pass('b')] })).toMatchObject({
      problems: [{ path: 'passes.1.id', message: '"a" is the id of an earlier pass' }],
      rest: { config: { passes: [{ id: 'a' }, { id: 'b' }] } },
    });
  });

  it.each([
    ['what must be left alone is not clear', { protect: { files: '*.md' } }],
    ['there is no list of passes', { passes: 3 }],
    ['the form is of a later version', { version: 2 }],
  ])('make the whole configuration unusable if %s', (_what, wrong) => {
    const config = { version: 1, passes: [pass('a')], ...wrong };
    expect(smart.validateConfig(config)).not.toHaveProperty('rest');
    expect(parsePresets([{ id: 'mine', name: 'Mine', config }]).presets).toEqual([]);
  });
});

it('a preset keeps its passes despite a wrong name, description or figure, each of which is reported', () => {
  const config = { version: 1, passes: [pass('a')] };
  const written = { id: 'mine', name: 7, description: [], config: { ...config, parallelCalls: 99 } };
  expect(parsePresets([written])).toEqual({
    presets: [{ id: 'mine', name: 'mine', description: '', config }],
    problems: [
      { path: '0.name', message: 'must be a string; found 7' },
      { path: '0.description', message: 'must be a string; found []' },
      { path: '0.config.parallelCalls', message: 'must be at most 16; found 99' },
    ],
  });
});

it('an invalid entry in the list of models does not remove the other models', () => {
  expect(SETTINGS['agent.wrappedModels'].parse(['a/b', 'no model', 7, 'c/d'])).toMatchObject({
    value: ['a/b', 'c/d'],
    problems: [{ path: '1' }, { path: '2' }],
  });
});
