import { isRecord } from '../../../src/core/messages/blocks';
import { formatNumber, t } from '../l10n';
import { formatFieldName } from './titles';

export type JsonSchema = Readonly<Record<string, unknown>>;

export type FieldKind =
  | { readonly kind: 'boolean' }
  | { readonly kind: 'choice'; readonly values: readonly string[]; readonly labels: readonly string[] }
  | { readonly kind: 'number'; readonly isInteger: boolean }
  | { readonly kind: 'text'; readonly rows: number }
  | { readonly kind: 'list' }
  | { readonly kind: 'choices'; readonly values: readonly string[] }
  | { readonly kind: 'variants'; readonly key: string; readonly variants: readonly SchemaVariantShape[] }
  | { readonly kind: 'group'; readonly fields: Readonly<Record<string, JsonSchema>> }
  | { readonly kind: 'entries'; readonly items: JsonSchema }
  /** Objects or numbers under names that the user chooses. */
  | { readonly kind: 'map'; readonly items: JsonSchema }
  /** No form exists; users edit the value in settings.json. */
  | { readonly kind: 'other' };

/** One of several shapes of an object; a constant under a common key identifies the shape. */
export interface SchemaVariantShape {
  readonly value: string;
  readonly schema: JsonSchema;
}

/** Texts with a higher limit get a field of several lines. */
const SHORT_TEXT_CHARS = 600;
const LONG_TEXT_CHARS = 4_000;

const asStringList = (value: unknown): string[] | undefined =>
  Array.isArray(value) && value.every((entry) => typeof entry === 'string') ? value : undefined;

/** Follows a reference inside the document, also in an `allOf` that only adds texts. */
export function resolveReference(schema: JsonSchema, root: JsonSchema): JsonSchema {
  const { $ref: reference, allOf, ...ownFields } = schema;
  if (typeof reference === 'string' && reference.startsWith('#/')) {
    let target: unknown = root;
    for (const key of reference.slice(2).split('/')) target = isRecord(target) ? target[key] : undefined;
    return isRecord(target) ? { ...resolveReference(target, root), ...ownFields } : ownFields;
  }
  if (Array.isArray(allOf) && allOf.length === 1 && isRecord(allOf[0]))
    return { ...resolveReference(allOf[0], root), ...ownFields };
  return schema;
}

/** Returns undefined if no field distinguishes the variants. */
function findVariants(schema: JsonSchema): Extract<FieldKind, { kind: 'variants' }> | undefined {
  const shapes = schema['oneOf'] ?? schema['anyOf'];
  if (!Array.isArray(shapes) || shapes.length < 2 || !shapes.every(isRecord)) return undefined;
  const getConstant = (shape: JsonSchema, key: string): string | undefined => {
    const { const: constant } = getSchemaFields(shape)[key] ?? {};
    return typeof constant === 'string' ? constant : undefined;
  };
  const [first = {}] = shapes;
  const key = Object.keys(getSchemaFields(first)).find((name) =>
    shapes.every((shape) => getConstant(shape, name) !== undefined),
  );
  if (key === undefined) return undefined;
  return {
    kind: 'variants',
    key,
    variants: shapes.map((shape) => ({ value: getConstant(shape, key) ?? '', schema: shape })),
  };
}

export function getFieldKind(schema: JsonSchema): FieldKind {
  const variants = findVariants(schema);
  if (variants) return variants;
  // The value is one of several names, or a custom value: offer the names.
  const shapes: readonly unknown[] = Array.isArray(schema['anyOf']) ? schema['anyOf'] : [];
  const shapeWithValues = [schema, ...shapes.filter(isRecord)].find(
    (shape) => asStringList(shape['enum']) !== undefined,
  );
  const values = asStringList(shapeWithValues?.['enum']);
  if (values)
    return { kind: 'choice', values, labels: asStringList(schema['enumItemLabels']) ?? values.map(formatFieldName) };
  switch (schema['type']) {
    case 'boolean':
      return { kind: 'boolean' };
    case 'number':
    case 'integer':
      return { kind: 'number', isInteger: schema['type'] === 'integer' };
    case 'string': {
      return { kind: 'text', rows: getTextAreaRows(schema) };
    }
    case 'array': {
      const { items } = schema;
      const choices = isRecord(items) ? asStringList(items['enum']) : undefined;
      if (choices) return { kind: 'choices', values: choices };
      if (!isRecord(items)) return { kind: 'other' };
      if (items['type'] === 'string') return { kind: 'list' };
      return isFormWithFields(items) ? { kind: 'entries', items } : { kind: 'other' };
    }
    case 'object': {
      const fields = getSchemaFields(schema);
      if (Object.keys(fields).length > 0) return { kind: 'group', fields };
      const { additionalProperties: items } = schema;
      if (!isRecord(items)) return { kind: 'other' };
      return isFormWithFields(items) || getFieldKind(items).kind === 'number'
        ? { kind: 'map', items }
        : { kind: 'other' };
    }
    default:
      return { kind: 'other' };
  }
}

