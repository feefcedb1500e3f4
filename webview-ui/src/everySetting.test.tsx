/**
 * Everything that the schemas allow must have a control on the page. The schemas say what to look
 * for.
 */
import { readFileSync } from 'node:fs';
import { beforeEach, expect, it } from 'vitest';
import { fake } from '../../test/support/vscode';
import { isSettingName, SETTING_NAMES } from '../../src/settings/table';
import { createSettingSchemas, type ExtensionManifest } from '../../src/panel/manifest';
import { createBuiltInProviders } from '../../src/window/settings/settingRules';
import {
  getSchemaFields,
  getFieldKind,
  findNestedFields,
  resolveReference,
  type JsonSchema,
} from './components/schema';
import { SETTINGS_BY_PLACE } from './groups';
import { openPage, type TestPage } from './testing';

beforeEach(() => {
  fake.reset();
});

/** The page sets or shows these settings in another way. */
const SHOWN_OTHERWISE = [
  'smart.version', // the format's version
  'smart.passes.0', // two radio buttons, for its mode
  'smart.passes.0.id', // given by the page
  'smart.passes.0.enabled', // the checkbox on the pass's line
];

interface Example {
  /** A value in which everything is set. */
  readonly value: unknown;
  /** The dotted places in it that have a control. */
  readonly places: readonly string[];
}

/**
 * @param round selects one of several shapes
 * @param depth how deeply a shape may contain itself
 */
function createExample(given: JsonSchema, path: string, root: JsonSchema, round: number, depth = 1): Example {
  const schema = resolveReference(given, root);
  const kind = getFieldKind(schema);
  const at = (value: unknown): Example => ({ value, places: [path] });
  const object = (fields: Readonly<Record<string, JsonSchema>>, own: readonly string[]): Example => {
    const nesting = findNestedFields(schema, root);
    const examples = Object.entries(fields).flatMap(([field, inner]): [string, Example][] => {
      const place = `${path}.${field}`;
      if (nesting[field] === undefined) return [[field, createExample(inner, place, root, round, depth)]];
      if (depth === 0) return [];
      const list = nesting[field] === 'list';
      const nested = createExample(schema, list ? `${place}.0` : place, root, round, depth - 1);
      return [[field, { ...nested, value: list ? [nested.value] : nested.value }]];
    });
    return {
      value: Object.fromEntries(examples.map(([field, { value }]) => [field, value])),
      places: [...own, ...examples.flatMap(([, { places }]) => places)],
    };
  };
  switch (kind.kind) {
    case 'boolean':
      return at(true);
    case 'choice':
      return at(kind.values[round % kind.values.length]);
    case 'number':
      return at(schema['const'] ?? Math.max(Number(schema['minimum'] ?? 0), 1));
    case 'text':
      return at(schema['pattern'] === undefined && schema['format'] === undefined ? 'first\nsecond' : 'x');
    case 'list':
      return at(['x']);
    case 'choices':
      return at([kind.values[0]]);
    case 'variants': {
      const { value, schema: shape } = kind.variants[round % kind.variants.length] ?? { value: '', schema: {} };
      const fields = Object.entries(getSchemaFields(resolveReference(shape, root))).filter(
        ([field]) => field !== kind.key,
      );
      const inner = object(Object.fromEntries(fields), [path]);
      return { ...inner, value: { ...(inner.value as object), [kind.key]: value } };
    }
    case 'group':
      return object(kind.fields, []);
    case 'entries': {
      const { value, places } = createExample(kind.items, `${path}.0`, root, round, depth);
      return { value: [value], places };
    }
    case 'map': {
      // If the names are known, no other name is valid.
      const names = (schema['propertyNames'] as JsonSchema | undefined)?.['enum'] as readonly string[] | undefined;
      const [own] = names ?? ['own'];
      const { value, places } = createExample(kind.items, `${path}.${own}`, root, round, depth);
      return { value: { [own ?? '']: value }, places };
    }
    case 'other':
      throw new Error(`no control is made of ${path}: ${JSON.stringify(schema)}`);
  }
}

/** Expands everything that is collapsed. */
async function unfoldAll(page: TestPage): Promise<void> {
  for (let folded; (folded = page.all('main .disclosure[aria-expanded="false"]')).length > 0;) {
    const [first] = folded;
    await page.click(() => first as HTMLElement);
  }
}

const listShownSettings = (page: TestPage): Set<string | undefined> =>
  new Set(page.all('[data-setting]').map(({ dataset }) => dataset['setting']));

/** Returns texts with line breaks in fields of one line, which would drop the breaks. */
const findFlattenedTexts = (page: TestPage): (string | undefined)[] =>
  page
    .all('[data-setting] vscode-text-field')
    .filter(
      (field) =>
        field.getAttribute('value')?.includes('\n') || ('value' in field && String(field.value).includes('\n')),
    )
    .map((field) => field.closest<HTMLElement>('[data-setting]')?.dataset['setting']);

const ROUNDS = 6;

/** All sections that contain settings. */
const ALL_SECTIONS = [
  'profiles',
  'chat',
  'lossless',
  'truncation',
  'native',
  'smart',
  'strategy',
  'arrival',
  'stored',
  'more',
];

