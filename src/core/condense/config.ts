import { z } from 'zod';
import type { ConfigProblem, ConfigSchema, ValidationResult } from './types';

/** Checks a configuration from outside against its schema; each problem names the setting, what was found, what is allowed. */
export function validate<T>(schema: z.ZodType<T>, config: unknown): ValidationResult<T> {
  const result = schema.safeParse(config ?? {});
  if (result.success) return { valid: true, config: result.data };
  return { valid: false, problems: result.error.issues.map(problemOf) };
}

function problemOf(issue: z.core.$ZodIssue): ConfigProblem {
  return { path: issue.path.map(String).join('.'), message: issue.message };
}

/** The JSON Schema of a configuration: one source of truth for validation, the panel and package.json. */
export const jsonSchema = (schema: z.ZodType): ConfigSchema =>
  // A function, which only users of the API can pass, has no schema.
  z.toJSONSchema(schema, { io: 'input', target: 'draft-7', unrepresentable: 'any' });
