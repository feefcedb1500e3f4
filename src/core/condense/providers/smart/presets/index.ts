import { DOCUMENTED_PRESETS } from './documented';
import { FILE_AWARE } from './fileAware';
import type { Preset } from './preset';
import { isEqual } from '../../../../isEqual';

export { FILE_AWARE } from './fileAware';
export { migrateSmartConfig } from './migrate';
export { formatPresetFile, parsePresetFile, PRESET_FILE_END } from './presetFile';
export type { Preset } from './preset';

/** The presets that this product brings. */
export const BUILT_IN_PRESETS: readonly Preset[] = [...DOCUMENTED_PRESETS, FILE_AWARE];

/** The preset of an id, among the user's own first. */
export const findPreset = (id: string, own: readonly Preset[] = []): Preset | undefined =>
  [...own, ...BUILT_IN_PRESETS].find((preset) => preset.id === id);

/** The preset that a configuration names or is; none: File-Aware. @param own the user's presets. */
export const presetOf = (config: unknown = FILE_AWARE.id, own: readonly Preset[] = []): Preset | undefined =>
  [...own, ...BUILT_IN_PRESETS].find((preset) => preset.id === config || isEqual(preset.config, config));
