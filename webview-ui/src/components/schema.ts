import { isRecord } from '../../../src/core/messages/blocks';
import { formatNumber, t } from '../l10n';
import { formatFieldName } from './titles';

export type Schema = Readonly<Record<string, unknown>>;

export type FieldKind =
  | { readonly kind: 'boolean' }
  | { readonly kind: 'choice'; readonly values: readonly string[]; readonly labels: readonly string[] }
  | { readonly kind: 'number'; readonly isInteger: boolean }
  | { readonly kind: 'text'; readonly rows: number }
  | { readonly kind: 'list' }
  | { readonly kind: 'choices'; readonly values: readonly string[] }
  | { readonly kind: 'variants'; readonly key: string; readonly variants: readonly SchemaVariant[] }
  | { readonly kind: 'group'; readonly fields: Readonly<Record<string, Schema>> }
  | { readonly kind: 'entries'; readonly items: Schema }
  /** Objects or numbers under names that the user chooses. */
  | { readonly kind: 'map'; readonly items: Schema }
  /** No form exists; users edit the value in settings.json. */
  | { readonly kind: 'other' };

/** One of several shapes of an object; a constant under a common key identifies the shape. */
export interface SchemaVariant {
  readonly value: string;
  readonly schema: Schema;
}

/** Texts with a higher limit get a field of several lines. */
const SHORT_TEXT_CHARS = 600;
const LONG_TEXT_CHARS = 4_000;

const asTexts = (value: unknown): string[] | undefined =>
  Array.isArray(value) && value.every((entry) => typeof entry === 'string') ? value : undefined;

/** Follows a reference inside the document, also in an `allOf` that only adds texts. */
export function resolveReference(schema: Schema, root: Schema): Schema {
  const { $ref: reference, allOf, ...own } = schema;
  if (typeof reference === 'string' && reference.startsWith('#/')) {
    let target: unknown = root;
    for (const key of reference.slice(2).split('/')) target = isRecord(target) ? target[key] : undefined;
    return isRecord(target) ? { ...resolveReference(target, root), ...own } : own;
  }
  if (Array.isArray(allOf) && allOf.length === 1 && isRecord(allOf[0]))
    return { ...resolveReference(allOf[0], root), ...own };
  return schema;
}

/** Returns undefined if no field distinguishes the variants. */
function getVariants(schema: Schema): Extract<FieldKind, { kind: 'variants' }> | undefined {
  const shapes = schema['oneOf'] ?? schema['anyOf'];
  if (!Array.isArray(shapes) || shapes.length < 2 || !shapes.every(isRecord)) return undefined;
  const constantOf = (shape: Schema, key: string): string | undefined => {
    const { const: constant } = getFields(shape)[key] ?? {};
    return typeof constant === 'string' ? constant : undefined;
  };
  const [first = {}] = shapes;
  const key = Object.keys(getFields(first)).find((name) =>
    shapes.every((shape) => constantOf(shape, name) !== undefined),
  );
  if (key === undefined) return undefined;
  return {
    kind: 'variants',
    key,
    variants: shapes.map((shape) => ({ value: constantOf(shape, key) ?? '', schema: shape })),
  };
}

