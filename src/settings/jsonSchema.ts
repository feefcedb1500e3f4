import { isRecord } from '../core/messages/blocks';

export type JsonSchema = Readonly<Record<string, unknown>>;

/** Bounds that zod adds to every integer. */
const SAFE_INTEGER_BOUNDS = new Set<unknown>([Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]);

/**
 * Removes the parts of a schema that say nothing and, if a depth is given, references and defaults.
 * @param depth levels of nested filters and conditions to write out, because package.json can't
 * hold all; schemas/settings.schema.json does
 */
export function removeDescriptions(schema: JsonSchema, depth = Number.POSITIVE_INFINITY): JsonSchema {
  const kept = Object.entries(schema).filter(([key, value]) => {
    if (key === 'additionalProperties' && isRecord(value) && Object.keys(value).length === 0) return false;
    if (SAFE_INTEGER_BOUNDS.has(value) || key === '$schema') return false;
    if (depth === Number.POSITIVE_INFINITY) return true;
    return key !== 'definitions' && key !== 'default' && key !== '$ref';
  });
  return Object.fromEntries(kept.flatMap(([key, value]) => removeNestedDescriptions(key, value, depth)));
}

function removeNestedDescriptions(key: string, value: unknown, depth: number): [string, unknown][] {
  if (key === 'properties' || key === 'definitions') {
    if (depth <= 0 || !isRecord(value)) return [];
    const inner = Object.entries(value)
      // Only API callers can pass functions and similar values.
      .filter(([, property]) => isRecord(property) && property['apiOnly'] !== true)
      .map(([name, property]) => [name, removeDescriptions(property as JsonSchema, depth - 1)]);
    return [[key, Object.fromEntries(inner)]];
  }
  if (key === 'required' && depth <= 0) return [];
  if (Array.isArray(value) && (key === 'anyOf' || key === 'oneOf' || key === 'allOf')) {
    return depth <= 0 ? [] : [[key, (value as JsonSchema[]).map((option) => removeDescriptions(option, depth))]];
  }
  if (key === 'items' || key === 'additionalProperties') {
    if (!isRecord(value)) return [[key, value]];
    return depth <= 0 ? [] : [[key, removeDescriptions(value, depth)]];
  }
  return [[key, value]];
}

/** @param prefix keeps the names of different schemas apart */
export function moveDefinitionsToRoot(
  schema: JsonSchema,
  prefix: string,
  definitions: Record<string, JsonSchema>,
): JsonSchema {
  const LOCAL = '#/definitions/';
  const hoist = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(hoist);
    if (!isRecord(value)) return value;
    const { definitions: ownDefinitions, ...rest } = value;
    for (const [name, definition] of Object.entries(isRecord(ownDefinitions) ? ownDefinitions : {})) {
      definitions[`${prefix}.${name}`] = hoist(definition) as JsonSchema;
    }
    return Object.fromEntries(
      Object.entries(rest).map(([key, inner]) =>
        key === '$ref' && typeof inner === 'string' && inner.startsWith(LOCAL)
          ? [key, `${LOCAL}${prefix}.${inner.slice(LOCAL.length)}`]
          : [key, hoist(inner)],
      ),
    );
  };
  return hoist(schema) as JsonSchema;
}
