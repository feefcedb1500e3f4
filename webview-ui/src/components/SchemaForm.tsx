import type { ReactNode } from 'react';
import type { Path } from '../state/path';
import type { Schema } from './schema';
import { SchemaField } from './SchemaField';

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
