/** The user's own presets, as the setting `contextCondenser.presets` holds them. */
import { BUILT_IN_PRESETS, type Preset } from '../core/condense/presets';
import { presetSchema } from '../core/condense/presets/preset';
import { checkPreset } from '../core/condense/presets/presetFile';
import { validate } from '../core/condense/config';
import type { ConfigProblem } from '../core/condense/types';

export interface ParsedPresets {
  readonly presets: readonly Preset[];
  /** The problems of the others, each named by its place in the setting. */
  readonly problems: readonly ConfigProblem[];
}

/** The presets of a setting. A wrong one is left out and named; the others are used. */
export function parsePresets(value: unknown): ParsedPresets {
  if (value === undefined || value === null) return { presets: [], problems: [] };
  if (!Array.isArray(value)) return { presets: [], problems: [{ path: '', message: 'is not a list' }] };
  const presets: Preset[] = [];
  const problems: ConfigProblem[] = [];
  for (const [index, entry] of (value as unknown[]).entries()) {
    const shape = validate(presetSchema, entry);
    const checked = shape.valid ? checkPreset(shape.config) : shape;
    const place = (path: string): string => `${index}${path === '' ? '' : `.${path}`}`;
    if (!checked.valid) {
      problems.push(...checked.problems.map(({ path, message }) => ({ path: place(path), message })));
    } else if ([...presets, ...BUILT_IN_PRESETS].some(({ id }) => id === checked.config.id)) {
      problems.push({ path: place('id'), message: `"${checked.config.id}" is the id of another preset` });
    } else {
      presets.push(checked.config);
    }
  }
  return { presets, problems };
}
