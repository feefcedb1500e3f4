import { BUILT_IN_PRESETS, type Preset } from '../core/condense/providers/smart/presets';
import { presetSchema } from '../core/condense/providers/smart/presets/preset';
import { validatePreset } from '../core/condense/providers/smart/presets/presetFile';
import { validateFields } from '../core/condense/config';
import type { ConfigProblem, ValidationResult } from '../core/condense/types';
import { isRecord } from '../core/messages/blocks';

export interface ParsedPresets {
  readonly presets: readonly Preset[];
  /**
   * Problems of entries that were skipped; the path begins with the entry's position in the
   * setting.
   */
  readonly problems: readonly ConfigProblem[];
}

/** Uses the valid presets and reports the others. */
export function parsePresets(value: unknown): ParsedPresets {
  if (value === undefined || value === null) return { presets: [], problems: [] };
  if (!Array.isArray(value)) return { presets: [], problems: [{ path: '', message: 'is not a list' }] };
  const presets: Preset[] = [];
  const problems: ConfigProblem[] = [];
  for (const [index, entry] of (value as unknown[]).entries()) {
    const parsed = parsePreset(entry);
    const makePath = (path: string): string => `${index}${path === '' ? '' : `.${path}`}`;
    problems.push(...parsed.problems.map(({ path, message }) => ({ path: makePath(path), message })));
    const { preset } = parsed;
    if (!preset) continue;
    if ([...presets, ...BUILT_IN_PRESETS].some(({ id }) => id === preset.id)) {
      problems.push({ path: makePath('id'), message: `"${preset.id}" is the id of another preset` });
    } else {
      presets.push(preset);
    }
  }
  return { presets, problems };
}

/** Replaces an invalid name by the preset's ID. */
function parsePreset(entry: unknown): { readonly preset?: Preset; readonly problems: readonly ConfigProblem[] } {
  const shape = validateFields(presetSchema, entry, undefined, ([field]) =>
    field === 'description' ? [field] : undefined,
  );
  if (shape.valid) return toParsedPreset(validatePreset(shape.config));
  if (isRecord(entry) && entry['name'] !== entry['id'] && shape.problems.some(({ path }) => path === 'name')) {
    const parsed = parsePreset({ ...entry, name: entry['id'] });
    return { ...parsed, problems: removeDuplicateProblems([...shape.problems, ...parsed.problems]) };
  }
  if (!shape.rest) return { problems: shape.problems };
  const { preset, problems } = toParsedPreset(validatePreset(shape.rest.config));
  return { ...(preset && { preset }), problems: [...shape.problems, ...problems] };
}

const toParsedPreset = (result: ValidationResult<Preset>): ReturnType<typeof parsePreset> => {
  if (result.valid) return { preset: result.config, problems: [] };
  const { problems, rest } = result;
  return rest ? { preset: rest.config, problems: [...problems, ...(rest.leftOut ?? [])] } : { problems };
};

const removeDuplicateProblems = (problems: readonly ConfigProblem[]): ConfigProblem[] => [
  ...new Map(problems.map((problem) => [`${problem.path}: ${problem.message}`, problem])).values(),
];
