import type * as z from 'zod';
import { isRecord } from '../messages/blocks';
import { findUnknownFields } from './unknownFields';
import type { ConfigSchema, ConfigWithoutInvalidParts } from './types';

/** Keys and indexes that lead from the root to a nested field or list entry. */
export type FieldPath = readonly PropertyKey[];

/**
 * @param findRemovableField returns the field or entry to leave out for an issue at a path;
 *   undefined if the value is unusable without it
 * @returns all issues found; `rest` is absent if nothing is usable
 */
export function parseDroppingWrongFields<T>(
  schema: z.ZodType<T>,
  value: unknown,
  jsonSchema: ConfigSchema,
  findRemovableField: (path: FieldPath) => FieldPath | undefined,
): { readonly rest?: ConfigWithoutInvalidParts<T>; readonly issues: readonly z.core.$ZodIssue[] } {
  const issues: z.core.$ZodIssue[] = [];
  let remainingValue = value;
  // A whole object is checked only after its fields are valid, so leaving fields out can reveal
  // more issues.
  for (;;) {
    const parsed = schema.safeParse(remainingValue);
    if (parsed.success) return { rest: { config: parsed.data, written: remainingValue }, issues };
    const newIssues = parsed.error.issues.flatMap((issue) => splitUnknownFields(issue, jsonSchema, remainingValue));
    issues.push(...newIssues);
    const paths = newIssues.map(({ path }) => findRemovableField(path)).filter((path) => path !== undefined);
    // Stops if the next round would find the same issues.
    if (paths.length < newIssues.length || !paths.every(([field]) => hasField(remainingValue, field)))
      return { issues };
    remainingValue = removeFields(remainingValue, paths);
  }
}

export function splitUnknownFields(
  issue: z.core.$ZodIssue,
  jsonSchema: ConfigSchema,
  value: unknown,
): z.core.$ZodIssue[] {
  if (issue.code !== 'unrecognized_keys') return [issue];
  const unknownFields = findUnknownFields(jsonSchema, value);
  return issue.keys.map((key) => {
    const path = [...issue.path, key];
    const message = unknownFields.find((each) => each.path === path.map(String).join('.'))?.message;
    return { code: 'custom', path, message: message ?? 'is not a known field', input: undefined };
  });
}

/** Removes list entries from the end, so that earlier indexes stay valid. */
const removeFields = (value: unknown, paths: readonly FieldPath[]): unknown =>
  [...new Map(paths.map((path) => [path.map(String).join('\n'), path])).values()]
    .toSorted((a, b) => comparePathsForRemoval(b, a))
    .reduce(removeField, value);

function comparePathsForRemoval(a: FieldPath, b: FieldPath): number {
  const firstDifference = a.findIndex((key, index) => key !== b[index]);
  const [one, other] = [a[firstDifference], b[firstDifference]];
  return typeof one === 'number' && typeof other === 'number' ? one - other : 0;
}

/** If the field is missing, removes the object that requires it. */
function removeField(value: unknown, [field = '', ...innerPath]: FieldPath): unknown {
  const [nextField] = innerPath;
  if (Array.isArray(value)) {
    const index = Number(field);
    const entry: unknown = value[index];
    return hasField(entry, nextField) ? value.with(index, removeField(entry, innerPath)) : value.toSpliced(index, 1);
  }
  if (!isRecord(value) || typeof field === 'symbol') return value;
  const { [field]: nested, ...others } = value;
  return hasField(nested, nextField) ? { ...others, [field]: removeField(nested, innerPath) } : others;
}

const hasField = (value: unknown, field: PropertyKey | undefined): boolean =>
  field !== undefined && typeof value === 'object' && value !== null && Object.hasOwn(value, field);