it.each(createBuiltInProviders(() => []).filter(({ id }) => id !== 'strategy'))(
  'every setting of $name has a control',
  async (provider) => {
    const { id } = provider;
    const schema = provider.getConfigSchema();
    for (let round = 0; round < ROUNDS; round++) {
      fake.reset();
      const { value, places } = createExample(schema, id, schema, round);
      fake.settings[`contextCondenser.${id}`] = value;
      const page = await openPage({ view: { open: [id] } });
      await unfoldAll(page);
      const shown = listShownSettings(page);
      // Summary's prompt has a setting of its own.
      const missing = places.filter(
        (place) => !shown.has(place) && !SHOWN_OTHERWISE.includes(place) && place !== 'native.prompt',
      );
      expect(missing).toEqual([]);
      expect(findFlattenedTexts(page)).toEqual([]);
      // Only one pass is open at a time.
      if (id !== 'smart') return;
    }
  },
);

/**
 * Settings whose sections are more than a form, or are covered by another test; the values are the
 * sections' IDs.
 */
const OWN_SECTIONS: Readonly<Record<string, string>> = {
  profiles: 'profiles',
  condensingProfile: 'profiles',
  presets: 'presets',
  // This is a list of checkboxes, which exist once VS Code has models.
  'agent.wrappedModels': 'chat',
  lossless: 'lossless',
  truncation: 'truncation',
  native: 'native',
  smart: 'smart',
  strategy: 'strategy',
  // Each provider of another extension has a section of its own.
  providers: 'start',
};

it('every setting of package.json has a control', async () => {
  const schemas = createSettingSchemas(JSON.parse(readFileSync('package.json', 'utf8')) as ExtensionManifest);
  const page = await openPage({ view: { open: ['native', 'smart', 'chat', 'arrival', 'stored', 'more'] } });
  await unfoldAll(page);
  const shown = listShownSettings(page);
  const places = Object.entries(schemas)
    .filter(([name]) => !(name in OWN_SECTIONS))
    .flatMap(([name, schema]) => createExample(schema, name, schema, 0).places);
  expect(places.length).toBeGreaterThan(15);
  expect(places.filter((place) => !shown.has(place))).toEqual([]);
  for (const section of Object.values(OWN_SECTIONS)) expect(page.root.querySelector(`#${section}`)).not.toBeNull();
});

/** These are explained in other words, beside their own control. */
const OWN_HELP: readonly string[] = ['provider', 'threshold', 'strategy', 'agent.wrappedModels'];

it('every setting is explained in the same words in the panel as on VS Code’s settings page', async () => {
  const page = await openPage({ view: { open: ['native', 'smart', 'strategy', 'chat', 'arrival', 'stored', 'more'] } });
  await unfoldAll(page);
  const helps = page.all('[data-setting]').flatMap((row) => {
    const name = row.dataset['setting'] ?? '';
    const help = row.querySelector('.row-help')?.textContent;
    return isSettingName(name) && !OWN_HELP.includes(name) && help !== undefined ? [[name, help] as const] : [];
  });
  expect(helps.length).toBeGreaterThan(20);
  // Here VS Code has not replaced the placeholders by texts of package.nls.json.
  const others = helps.filter(([name, help]) => !help.startsWith(`%setting.${name}%`));
  expect(others).toEqual([]);
});

it("every setting named by the panel's table of places exists", () => {
  const named = Object.values(SETTINGS_BY_PLACE).flat();
  expect(named.filter((name) => !(SETTING_NAMES as readonly string[]).includes(name))).toEqual([]);
});

it('every text setting of a profile has a field that keeps line breaks', async () => {
  const prompt = 'Keep:\n1. decisions\n2. errors';
  fake.settings['contextCondenser.profiles'] = [
    { id: 'a', name: 'A', vendor: 'openai', model: 'gpt-5.1', projectId: 'two\nlines', prompt },
  ];
  const page = await openPage({ view: { open: ['profiles'] } });
  await unfoldAll(page);
  const field = page.root.querySelector('[data-setting="profiles.0.prompt"] vscode-text-area');
  expect(field).toHaveProperty('value', prompt);
  expect(findFlattenedTexts(page)).toEqual([]);
});

/** Values of the wrong shape, each of which some setting rejects. */
const BROKEN: readonly unknown[] = ['???', -7, { passes: 'none' }, [3], { nothing: 1 }];

it('a problem with any setting is shown on the page', async () => {
  for (const value of BROKEN) {
    fake.reset();
    for (const name of SETTING_NAMES) fake.settings[`contextCondenser.${name}`] = value;
    const page = await openPage({ view: { open: ALL_SECTIONS } });
    await unfoldAll(page);
    const shown = page.all('.problem').map(({ textContent }) => textContent.toLowerCase());
    const { settings } = page.host.state();
    const hidden = Object.entries(settings).flatMap(([name, { problems }]) =>
      problems
        .filter(({ message }) => !shown.some((text) => text.includes(message.toLowerCase())))
        .map(({ path, message }) => `${name} = ${JSON.stringify(value)}: ${path} ${message}`),
    );
    expect(hidden).toEqual([]);
  }
});
