import * as z from 'zod';
import { toJsonSchema } from '../core/condense/config';
import { presetSchema } from '../core/condense/providers/smart/presets/preset';
import { smartConfigSchema } from '../core/condense/providers/smart/config';
import { BUILT_IN_PROVIDERS } from '../core/condense/types';
import { isRecord } from '../core/messages/blocks';
import { removeDescriptions, moveDefinitionsToRoot, type JsonSchema } from './jsonSchema';
import { SETTING_GROUPS } from './groups';
import { SETTING_NAMES, SETTINGS, type SettingDefinition, type SettingName } from './table';
import { isUserOnlySetting } from './workspaceRules';

export interface SettingsManifest {
  /** package.json's `contributes.configuration`. */
  readonly groups: readonly ManifestSettingGroup[];
  /** package.json's `capabilities.untrustedWorkspaces.restrictedConfigurations`. */
  readonly restricted: readonly string[];
  /** Entries of package.nls.json that start with `setting.`. */
  readonly words: Readonly<Record<string, string>>;
}

interface ManifestSettingGroup {
  readonly id: string;
  readonly title: string;
  readonly order: number;
  readonly properties: Readonly<Record<string, JsonSchema>>;
}

export function createSettingsManifest(): SettingsManifest {
  const textsByKey: Record<string, string> = {};
  const addText = (key: string, text: string): string => {
    textsByKey[key] = text;
    return `%${key}%`;
  };
  const makeProperty = (name: SettingName, order: number, isAdvanced: boolean): [string, JsonSchema] => {
    const { default: defaultValue, scope, text, choices, translates, schema } = SETTINGS[name];
    const key = `setting.${name}`;
    const schemaWithKeys = translates ? replaceTextsByKeys(schema(), key, addText) : schema();
    return [
      `contextCondenser.${name}`,
      {
        ...(choices
          ? addChoicesToSchema(schemaWithKeys, choices, (value, meaning) => addText(`${key}.${value}`, meaning))
          : schemaWithKeys),
        default: defaultValue,
        scope,
        order,
        ...(isAdvanced && { tags: ['advanced'] }),
        markdownDescription: addText(key, text),
      },
    ];
  };
  const groups = SETTING_GROUPS.map(({ id, title, settings, advanced }, group) => ({
    id: `contextCondenser.${id}`,
    title: addText(`setting.group.${id}`, title),
    order: group + 1,
    properties: Object.fromEntries(
      [...settings, ...advanced].map((name, index) => makeProperty(name, index + 1, index >= settings.length)),
    ),
  }));
  return {
    groups,
    // All settings are restricted, because untrusted workspaces can't set any.
    restricted: SETTING_NAMES.map((name) => `contextCondenser.${name}`),
    words: textsByKey,
  };
}