export function getFieldKind(schema: Schema): FieldKind {
  const variants = getVariants(schema);
  if (variants) return variants;
  // The value is one of several names, or a custom value: offer the names.
  const shapes: readonly unknown[] = Array.isArray(schema['anyOf']) ? schema['anyOf'] : [];
  const named = [schema, ...shapes.filter(isRecord)].find((shape) => asTexts(shape['enum']) !== undefined);
  const values = asTexts(named?.['enum']);
  if (values)
    return { kind: 'choice', values, labels: asTexts(schema['enumItemLabels']) ?? values.map(formatFieldName) };
  switch (schema['type']) {
    case 'boolean':
      return { kind: 'boolean' };
    case 'number':
    case 'integer':
      return { kind: 'number', isInteger: schema['type'] === 'integer' };
    case 'string': {
      return { kind: 'text', rows: getTextRows(schema) };
    }
    case 'array': {
      const { items } = schema;
      const choices = isRecord(items) ? asTexts(items['enum']) : undefined;
      if (choices) return { kind: 'choices', values: choices };
      if (!isRecord(items)) return { kind: 'other' };
      if (items['type'] === 'string') return { kind: 'list' };
      return isForm(items) ? { kind: 'entries', items } : { kind: 'other' };
    }
    case 'object': {
      const fields = getFields(schema);
      if (Object.keys(fields).length > 0) return { kind: 'group', fields };
      const { additionalProperties: items } = schema;
      if (!isRecord(items)) return { kind: 'other' };
      return isForm(items) || getFieldKind(items).kind === 'number' ? { kind: 'map', items } : { kind: 'other' };
    }
    default:
      return { kind: 'other' };
  }
}

const isForm = (items: Schema): boolean => ['group', 'variants'].includes(getFieldKind(items).kind);

/** True for fields with conditions of the same shape: as a list, or as one. */
export type NestedFields = Readonly<Record<string, 'list' | 'one'>>;

/**
 * Finds the fields that contain the object's own shape, such as a filter's `and`, `or` and `not`.
 */
export function getNesting(schema: Schema, root: Schema): NestedFields {
  const { properties } = schema;
  const isOwn = (inner: unknown): boolean =>
    isRecord(inner) && properties !== undefined && resolveReference(inner, root)['properties'] === properties;
  return Object.fromEntries(
    Object.entries(getFields(schema)).flatMap(([field, inner]): [string, 'list' | 'one'][] =>
      isOwn(inner) ? [[field, 'one']] : isOwn(resolveReference(inner, root)['items']) ? [[field, 'list']] : [],
    ),
  );
}

function getTextRows({ editPresentation, maxLength }: Schema): number {
  if (editPresentation === 'multilineText') return 6;
  if (typeof maxLength !== 'number' || maxLength <= SHORT_TEXT_CHARS) return 1;
  return maxLength > LONG_TEXT_CHARS ? 6 : 2;
}

/** Omits functions, which settings can't contain. */
export function getFields({ properties }: Schema): Record<string, Schema> {
  if (!isRecord(properties)) return {};
  return Object.fromEntries(
    Object.entries(properties).filter(
      (entry): entry is [string, Schema] => isRecord(entry[1]) && entry[1]['apiOnly'] !== true,
    ),
  );
}

/** Returns the minimum that makes an object valid. */
export function getStarterSchema(schema: Schema): Schema {
  const known = getFields(schema);
  const { required } = schema;
  return Object.fromEntries((asTexts(required) ?? []).map((field) => [field, makeEmptyValue(known[field] ?? {})]));
}

export function makeEmptyValue(schema: Schema): unknown {
  const { type, minimum, default: standard, const: constant } = schema;
  if (standard !== undefined) return standard;
  if (constant !== undefined) return constant;
  const values = asTexts(schema['enum']);
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

export function getHelp(schema: Schema): string | undefined {
  const { markdownDescription, description } = schema;
  const text = typeof markdownDescription === 'string' ? markdownDescription : description;
  const bounds = describeBounds(schema);
  if (typeof text !== 'string') return bounds;
  return bounds === undefined || /\d to \d/.test(text) ? t(text) : `${t(text)} ${bounds}`;
}

/** Larger bounds are never reached, so they are not shown. */
const LARGEST_SHOWN_BOUND = 10_000_000;

function describeBounds({ minimum, maximum }: Schema): string | undefined {
  if (typeof minimum === 'number' && typeof maximum === 'number' && maximum < LARGEST_SHOWN_BOUND) {
    return t('{0} to {1}.', formatNumber(minimum), formatNumber(maximum));
  }
  return undefined;
}
