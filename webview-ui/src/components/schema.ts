/** Reads a JSON Schema, as far as a form can offer it. */
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
  /** Objects in a list. */
  | { readonly kind: 'entries'; readonly items: Schema }
  /** Objects or numbers by names that the user gives. */
  | { readonly kind: 'map'; readonly items: Schema }
  /** No form is made of it: it is written in settings.json. */
  | { readonly kind: 'other' };

/** One of several shapes of an object; a constant under a common key identifies the shape. */
export interface SchemaVariant {
  readonly value: string;
  readonly schema: Schema;
}

/** Texts longer than this get a field of several lines. */
const SHORT_TEXT_CHARS = 600;
const LONG_TEXT_CHARS = 4_000;

const asTexts = (value: unknown): string[] | undefined =>
  Array.isArray(value) && value.every((entry) => typeof entry === 'string') ? value : undefined;

/** Follows a reference inside of the document, and an `combineAll` that only adds words to one. */
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

/** Returns a schema's variants; undefined if no field distinguishes them. */
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

/** Whether a form can be made of an object in a list or map. */
const isForm = (items: Schema): boolean => ['group', 'variants'].includes(getFieldKind(items).kind);

/** How the fields of a tree of conditions hold conditions of the same shape: as a list of them, or as one. */
export type NestedFields = Readonly<Record<string, 'list' | 'one'>>;

/** The fields of an object that hold the object's own shape, as `and`, `or` and `not` of a filter do. */
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

/** Lines that a field for a text has. */
function getTextRows({ editPresentation, maxLength }: Schema): number {
  if (editPresentation === 'multilineText') return 6;
  if (typeof maxLength !== 'number' || maxLength <= SHORT_TEXT_CHARS) return 1;
  return maxLength > LONG_TEXT_CHARS ? 6 : 2;
}

/** The fields of an object's schema, in order; a function, which settings can't hold, is none. */
export function getFields({ properties }: Schema): Record<string, Schema> {
  if (!isRecord(properties)) return {};
  return Object.fromEntries(
    Object.entries(properties).filter(
      (entry): entry is [string, Schema] => isRecord(entry[1]) && entry[1]['apiOnly'] !== true,
    ),
  );
}

/** The least that makes an object of a schema valid. */
export function getStarterSchema(schema: Schema): Schema {
  const known = getFields(schema);
  const { required } = schema;
  return Object.fromEntries((asTexts(required) ?? []).map((field) => [field, makeEmptyValue(known[field] ?? {})]));
}

/** The least that is valid of a schema. */
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

/** The description, with the bounds of a number. */
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