/** Renders the table in docs/guide/privacy.md. */
export function renderWorkspaceRulesTable(): string {
  const namesByRule = Map.groupBy(SETTING_NAMES, describeWorkspaceRule);
  const rows = [...namesByRule].map(
    ([rule, names]) => `| ${rule} | ${names.map((name) => `\`${name}\``).join(', ')} |`,
  );
  return ['| a trusted workspace may set | settings |', '|---|---|', ...rows].join('\n');
}

function describeWorkspaceRule(name: SettingName): string {
  const { workspace, scope, default: defaultValue }: SettingDefinition<unknown> = SETTINGS[name];
  if (isUserOnlySetting(name)) return scope === 'machine' ? 'nothing; yours apply to one machine' : 'nothing';
  return {
    any: 'any value',
    lower: defaultValue === true ? 'only "off"' : 'only less than yours',
    higher: 'only more than yours',
    asks: 'any value, but you may be asked first',
  }[workspace ?? 'any'];
}

type SettingChoices = NonNullable<(typeof SETTINGS)['provider']['choices']>;

/** Extends the schema's `enum`, or that of one of its alternatives. */
function addChoicesToSchema(
  schema: JsonSchema,
  choices: SettingChoices,
  addText: (value: string, text: string) => string,
): JsonSchema {
  const { enum: values, anyOf } = schema;
  if (Array.isArray(anyOf))
    return { ...schema, anyOf: (anyOf as JsonSchema[]).map((each) => addChoicesToSchema(each, choices, addText)) };
  if (!Array.isArray(values)) return schema;
  const choicesByValue = (values as string[]).map((value) => ({ value, text: '', ...choices[value] }));
  const labels = choicesByValue.flatMap(({ label }) => label ?? []);
  return {
    ...schema,
    ...(labels.length > 0 && { enumItemLabels: labels }),
    markdownEnumDescriptions: choicesByValue.map(({ value, text }) => addText(value, text)),
  };
}

/** Replaces texts by keys of package.nls.json. A text's key is the path of its field. */
function replaceTextsByKeys(
  schema: JsonSchema,
  key: string,
  addText: (key: string, text: string) => string,
): JsonSchema {
  const entries = Object.entries(schema).map(([name, value]): [string, unknown] => {
    if (name === 'description' && typeof value === 'string') return [name, addText(key, value)];
    if (name === 'patternErrorMessage' && typeof value === 'string') return [name, addText(`${key}.pattern`, value)];
    if (name === 'items' && isRecord(value)) return [name, replaceTextsByKeys(value, key, addText)];
    if (name === 'properties' && isRecord(value)) {
      const fields = Object.entries(value).map(([field, inner]) => [
        field,
        replaceTextsByKeys(inner as JsonSchema, `${key}.${field}`, addText),
      ]);
      return [name, Object.fromEntries(fields)];
    }
    return [name, value];
  });
  return Object.fromEntries(entries);
}

/** Preset files are named `*.condense.json`. */
export const createPresetFileSchema = (): JsonSchema => ({
  $schema: 'http://json-schema.org/draft-07/schema#',
  ...removeDescriptions(
    toJsonSchema(
      presetSchema.extend({
        $schema: z
          .string()
          .optional()
          .describe('Location of this schema; the editor also recognizes the file by its name.'),
        config: smartConfigSchema.describe('A configuration of the Smart provider.'),
      }),
    ),
  ),
  title: 'Context Condenser preset',
});

/**
 * Files to which editors apply the whole settings schema, because the depth of package.json's is
 * limited. VS Code uses the same patterns: extensions/configuration-editing/package.json.
 */
export const SCHEMA_FILES = [
  { fileMatch: '*.condense.json', url: './schemas/preset.schema.json' },
  {
    fileMatch: [
      '%APP_SETTINGS_HOME%/settings.json',
      '%APP_SETTINGS_HOME%/profiles/*/settings.json',
      '%MACHINE_SETTINGS_HOME%/settings.json',
      '/.vscode/settings.json',
    ],
    url: './schemas/settings.schema.json',
  },
  { fileMatch: '*.code-workspace', url: './schemas/workspace.schema.json' },
];

/** All settings with all fields, for completion in settings.json. */
export function createSettingsFileSchema(): JsonSchema {
  const definitions: Record<string, JsonSchema> = {};
  const entries = SETTING_NAMES.map((name): [string, JsonSchema] => {
    const schema = SETTINGS[name].schema(Number.POSITIVE_INFINITY);
    return [
      `contextCondenser.${name}`,
      moveDefinitionsToRoot(CHANGE_SCHEMA_BY_SETTING[name]?.(schema) ?? schema, name, definitions),
    ];
  });
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Settings of Context Condenser',
    type: 'object',
    properties: Object.fromEntries(entries),
    definitions,
  };
}

/** In `*.code-workspace` files, settings are one level deeper. */
export const createWorkspaceFileSchema = (): JsonSchema => ({
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Workspace with settings of Context Condenser',
  type: 'object',
  properties: { settings: { $ref: 'settings.schema.json' } },
});

const makeSettingReference = (name: SettingName): JsonSchema => ({ $ref: `#/properties/contextCondenser.${name}` });

/**
 * If a setting contains configurations of other settings, its schema refers to the schemas of those
 * settings.
 */
const CHANGE_SCHEMA_BY_SETTING: Partial<Record<SettingName, (schema: JsonSchema) => JsonSchema>> = {
  presets: (schema) => changeSchemaField(schema, ['items', 'config'], () => makeSettingReference('smart')),
  strategy: (schema) =>
    changeSchemaField(schema, ['steps', 'items'], (step) => ({
      ...step,
      allOf: BUILT_IN_PROVIDERS.filter((provider) => provider !== 'strategy').map((provider) => ({
        if: { properties: { provider: { const: provider } }, required: ['provider'] },
        then: { properties: { config: makeSettingReference(provider) } },
      })),
    })),
};

/** Changes the schema at a path of fields and `items`, in every alternative that has it. */
function changeSchemaField(
  schema: JsonSchema,
  path: readonly string[],
  change: (field: JsonSchema) => JsonSchema,
): JsonSchema {
  const [key, ...remainingPath] = path;
  if (key === undefined) return change(schema);
  const { anyOf, properties, items } = schema;
  if (Array.isArray(anyOf))
    return { ...schema, anyOf: (anyOf as JsonSchema[]).map((each) => changeSchemaField(each, path, change)) };
  if (key === 'items')
    return isRecord(items) ? { ...schema, items: changeSchemaField(items, remainingPath, change) } : schema;
  const field = isRecord(properties) ? properties[key] : undefined;
  if (!isRecord(properties) || !isRecord(field)) return schema;
  return { ...schema, properties: { ...properties, [key]: changeSchemaField(field, remainingPath, change) } };
}
