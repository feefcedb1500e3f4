import * as z from 'zod';
import { describeIssue } from '../issueWords';
import { isRecord } from '../messages/blocks';
import { getValueAt } from '../messages/path';
import { findUnknownFields } from './unknownFields';
import { parseDroppingWrongFields, splitUnknownFields, type FieldPath } from './wrongFields';
import type { CondensationProvider, ConfigProblem, ConfigSchema, ValidationResult } from './types';

/** @param jsonSchema the JSON Schema, if `schema` was made from one */
export function validateConfig<T>(
  schema: z.ZodType<T>,
  config: unknown,
  jsonSchema?: ConfigSchema,
): ValidationResult<T> {
  const result = schema.safeParse(config ?? {});
  if (result.success) {
    const warnings = isRecord(result.data) ? findUnknownFields(jsonSchema ?? toJsonSchema(schema), result.data) : [];
    return { valid: true, config: result.data, ...(warnings.length > 0 && { warnings }) };
  }
  const { issues } = result.error;
  return {
    valid: false,
    problems: issues.flatMap((issue) => convertIssueToProblems(issue, config, jsonSchema ?? toJsonSchema(schema))),
  };
}

/**
 * Uses the default for a wrong field and drops a wrong list entry.
 * @param findRemovableField see {@link parseDroppingWrongFields}
 */
export function validateFields<T>(
  schema: z.ZodType<T>,
  config: unknown,
  jsonSchema: ConfigSchema = toJsonSchema(schema),
  findRemovableField: (path: FieldPath) => FieldPath | undefined = getRemovableField,
): ValidationResult<T> {
  const result = validateConfig(schema, config, jsonSchema);
  if (result.valid) return result;
  const { rest, issues } = parseDroppingWrongFields(schema, config, jsonSchema, findRemovableField);
  return {
    valid: false,
    problems: issues.flatMap((issue) => convertIssueToProblems(issue, config, jsonSchema)),
    ...(rest && { rest }),
  };
}

function getRemovableField(path: FieldPath): FieldPath {
  const listIndex = path.findIndex((key) => typeof key === 'number');
  return listIndex === -1 ? path : path.slice(0, listIndex + 1);
}

/** If a value may have several forms, reports only the problems with the closest one. */
function convertIssueToProblems(issue: z.core.$ZodIssue, config: unknown, jsonSchema: ConfigSchema): ConfigProblem[] {
  if (issue.code === 'unrecognized_keys')
    return splitUnknownFields(issue, jsonSchema, config).flatMap((each) =>
      convertIssueToProblems(each, config, jsonSchema),
    );
  const fieldPath = issue.path.map(String).join('.');
  if (issue.code === 'invalid_union' && issue.errors.length > 0) {
    const [nearestIssues = []] = issue.errors.toSorted(
      (a, b) => findDeepestPathLength(b) - findDeepestPathLength(a) || a.length - b.length,
    );
    return nearestIssues.flatMap((inner) =>
      convertIssueToProblems({ ...inner, path: [...issue.path, ...inner.path] }, config, jsonSchema),
    );
  }
  const writtenValue = getValueAt(
    config,
    issue.path.filter((key) => typeof key !== 'symbol'),
  );
  return [{ path: fieldPath, message: describeIssueWithValue(issue, writtenValue) }];
}

function describeIssueWithValue(issue: z.core.$ZodIssue, writtenValue: unknown): string {
  const text = describeIssue(issue);
  if (issue.code === 'custom') return text;
  if (writtenValue !== undefined) return `${text}; found ${formatConfigValue(writtenValue)}`;
  return issue.code === 'invalid_value' || issue.code === 'invalid_union' ? `is missing; ${text}` : text;
}

const findDeepestPathLength = (issues: readonly z.core.$ZodIssue[]): number =>
  Math.max(0, ...issues.map(({ path }) => path.length));

const MAX_SHOWN_VALUE_CHARS = 60;

function formatConfigValue(value: unknown): string {
  const text = typeof value === 'function' ? 'a function' : JSON.stringify(value);
  return text.length > MAX_SHOWN_VALUE_CHARS ? `${text.slice(0, MAX_SHOWN_VALUE_CHARS).toWellFormed()}…` : text;
}

const jsonSchemas = new WeakMap<z.ZodType, ConfigSchema>();

/** Memoized, because creating a schema takes milliseconds. */
export function toJsonSchema(schema: z.ZodType): ConfigSchema {
  // Functions, which only callers of the API can pass, have no schema.
  const jsonSchema =
    jsonSchemas.get(schema) ?? z.toJSONSchema(schema, { io: 'input', target: 'draft-7', unrepresentable: 'any' });
  jsonSchemas.set(schema, jsonSchema);
  return jsonSchema;
}

export interface UsableConfig {
  readonly config: unknown;
  /** Sentences about parts of the configuration that were ignored. */
  readonly notes: readonly string[];
}

/** Returns a description of the problems if no part is usable. */
export function parseUsableConfig(provider: CondensationProvider, config: unknown): UsableConfig | string {
  const result = provider.validateConfig(config);
  if (result.valid) {
    const { warnings = [] } = result;
    return { config: result.config, notes: warnings.map(({ path, message }) => `${path} ${message} and was ignored.`) };
  }
  const { problems, rest } = result;
  const problemTexts = [...problems, ...(rest?.leftOut ?? [])].map(
    ({ path, message }) => `${path || 'configuration'}: ${message}`,
  );
  if (!rest) return problemTexts.join('; ');
  return {
    config: rest.config,
    notes: [`What is wrong in the settings of ${provider.name} was left out. ${problemTexts.join('; ')}`],
  };
}

/**
 * Falls back to the provider's defaults.
 * @throws Error if the provider rejects its own defaults
 */
export function parseConfigOrThrow(provider: CondensationProvider, config: unknown): UsableConfig {
  const usableConfig = parseUsableConfig(provider, config);
  if (typeof usableConfig !== 'string') return usableConfig;
  const defaultConfig = provider.validateConfig(undefined);
  if (!defaultConfig.valid) throw new Error(`${provider.name} has no valid defaults.`);
  return { config: defaultConfig.config, notes: [`The defaults of ${provider.name} were used. ${usableConfig}`] };
}

/** @param config unchecked; an invalid one counts as the defaults */
export const mayCallModel = (provider: CondensationProvider, config: unknown): boolean =>
  provider.asksModel?.(parseConfigOrThrow(provider, config).config) ??
  provider.getCapabilities().supportsLLMSummarization;
