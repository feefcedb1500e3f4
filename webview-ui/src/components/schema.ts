/** What a JSON Schema asks for, as far as a form can offer it. */
import { formatNumber, t } from '../l10n';

export type Schema = Readonly<Record<string, unknown>>;

export type FieldKind =
  | { readonly kind: 'boolean' }
  | { readonly kind: 'choice'; readonly values: readonly string[]; readonly labels: readonly string[] }
  | { readonly kind: 'number'; readonly isInteger: boolean }
  | { readonly kind: 'text'; readonly isLong: boolean }
  | { readonly kind: 'list' }
  | { readonly kind: 'group'; readonly fields: Readonly<Record<string, Schema>> }
  /** No form is made of it: it is written in settings.json. */
  | { readonly kind: 'other' };

/** Texts longer than this get a field of several lines. */
const SHORT_TEXT = 600;

const isRecord = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const texts = (value: unknown): string[] | undefined =>
  Array.isArray(value) && value.every((entry) => typeof entry === 'string') ? value : undefined;

export function kindOf(schema: Schema): FieldKind {
  const values = texts(schema['enum']);
  if (values) return { kind: 'choice', values, labels: texts(schema['enumItemLabels']) ?? values.map(wordsOf) };
  switch (schema['type']) {
    case 'boolean':
      return { kind: 'boolean' };
    case 'number':
    case 'integer':
      return { kind: 'number', isInteger: schema['type'] === 'integer' };
    case 'string': {
      const { maxLength } = schema;
      const isLong =
        schema['editPresentation'] === 'multilineText' || (typeof maxLength === 'number' && maxLength > SHORT_TEXT);
      return { kind: 'text', isLong };
    }
    case 'array':
      return isRecord(schema['items']) && schema['items']['type'] === 'string' ? { kind: 'list' } : { kind: 'other' };
    case 'object': {
      const fields = fieldsOf(schema);
      return Object.keys(fields).length > 0 ? { kind: 'group', fields } : { kind: 'other' };
    }
    default:
      return { kind: 'other' };
  }
}

/** The fields of an object's schema, in order. */
export function fieldsOf({ properties }: Schema): Record<string, Schema> {
  if (!isRecord(properties)) return {};
  return Object.fromEntries(
    Object.entries(properties).filter((entry): entry is [string, Schema] => isRecord(entry[1])),
  );
}

/** "maxSummaryTokens" → "Max summary tokens". */
export function wordsOf(name: string): string {
  const words = name
    .replace(/[._-]+/g, ' ')
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export const titleOf = (name: string, { title }: Schema): string =>
  t(typeof title === 'string' ? title : wordsOf(name));

/** The description, with the bounds of a number. */
export function helpOf(schema: Schema): string | undefined {
  const { markdownDescription, description } = schema;
  const text = typeof markdownDescription === 'string' ? markdownDescription : description;
  const bounds = boundsOf(schema);
  if (typeof text !== 'string') return bounds;
  return bounds === undefined || /\d to \d/.test(text) ? t(text) : `${t(text)} ${bounds}`;
}

function boundsOf({ minimum, maximum }: Schema): string | undefined {
  if (typeof minimum === 'number' && typeof maximum === 'number') {
    return t('{0} to {1}.', formatNumber(minimum), formatNumber(maximum));
  }
  return undefined;
}
