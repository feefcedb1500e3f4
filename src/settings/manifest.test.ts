import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import words from '../../package.nls.json' with { type: 'json' };
import { presetFileJsonSchema, settingsManifest, workspaceTable } from './manifest';
import { SETTING_NAMES, SETTINGS } from './table';

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const made = settingsManifest();

// Where one of these fails: npm run manifest
it('package.json has the settings of the table, in its order', () => {
  const { properties } = manifest.contributes.configuration;
  expect(properties).toEqual(plain(made.properties));
  expect(Object.keys(properties)).toEqual(Object.keys(made.properties));
  expect(manifest.capabilities.untrustedWorkspaces.restrictedConfigurations).toEqual(made.restricted);
});

it('package.nls.json has the words of the table, and no other words of settings', () => {
  const ofSettings = Object.entries(words).filter(([key]) => key.startsWith('setting.'));
  expect(Object.fromEntries(ofSettings)).toEqual(made.words);
});

it('the guide says what a workspace may set, as the table has it', () => {
  expect(readFileSync('docs/guide/privacy.md', 'utf8')).toContain(
    `<!-- made by npm run manifest -->\n${workspaceTable()}\n<!-- end -->`,
  );
});

it('preset files have the schema of their type, which is contributed for their names', () => {
  expect(JSON.parse(readFileSync('schemas/preset.schema.json', 'utf8'))).toEqual(plain(presetFileJsonSchema()));
  expect(manifest.contributes.jsonValidation).toEqual([
    { fileMatch: '*.condense.json', url: './schemas/preset.schema.json' },
  ]);
});

it.each(SETTING_NAMES)('%s: an absent value gives the default, which is valid', (name) => {
  const { default: standard, parse } = SETTINGS[name];
  expect(parse(standard).problems).toEqual([]);
  const { value, problems } = parse(undefined);
  expect(problems).toEqual([]);
  // A provider takes its defaults itself for what is absent.
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
] as const)('%s of %j counts as %j: %s', (name, value, used, words) => {
  const parsed = SETTINGS[name].parse(value);
  expect(parsed.value).toEqual(used);
  expect(parsed.problems.map(({ path, message }) => `${path} ${message}`.trim())).toContain(words);
});
