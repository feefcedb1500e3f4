import * as z from 'zod';
import { issueWords } from '../issueWords';
import { isRecord } from '../messages/blocks';
import { valueAt } from '../messages/path';
import { findUnknownFields } from './unknownFields';
import type { CondensationProvider, ConfigProblem, ConfigSchema, ValidationResult } from './types';

/**
 * Checks a configuration from outside against its schema; each problem names the setting, what was found, what is
 * allowed. Warnings name the fields that nothing knows.
 * @param known the schema as JSON Schema, where it was made of one
 */
export function validate<T>(schema: z.ZodType<T>, config: unknown, known?: ConfigSchema): ValidationResult<T> {
  const result = schema.safeParse(config ?? {});
  if (result.success) {
    const warnings = isRecord(result.data) ? findUnknownFields(known ?? jsonSchema(schema), result.data) : [];
    return { valid: true, config: result.data, ...(warnings.length > 0 && { warnings }) };
  }
  return { valid: false, problems: result.error.issues.flatMap((issue) => problemsOf(issue, config)) };
}

/** Of a choice between forms the problems with the one that comes nearest: it has the fewest, the deepest first. */
function problemsOf(issue: z.core.$ZodIssue, config: unknown): ConfigProblem[] {
  const path = issue.path.map(String).join('.');
  if (issue.code === 'invalid_union' && issue.errors.length > 0) {
    const [nearest = []] = issue.errors.toSorted((a, b) => depthOf(b) - depthOf(a) || a.length - b.length);
    return nearest.flatMap((inner) => problemsOf({ ...inner, path: [...issue.path, ...inner.path] }, config));
  }
  const found = valueAt(
    config,
    issue.path.filter((key) => typeof key !== 'symbol'),
  );
  const namesValue = issue.code === 'custom' || issue.code === 'unrecognized_keys';
  const words = issueWords(issue);
  return [{ path, message: namesValue || found === undefined ? words : `${words}; found ${shown(found)}` }];
}

const depthOf = (issues: readonly z.core.$ZodIssue[]): number => Math.max(0, ...issues.map(({ path }) => path.length));

const MAX_SHOWN = 60;

/** A value as a message shows it. */
function shown(value: unknown): string {
  const text = typeof value === 'function' ? 'a function' : JSON.stringify(value);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN).toWellFormed()}…` : text;
}

const jsonSchemas = new WeakMap<z.ZodType, ConfigSchema>();

/** The JSON Schema of a configuration: one source of truth for validation, the panel and package.json. Made once, which takes milliseconds. */
export function jsonSchema(schema: z.ZodType): ConfigSchema {
  // A function, which only users of the API can pass, has no schema.
  const made =
    jsonSchemas.get(schema) ?? z.toJSONSchema(schema, { io: 'input', target: 'draft-7', unrepresentable: 'any' });
  jsonSchemas.set(schema, made);
  return made;
}

/**
 * The checked configuration; a wrong one gives the defaults and a note that names the field, as does an unknown field.
 * @throws Error where the provider refuses its own defaults
 */
export function checkedConfig(provider: CondensationProvider, config: unknown): { config: unknown; notes: string[] } {
  const result = provider.validateConfig(config);
  if (result.valid) {
    const { warnings = [] } = result;
    return { config: result.config, notes: warnings.map(({ path, message }) => `${path} ${message} and was ignored.`) };
  }
  const defaults = provider.validateConfig(undefined);
  if (!defaults.valid) throw new Error(`${provider.name} has no valid defaults.`);
  const problems = result.problems.map(({ path, message }) => `${path || 'configuration'}: ${message}`);
  return { config: defaults.config, notes: [`The defaults of ${provider.name} were used. ${problems.join('; ')}`] };
}

/**
 * Whether a condensation by a provider may call a model.
 * @param config as it came from outside; an invalid one counts as the defaults.
 */
export const asksModel = (provider: CondensationProvider, config: unknown): boolean =>
  provider.asksModel?.(checkedConfig(provider, config).config) ?? provider.getCapabilities().supportsLLMSummarization;
