import { createContext, use, type ReactNode } from 'react';
import { t } from '../l10n';
import type { Path } from '../state/path';
import { useSetting } from '../state/useSetting';
import { Dropdown } from '../ui';
import {
  BooleanField,
  ChoiceField,
  ChoicesField,
  ListField,
  NumberField,
  OtherField,
  ProfileField,
  TextualField,
  type FieldProps,
} from './fields';
import { Row } from './Row';
import { fieldsOf, helpOf, kindOf, resolve, type FieldKind, type Schema } from './schema';
import { titleOf, nameInWords } from './titles';

/** The document that references lead into, and the groups around a field. */
export const SchemaRoot = createContext<{ readonly root: Schema; readonly ancestors: readonly unknown[] }>({
  root: {},
  ancestors: [],
});

interface SchemaFormProps {
  /** The setting. */
  readonly name: string;
  /** Where the fields are inside of it. */
  readonly path: Path;
  readonly fields: Readonly<Record<string, Schema>>;
}

/** The controls for all fields of a schema. */
export function SchemaForm({ name, path, fields }: SchemaFormProps): ReactNode {
  return Object.entries(fields).map(([field, schema]) => (
    <SchemaField key={field} name={name} path={[...path, field]} schema={schema} />
  ));
}

export interface SchemaFieldProps {
  readonly name: string;
  readonly path: Path;
  readonly schema: Schema;
  readonly title?: string | undefined;
  readonly help?: string | undefined;
}

/** A control for one place in the settings, made from its schema. */
export function SchemaField({ name, path, schema: given, ...texts }: SchemaFieldProps): ReactNode {
  const { root, ancestors } = use(SchemaRoot);
  const schema = resolve(given, root);
  const title = texts.title ?? titleOf(String(path.at(-1) ?? name), schema);
  const help = texts.help ?? helpOf(schema) ?? '';
  const field = { name, path, schema, title, help };
  // A shape that holds itself has no end: what is inside of it is written in settings.json.
  const isRecursive = [schema, resolve((schema['items'] ?? {}) as Schema, root)].some(
    ({ properties }) => properties !== undefined && ancestors.includes(properties),
  );
  const kind: FieldKind = isRecursive ? { kind: 'other' } : kindOf(schema);
  if (path.at(-1) === 'apiProfile') return <ProfileField {...field} />;
  switch (kind.kind) {
    case 'boolean':
      return <BooleanField {...field} />;
    case 'choice':
      return <ChoiceField {...field} choice={kind} />;
    case 'number':
      return <NumberField {...field} />;
    case 'text':
      return <TextualField {...field} rows={kind.rows} />;
    case 'list':
      return <ListField {...field} />;
    case 'choices':
      return <ChoicesField {...field} values={kind.values} />;
    case 'variants':
      return <VariantField {...field} variants={kind} />;
    case 'group':
      return (
        <SchemaRoot value={{ root, ancestors: [...ancestors, schema['properties']] }}>
          <fieldset className="group">
            <legend>{title}</legend>
            {help !== '' && <p className="row-help">{help}</p>}
            <SchemaForm name={name} path={path} fields={kind.fields} />
          </fieldset>
        </SchemaRoot>
      );
    case 'other':
      return <OtherField {...field} isHiddenWhenUnset={isRecursive} />;
  }
}

interface VariantFieldProps extends FieldProps {
  readonly variants: Extract<FieldKind, { kind: 'variants' }>;
}

/** The choice among the shapes of an object, and the fields of the chosen one. */
function VariantField({ name, path, title, variants: { key, variants } }: VariantFieldProps): ReactNode {
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
          choices={variants.map((variant) => ({ value: variant.value, label: t(nameInWords(variant.value)) }))}
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

/** The start of a Smart pass's shapes when they are chosen: something that makes sense, to be changed. */
const STARTERS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  preserve_recent: { count: 10 },
  preserve_percent: { percentage: 30 },
  custom: { filter: { contentTypes: ['toolResults'] } },
  conditional: { condition: { tokenThreshold: 50_000 } },
  truncate: { maxLines: 20 },
};

/** The start of a shape: the least that makes it valid. */
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
