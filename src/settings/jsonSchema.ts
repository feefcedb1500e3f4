import { isRecord } from '../core/messages/blocks';

export type JsonSchema = Readonly<Record<string, unknown>>;

/** Bounds that zod adds to every integer. */
const SAFE_INTEGER_BOUNDS = new Set<unknown>([Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]);

/**
 * Removes parts that don't restrict anything and, if a depth is given, references and defaults.
 * @param maxDepth levels of nested filters and conditions to write out, because package.json can't
 *   contain all
 */
export function removeDescriptions(schema: JsonSchema, maxDepth = Number.POSITIVE_INFINITY): JsonSchema {
  const keptEntries = Object.entries(schema).filter(([key, value]) => {
    if (key === 'additionalProperties' && isRecord(value) && Object.keys(value).length === 0) return false;
    if (SAFE_INTEGER_BOUNDS.has(value) || key === '$schema') return false;
    if (maxDepth === Number.POSITIVE_INFINITY) return true;
    return key !== 'definitions' && key !== 'default' && key !== '$ref';
  });
  return Object.fromEntries(keptEntries.flatMap(([key, value]) => removeNestedDescriptions(key, value, maxDepth)));
}

function removeNestedDescriptions(key: string, value: unknown, maxDepth: number): [string, unknown][] {
  if (key === 'properties' || key === 'definitions') {
    if (maxDepth <= 0 || !isRecord(value)) return [];
    const properties = Object.entries(value)
      // Only API callers can pass functions and similar values.
      .filter(([, property]) => isRecord(property) && property['apiOnly'] !== true)
      .map(([name, property]) => [name, removeDescriptions(property as JsonSchema, maxDepth - 1)]);
    return [[key, Object.fromEntries(properties)]];
  }
  if (key === 'required' && maxDepth <= 0) return [];
  if (Array.isArray(value) && (key === 'anyOf' || key === 'oneOf' || key === 'allOf')) {
    return maxDepth <= 0 ? [] : [[key, (value as JsonSchema[]).map((option) => removeDescriptions(option, maxDepth))]];
  }
  if (key === 'items' || key === 'additionalProperties') {
    if (!isRecord(value)) return [[key, value]];
    return maxDepth <= 0 ? [] : [[key, removeDescriptions(value, maxDepth)]];
  }
  return [[key, value]];
}

/**
 * @param prefix added to the names of definitions, so that those of different schemas stay apart
 */
export function moveDefinitionsToRoot(
  schema: JsonSchema,
  prefix: string,
  definitions: Record<string, JsonSchema>,
): JsonSchema {
  const DEFINITION_REFERENCE_PREFIX = '#/definitions/';
  const moveDefinitions = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(moveDefinitions);
    if (!isRecord(value)) return value;
    const { definitions: ownDefinitions, ...otherFields } = value;
    for (const [name, definition] of Object.entries(isRecord(ownDefinitions) ? ownDefinitions : {})) {
      definitions[`${prefix}.${name}`] = moveDefinitions(definition) as JsonSchema;
    }
    return Object.fromEntries(
      Object.entries(otherFields).map(([key, child]) =>
        key === '$ref' && typeof child === 'string' && child.startsWith(DEFINITION_REFERENCE_PREFIX)
          ? [key, `${DEFINITION_REFERENCE_PREFIX}${prefix}.${child.slice(DEFINITION_REFERENCE_PREFIX.length)}`]
          : [key, moveDefinitions(child)],
      ),
    );
  };
  return moveDefinitions(schema) as JsonSchema;
}
