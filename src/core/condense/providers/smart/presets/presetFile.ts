import type * as z from 'zod';
import { getErrorMessage } from '../../../../errors';
import { validateConfig } from '../../../config';
import { validateSmartConfig } from '../config';
import type { ConfigProblem, ValidationResult } from '../../../types';
import { migrateSmartConfig } from './migrate';
import { presetSchema, type Preset } from './preset';

/** In UTF-16 units; longer than any preset written by hand. */
const MAX_PRESET_FILE_CHARS = 1_000_000;
const MAX_PRESET_DEPTH = 64;

/** The extension contributes a JSON Schema for files with this suffix. */
export const PRESET_FILE_SUFFIX = '.condense.json';

/** Keys with a special meaning in JavaScript objects. */
const RESERVED_KEYS = new Set(['__proto__', 'constructor', 'prototype']);

/** The configuration stays as written, including unknown fields. */
export function parsePresetFile(text: string): ValidationResult<Preset> {
  if (text.length > MAX_PRESET_FILE_CHARS)
    return makeInvalidPreset(
      '',
      `has ${text.length.toLocaleString('en-US')} characters; at most ${MAX_PRESET_FILE_CHARS.toLocaleString('en-US')} are read`,
    );
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    return makeInvalidPreset('', `is not JSON: ${getErrorMessage(error)}`);
  }
  const reserved = findReservedKey(value, [], 0);
  if (reserved !== undefined) return makeInvalidPreset(reserved.path, reserved.message);
  const checked = validateConfig(presetSchema, value);
  return checked.valid ? validatePreset(checked.config) : checked;
}

export function validatePreset(preset: z.output<typeof presetSchema>): ValidationResult<Preset> {
  const config = migrateSmartConfig(preset.config);
  const checked = validateSmartConfig(config);
  // Keeps what the user wrote, without defaults; it was just checked.
  const createPreset = (written: unknown): Preset => ({ ...preset, config: written as Preset['config'] });
  if (checked.valid) return { valid: true, config: createPreset(config) };
  const prefixConfigPath = ({ path, message }: ConfigProblem): ConfigProblem => ({ path: `config.${path}`, message });
  const { problems, rest: usableRest } = checked;
  if (!usableRest) return { valid: false, problems: problems.map(prefixConfigPath) };
  const usable = createPreset(usableRest.written);
  const leftOut = usableRest.leftOut?.map(prefixConfigPath) ?? [];
  return { valid: false, problems: problems.map(prefixConfigPath), rest: { config: usable, written: usable, leftOut } };
}

const makeInvalidPreset = (path: string, message: string): ValidationResult<never> => ({
  valid: false,
  problems: [{ path, message }],
});

function findReservedKey(
  value: unknown,
  path: readonly (string | number)[],
  depth: number,
): { readonly path: string; readonly message: string } | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth > MAX_PRESET_DEPTH)
    return { path: path.join('.'), message: `is nested deeper than ${MAX_PRESET_DEPTH} levels` };
  for (const [key, item] of Object.entries(value)) {
    const inside = [...path, key];
    if (RESERVED_KEYS.has(key)) return { path: inside.join('.'), message: 'is not the name of a setting' };
    const found = findReservedKey(item, inside, depth + 1);
    if (found) return found;
  }
  return undefined;
}

export const formatPresetFile = (preset: Preset): string => `${JSON.stringify(preset, null, 2)}\n`;
