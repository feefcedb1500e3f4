import { validate } from '../../config';
import { BUILT_IN_PRESETS, FILE_AWARE, findPreset, migrateSmartConfig, type Preset } from '../../presets';
import type { ValidationResult } from '../../types';
import { smartConfigSchema, type SmartConfig } from './config';

/**
 * The configuration that a setting names: a preset's by its id, or one of its own. None: File-Aware, which asks no model,
 * so that what is wrongly set never brings a cost.
 * @param own the user's presets.
 */
export function chooseConfig(config: unknown, own: readonly Preset[]): ValidationResult<SmartConfig> {
  if (typeof config !== 'string') return validate(smartConfigSchema, migrateSmartConfig(config ?? FILE_AWARE.config));
  const preset = findPreset(config, own);
  if (preset) return validate(smartConfigSchema, preset.config);
  const known = [...own, ...BUILT_IN_PRESETS].map(({ id }) => id).join(', ');
  return { valid: false, problems: [{ path: '', message: `there is no preset "${config}"; known are ${known}` }] };
}
