import { use, type ReactNode } from 'react';
import { t } from '../l10n';
import { useSetting } from '../state/useSetting';
import { Dropdown } from '../ui';
import { Row } from './Row';
import type { FieldProps } from './SchemaField';
import { fieldsOf, resolve, type FieldKind, type Schema } from './schema';
import { wordsOf } from './titles';
import { SchemaForm } from './SchemaForm';
import { SchemaRoot } from './schemaRoot';
import { STARTERS } from './starters';

interface VariantFieldProps extends FieldProps {
  readonly variants: Extract<FieldKind, { kind: 'variants' }>;
}

/** The choice among the shapes of an object, and the fields of the chosen one. */
export function VariantField({ name, path, title, variants: { key, variants } }: VariantFieldProps): ReactNode {
  const setting = useSetting(name, path);
  const { root } = use(SchemaRoot);
  const value = (typeof setting.value === 'object' && setting.value !== null ? setting.value : {}) as Schema;
  const chosen = variants.find((variant) => variant.value === value[key]);
  const fields = Object.fromEntries(Object.entries(fieldsOf(chosen?.schema ?? {})).filter(([field]) => field !== key));
  const description = chosen?.schema['description'];
  const help = typeof description === 'string' ? t(description) : '';
  return (
    <>
      <Row
        setting={setting}
        title={title}
        help={help}
        keywords={variants.map((variant) => variant.value).join(' ')}
        isInline
      >
        <Dropdown
          label={title}
          help={help}
          value={chosen?.value ?? ''}
          choices={variants.map((variant) => ({ value: variant.value, label: t(wordsOf(variant.value)) }))}
          onChange={(wanted) => {
            const variant = variants.find((other) => other.value === wanted);
            return variant && setting.save(starterOf(key, variant.value, resolve(variant.schema, root)));
          }}
        />
      </Row>
      {Object.keys(fields).length > 0 && (
        <div className="variant-fields">
          <SchemaForm name={name} path={path} fields={fields} />
        </div>
      )}
    </>
  );
}

/** What a shape begins with: the least that makes it valid. */
const starterOf = (key: string, value: string, schema: Schema): Schema => {
  const { required } = schema;
  const needs = Array.isArray(required) ? required : [];
  const begin = STARTERS[value] ?? {};
  const known = fieldsOf(schema);
  return Object.fromEntries([
    [key, value],
    ...Object.entries(begin).filter(([field]) => field in known),
    ...needs.flatMap((field: unknown) =>
      typeof field === 'string' && field !== key && !(field in begin) ? [[field, emptyOf(known[field] ?? {})]] : [],
    ),
  ]) as Schema;
};

function emptyOf({ type, minimum, default: standard }: Schema): unknown {
  if (standard !== undefined) return standard;
  switch (type) {
    case 'number':
    case 'integer':
      return typeof minimum === 'number' ? minimum : 0;
    case 'boolean':
      return false;
    case 'string':
      return '';
    case 'array':
      return [];
    default:
      return {};
  }
}
