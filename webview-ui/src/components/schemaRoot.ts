import { createContext } from 'react';
import type { Schema } from './schema';

/** The document that references lead into, and the groups around a field. */
export const SchemaRoot = createContext<{ readonly root: Schema; readonly ancestors: readonly unknown[] }>({
  root: {},
  ancestors: [],
});
