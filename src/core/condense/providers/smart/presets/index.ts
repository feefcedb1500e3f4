import { DOCUMENTED_PRESETS } from './documented';
import { FILE_AWARE_PRESET } from './fileAware';
import type { Preset } from './preset';
import { isEqual } from '../../../../isEqual';

export { FILE_AWARE_PRESET } from './fileAware';
export { migrateSmartConfig } from './migrate';
export { formatPresetFile, parsePresetFile, PRESET_FILE_SUFFIX } from './presetFile';
export type { Preset } from './preset';

export const BUILT_IN_PRESETS: readonly Preset[] = [...DOCUMENTED_PRESETS, FILE_AWARE_PRESET];

/** Searches the user's own presets first. */
export const findPresetById = (id: string, ownPresets: readonly Preset[] = []): Preset | undefined =>
  [...ownPresets, ...BUILT_IN_PRESETS].find((preset) => preset.id === id);

/** Uses File-Aware by default. */
export const findPresetOfConfig = (
  config: unknown = FILE_AWARE_PRESET.id,
  ownPresets: readonly Preset[] = [],
): Preset | undefined =>
  [...ownPresets, ...BUILT_IN_PRESETS].find((preset) => preset.id === config || isEqual(preset.config, config));
