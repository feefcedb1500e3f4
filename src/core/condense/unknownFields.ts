import { isRecord } from '../messages/blocks';
import { findNearestName } from '../nearestName';
import type { ConfigSchema, ConfigWarning } from './types';

/** Greater than any schema's depth; ends the walk of a recursive schema. */
const MAX_SEARCH_DEPTH = 40;

/**
 * Finds fields that the schema does not have. A misspelled field is ignored and so changes what a
 * configuration does.
 */
export function findUnknownFields(schema: ConfigSchema, config: unknown): ConfigWarning[] {
  const findWarnings = (fieldSchema: unknown, value: unknown, path: readonly string[]): ConfigWarning[] => {
    if (path.length > MAX_SEARCH_DEPTH) return [];
    const matchingSchema = findMatchingSchema(fieldSchema, value, schema);
    if (!matchingSchema) return [];
    if (Array.isArray(value))
      return value.flatMap((entry, index) => findWarnings(matchingSchema['items'], entry, [...path, `${index}`]));
    const { properties, additionalProperties } = matchingSchema;
    if (!isRecord(value)) return [];
    const fields = isRecord(properties) ? properties : {};
    return Object.entries(value).flatMap(([name, fieldValue]) => {
      if (Object.hasOwn(fields, name)) return findWarnings(fields[name], fieldValue, [...path, name]);
      if (isRecord(additionalProperties) && Object.keys(additionalProperties).length > 0)
        return findWarnings(additionalProperties, fieldValue, [...path, name]);
      return isRecord(properties) ? [createUnknownFieldWarning([...path, name], Object.keys(fields))] : [];
    });
  };
  return findWarnings(schema, config, []);
}

function createUnknownFieldWarning(path: readonly string[], knownNames: readonly string[]): ConfigWarning {
  const suggestion = findNearestName(path.at(-1) ?? '', knownNames);
  if (suggestion === undefined) return { path: path.join('.'), message: 'is not a known field' };
  return { path: path.join('.'), message: `is not a known field (did you mean ${suggestion}?)`, suggestion };
}

function findMatchingSchema(
  fieldSchema: unknown,
  value: unknown,
  root: ConfigSchema,
  depth = 0,
): Record<string, unknown> | undefined {
  if (!isRecord(fieldSchema) || depth > MAX_SEARCH_DEPTH) return undefined;
  const { $ref: reference, allOf } = fieldSchema;
  if (typeof reference === 'string')
    return findMatchingSchema(resolveSchemaReference(reference, root), value, root, depth + 1);
  if (Array.isArray(allOf) && allOf.length === 1) return findMatchingSchema(allOf[0], value, root, depth + 1);
  const alternatives = fieldSchema['oneOf'] ?? fieldSchema['anyOf'];
  if (!Array.isArray(alternatives)) return fieldSchema;
  const matchingAlternatives = alternatives
    .map((shape: unknown) => findMatchingSchema(shape, value, root, depth + 1))
    .filter((shape) => shape !== undefined && matchesConstants(shape, value));
  return matchingAlternatives.length === 1 ? matchingAlternatives[0] : undefined;
}

function resolveSchemaReference(reference: string, root: ConfigSchema): unknown {
  let target: unknown = root;
  for (const key of reference.split('/').slice(1)) target = isRecord(target) ? target[key] : undefined;
  return target;
}

function matchesConstants({ type, properties }: Record<string, unknown>, value: unknown): boolean {
  if (Array.isArray(value)) return type === 'array';
  if (!isRecord(value)) return false;
  if (type !== 'object') return false;
  return Object.entries(isRecord(properties) ? properties : {}).every(
    ([name, field]) => !isRecord(field) || field['const'] === undefined || field['const'] === value[name],
  );
}
