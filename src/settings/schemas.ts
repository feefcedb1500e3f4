/**
 * The JSON Schemas that the editor checks settings and preset files by, made of the types that check them here. `node
 * scripts/schemas.mjs` writes them to package.json and `schemas/`; a test compares.
 */
import * as z from 'zod';
import { jsonSchema } from '../core/condense/config';
import { BUILT_IN_PRESETS } from '../core/condense/presets';
import { presetSchema } from '../core/condense/presets/preset';
import { smartConfigSchema } from '../core/condense/providers/smart/config';
import { strategySchema } from '../core/condense/strategy/strategy';
import { BUILT_IN_STRATEGIES } from '../core/condense/strategy/builtIn';
import { isRecord } from '../core/messages/blocks';
import { profileSchema } from './profiles';

type Schema = Readonly<Record<string, unknown>>;

/** For files named `*.condense.json`. */
export const presetFileJsonSchema = (): Schema => ({
  ...bare(
    jsonSchema(
      presetSchema.extend({
        $schema: z.string().optional().describe('Where this schema lies; the editor knows it by the file name, too.'),
        config: smartConfigSchema.describe('A configuration of the Smart provider.'),
      }),
    ),
  ),
  title: 'Context Condenser preset',
});

/** The settings whose schemas follow from types, by name; what else package.json says of them is written there. */
export const settingSchemas = (): Readonly<Record<string, Schema>> => ({
  'contextCondenser.smart': {
    anyOf: [
      { type: 'string', enum: BUILT_IN_PRESETS.map(({ id }) => id) },
      { type: 'string', description: 'A preset of your own.' },
      shallow(smartConfigSchema, 2),
    ],
  },
  'contextCondenser.presets': {
    type: 'array',
    items: shallow(presetSchema.extend({ config: smartConfigSchema }), 2),
  },
  'contextCondenser.profiles': { type: 'array', items: profileItems() },
  'contextCondenser.strategy': {
    anyOf: [{ type: 'string', enum: BUILT_IN_STRATEGIES.map(({ id }) => id) }, shallow(strategySchema, 3)],
  },
});

/** A profile's schema; what its fields mean is said in the editor's language. */
function profileItems(): Schema {
  const items = shallow(profileSchema, 3);
  const fields = isRecord(items['properties']) ? items['properties'] : {};
  const told = Object.entries(fields).map(([name, field]) => [
    name,
    { ...(field as Schema), description: `%setting.profiles.${name}%` },
  ]);
  return { ...items, properties: Object.fromEntries(told) as Schema };
}

/** A schema that writes out so many levels of nested filters and conditions; the panel and preset files know deeper ones. */
const shallow = (schema: z.ZodType, levels: number): Schema => bare(jsonSchema(schema), levels);

/** Bounds that zod gives every whole number; they say nothing. */
const SAFE = new Set<unknown>([Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]);

/**
 * A schema without what says nothing. With a depth also without references, which no setting's schema can follow, and
 * without what lies deeper.
 */
function bare(schema: Schema, depth = Number.POSITIVE_INFINITY): Schema {
  const kept = Object.entries(schema).filter(([key, value]) => {
    if (key === 'additionalProperties' && isRecord(value) && Object.keys(value).length === 0) return false;
    if (depth === Number.POSITIVE_INFINITY) return !SAFE.has(value);
    return !SAFE.has(value) && key !== '$schema' && key !== 'definitions' && key !== 'default' && key !== '$ref';
  });
  return Object.fromEntries(kept.flatMap(([key, value]) => insideOf(key, value, depth)));
}

function insideOf(key: string, value: unknown, depth: number): [string, unknown][] {
  if (key === 'properties' || key === 'definitions') {
    if (depth <= 0 || !isRecord(value)) return [];
    const inner = Object.entries(value).map(([name, property]) => [name, bare(property as Schema, depth - 1)]);
    return [[key, Object.fromEntries(inner)]];
  }
  if (key === 'required' && depth <= 0) return [];
  if (Array.isArray(value) && (key === 'anyOf' || key === 'oneOf' || key === 'allOf')) {
    return depth <= 0 ? [] : [[key, (value as Schema[]).map((option) => bare(option, depth))]];
  }
  if (key === 'items' || key === 'additionalProperties') {
    if (!isRecord(value)) return [[key, value]];
    return depth <= 0 ? [] : [[key, bare(value, depth)]];
  }
  return [[key, value]];
}