const isFormWithFields = (items: JsonSchema): boolean => ['group', 'variants'].includes(getFieldKind(items).kind);

/** Fields that contain conditions of the object's own shape: a list of them, or one. */
export type NestedFields = Readonly<Record<string, 'list' | 'one'>>;

/**
 * Finds the fields that contain the object's own shape, such as a filter's `and`, `or` and `not`.
 */
export function findNestedFields(schema: JsonSchema, root: JsonSchema): NestedFields {
  const { properties } = schema;
  const isOwnSchema = (inner: unknown): boolean =>
    isRecord(inner) && properties !== undefined && resolveReference(inner, root)['properties'] === properties;
  return Object.fromEntries(
    Object.entries(getSchemaFields(schema)).flatMap(([field, inner]): [string, 'list' | 'one'][] =>
      isOwnSchema(inner)
        ? [[field, 'one']]
        : isOwnSchema(resolveReference(inner, root)['items'])
          ? [[field, 'list']]
          : [],
    ),
  );
}

function getTextAreaRows({ editPresentation, maxLength }: JsonSchema): number {
  if (editPresentation === 'multilineText') return 6;
  if (typeof maxLength !== 'number' || maxLength <= SHORT_TEXT_CHARS) return 1;
  return maxLength > LONG_TEXT_CHARS ? 6 : 2;
}

/** Omits functions, which settings can't contain. */
export function getSchemaFields({ properties }: JsonSchema): Record<string, JsonSchema> {
  if (!isRecord(properties)) return {};
  return Object.fromEntries(
    Object.entries(properties).filter(
      (entry): entry is [string, JsonSchema] => isRecord(entry[1]) && entry[1]['apiOnly'] !== true,
    ),
  );
}

/** Returns a valid object that has only the required fields. */
export function getStarterSchema(schema: JsonSchema): JsonSchema {
  const fieldSchemas = getSchemaFields(schema);
  const { required } = schema;
  return Object.fromEntries(
    (asStringList(required) ?? []).map((field) => [field, makeEmptyValue(fieldSchemas[field] ?? {})]),
  );
}

export function makeEmptyValue(schema: JsonSchema): unknown {
  const { type, minimum, default: standard, const: constant } = schema;
  if (standard !== undefined) return standard;
  if (constant !== undefined) return constant;
  const values = asStringList(schema['enum']);
  if (values) return values[0];
  switch (type) {
    case 'number':
    case 'integer':
      return typeof minimum === 'number' ? Math.max(0, minimum) : 0;
    case 'boolean':
      return false;
    case 'string':
      return '';
    case 'array':
      return [];
    default:
      return getStarterSchema(schema);
  }
}

export function getHelpText(schema: JsonSchema): string | undefined {
  const { markdownDescription, description } = schema;
  const text = typeof markdownDescription === 'string' ? markdownDescription : description;
  const bounds = describeBounds(schema);
  if (typeof text !== 'string') return bounds;
  return bounds === undefined || /\d to \d/.test(text) ? t(text) : `${t(text)} ${bounds}`;
}

/** Larger bounds are never reached, so they are not shown. */
const LARGEST_SHOWN_BOUND = 10_000_000;

function describeBounds({ minimum, maximum }: JsonSchema): string | undefined {
  if (typeof minimum === 'number' && typeof maximum === 'number' && maximum < LARGEST_SHOWN_BOUND) {
    return t('{0} to {1}.', formatNumber(minimum), formatNumber(maximum));
  }
  return undefined;
}
