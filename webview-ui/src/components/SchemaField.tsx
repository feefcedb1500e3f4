import { use, type ReactNode } from 'react';
import type { Path } from '../state/path';
import { BooleanField, ChoiceField, ChoicesField, OtherField } from './choiceFields';
import { ProfileField } from './ProfileField';
import { helpOf, kindOf, resolve, type FieldKind, type Schema } from './schema';
import { ListField, NumberField, TextualField } from './textFields';
import { titleOf } from './titles';
import { SchemaRoot } from './schemaRoot';
import { SchemaForm } from './SchemaForm';
import { VariantField } from './VariantField';

export interface SchemaFieldProps {
  readonly name: string;
  readonly path: Path;
  readonly schema: Schema;
  readonly title?: string | undefined;
  readonly help?: string | undefined;
}

export interface FieldProps extends SchemaFieldProps {
  readonly title: string;
  readonly help: string;
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
