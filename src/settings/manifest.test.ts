import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import words from '../../package.nls.json' with { type: 'json' };
import { isRecord } from '../core/messages/blocks';
import type { JsonSchema } from './jsonSchema';
import {
  createPresetFileSchema,
  SCHEMA_FILES,
  createSettingsFileSchema,
  createSettingsManifest,
  createWorkspaceFileSchema,
  renderWorkspaceRulesTable,
} from './manifest';
import { SETTING_GROUPS } from './groups';
import { SETTING_NAMES, SETTINGS } from './table';

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const made = createSettingsManifest();

// If one of these fails, run `npm run manifest`.
it('package.json has the settings of our table in their groups and order', () => {
  const { configuration } = manifest.contributes;
  expect(configuration).toEqual(plain(made.groups));
  expect(configuration.map(({ properties }) => Object.keys(properties))).toEqual(
    made.groups.map(({ properties }) => Object.keys(properties)),
  );
  expect(manifest.capabilities.untrustedWorkspaces.restrictedConfigurations).toEqual(made.restricted);
});

it('the settings page has each setting in exactly one group', () => {
  const names = SETTING_GROUPS.flatMap(({ settings, advanced }) => [...settings, ...advanced]);
  expect(names.toSorted()).toEqual([...SETTING_NAMES].toSorted());
});

it('package.nls.json has the texts in the table of settings, and no other texts of settings', () => {
  const ofSettings = Object.entries(words).filter(([key]) => key.startsWith('setting.'));
  expect(Object.fromEntries(ofSettings)).toEqual(made.words);
});

it('the guide says what a workspace may set, as in the table', () => {
  expect(readFileSync('docs/guide/privacy.md', 'utf8')).toContain(
    `<!-- made by npm run manifest -->\n${renderWorkspaceRulesTable()}\n<!-- end -->`,
  );
});

it.each([
  ['preset', createPresetFileSchema],
  ['settings', createSettingsFileSchema],
  ['workspace', createWorkspaceFileSchema],
])("schemas/%s.schema.json equals the code's schema, and is registered for its files", (name, schema) => {
  const file = `schemas/${name}.schema.json`;
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(plain(schema()));
  expect(manifest.contributes.jsonValidation).toEqual(SCHEMA_FILES);
  expect(SCHEMA_FILES.map(({ url }) => url)).toContain(`./${file}`);
});

it.each(SETTING_NAMES)('the setting %s has a valid default, which is used if the value is absent', (name) => {
  const { default: standard, parse } = SETTINGS[name];
  expect(parse(standard).problems).toEqual([]);
  const { value, problems } = parse(undefined);
  expect(problems).toEqual([]);
  // Providers apply their own defaults.
  expect([standard, undefined]).toContainEqual(value);
});

it.each([
  ['maxCostPerCondensation', -1, 0.5, 'must be at least 0; found -1'],
  ['maxCostPerCondensation', '0', 0.5, 'must be a number; found "0"'],
  ['maxCostPerCondensation', '0.01', 0.5, 'must be a number; found "0.01"'],
  ['maxCostPerCondensation', null, 0.5, 'must be a number; found null'],
  ['threshold', 3, 75, 'must be at least 5; found 3'],
  ['manual.targetPercent', 1_000, 50, 'must be at most 95; found 1000'],
  ['history', 'some', 'active', 'must be "active" or "all"; found "some"'],
  ['agent.declaredWindow', 1.5, 1_000_000, 'must be a whole number; found 1.5'],
  ['agent.wrappedModels', ['no-slash'], [], '0 must be a model as vendor/id; found "no-slash"'],
  ['automatic', 'off', true, 'must be a boolean; found "off"'],
  [
    'condensingPrompt',
    '{{nope}}',
    '',
    '{{nope}} is not known; known placeholders: {{conversation}}, {{earlier_summary}}, {{system}}',
  ],
  ['profiles', [{ id: 'x' }], [], '0.name is missing'],
  ['coherenceFloor', { todos: 100, files: 200 }, { todos: 100 }, 'files must be at most 100; found 200'],
  ['providers', [], {}, 'must be an object'],
] as const)('the setting %s with the invalid value %j counts as %j: %s', (name, value, used, words) => {
  const parsed = SETTINGS[name].parse(value);
  expect(parsed.value).toEqual(used);
  expect(parsed.problems.map(({ path, message }) => `${path} ${message}`.trim())).toContain(words);
});

/** Places whose fields are defined by other extensions or by vendors. */
const OPEN = /^contextCondenser\.(providers\.\*|profiles\.items\.extraBody\.\*)$|\.steps\.items\.config$/;

/**
 * Returns places without further schema: an object without fields, a list without items, or
 * nothing. Editors can't complete there.
 */
function listLeaves(schema: unknown, root: JsonSchema, path = '', seen: readonly unknown[] = []): string[] {
  if (!isRecord(schema) || seen.includes(schema)) return [];
  const inside = (inner: unknown, key: string): string[] =>
    listLeaves(inner, root, path === '' ? key : `${path}.${key}`, within);
  const within = [...seen, schema];
  if (typeof schema['$ref'] === 'string') {
    const target = schema['$ref']
      .slice(2)
      .split('/')
      .reduce<unknown>((at, key) => (isRecord(at) || Array.isArray(at) ? (at as JsonSchema)[key] : undefined), root);
    return listLeaves(target ?? {}, root, path, within);
  }
  const shapes = [schema['anyOf'], schema['oneOf'], schema['allOf']].flatMap((list) =>
    Array.isArray(list) ? list : [],
  );
  const { properties, additionalProperties, items, type } = schema;
  const ends = [
    ...shapes.flatMap((shape) => (isRecord(shape) && 'if' in shape ? [] : listLeaves(shape, root, path, within))),
    ...Object.entries(isRecord(properties) ? properties : {}).flatMap(([key, inner]) => inside(inner, key)),
    ...(isRecord(additionalProperties) ? inside(additionalProperties, '*') : []),
    ...(items === undefined ? [] : inside(items, 'items')),
  ];
  const isOpen =
    (type === 'object' && !isRecord(properties) && !isRecord(additionalProperties)) ||
    (type === 'array' && !isRecord(items)) ||
    (['type', 'enum', 'const', 'pattern', 'if'].every((key) => !(key in schema)) && shapes.length === 0);
  return isOpen && !OPEN.test(path) ? [path, ...ends] : ends;
}

it.each([
  ['settings.json', createSettingsFileSchema],
  ['preset files', createPresetFileSchema],
])('the JSON schema for %s offers completion at every depth', (_name, schema) => {
  expect(new Set(listLeaves(schema(), schema()))).toEqual(new Set());
});

it('the JSON schema for settings.json describes fields of every depth', () => {
  const found = new Set<string>();
  const visit = (value: unknown): void => {
    if (!isRecord(value) && !Array.isArray(value)) return;
    if (isRecord(value) && isRecord(value['properties']))
      for (const key of Object.keys(value['properties'])) found.add(key);
    Object.values(value).forEach(visit);
  };
  visit(createSettingsFileSchema());
  expect([...found]).toEqual(
    expect.arrayContaining([
      'selection',
      'execution',
      'tokenThreshold',
      'maxLines',
      'contentTypes',
      'keepFirst',
      'when',
      'budgetLeft',
    ]),
  );
});
