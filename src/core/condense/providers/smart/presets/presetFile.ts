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
  const reservedKeyProblem = findReservedKey(value, [], 0);
  if (reservedKeyProblem !== undefined) return makeInvalidPreset(reservedKeyProblem.path, reservedKeyProblem.message);
  const checkedPreset = validateConfig(presetSchema, value);
  return checkedPreset.valid ? validatePreset(checkedPreset.config) : checkedPreset;
}

export function validatePreset(preset: z.output<typeof presetSchema>): ValidationResult<Preset> {
  const config = migrateSmartConfig(preset.config);
  const checkedConfig = validateSmartConfig(config);
  // Keeps what the user wrote, without defaults; it was just checked.
  const createPreset = (written: unknown): Preset => ({ ...preset, config: written as Preset['config'] });
  if (checkedConfig.valid) return { valid: true, config: createPreset(config) };
  const prefixConfigPath = ({ path, message }: ConfigProblem): ConfigProblem => ({ path: `config.${path}`, message });
  const { problems, rest: usableRest } = checkedConfig;
  if (!usableRest) return { valid: false, problems: problems.map(prefixConfigPath) };
  const usablePreset = createPreset(usableRest.written);
  const leftOut = usableRest.leftOut?.map(prefixConfigPath) ?? [];
  return {
    valid: false,
    problems: problems.map(prefixConfigPath),
    rest: { config: usablePreset, written: usablePreset, leftOut },
  };
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
    const itemPath = [...path, key];
    if (RESERVED_KEYS.has(key)) return { path: itemPath.join('.'), message: 'is not the name of a setting' };
    const innerProblem = findReservedKey(item, itemPath, depth + 1);
    if (innerProblem) return innerProblem;
  }
  return undefined;
}

export const formatPresetFile = (preset: Preset): string => `${JSON.stringify(preset, null, 2)}\n`;
