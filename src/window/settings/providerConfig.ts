import { validateFields } from '../../core/condense/config';
import { findPresetOfConfig, type Preset } from '../../core/condense/providers/smart/presets';
import { resolveStrategy } from '../../core/condense/providers/strategy';
import { nativeConfigSchema, type NativeConfig } from '../../core/condense/summary/nativeConfig';
import type { SummarizerModel } from '../../core/condense/summarizer';
import { isBuiltInProvider } from '../../core/condense/types';
import { isRecord } from '../../core/messages/blocks';
import { chooseSummaryPrompt, type ApiProfile } from '../../settings/profiles';
import { readModelSettings } from './modelSettings';
import { createBuiltInProviders } from './settingRules';
import { readSetting } from './settings';

/**
 * Returns the configuration without validating it. Replaces the name of a user's preset by its
 * configuration. Undefined if nothing is set.
 */
export function readProviderConfig(id: string): unknown {
  const value = isBuiltInProvider(id) ? readSetting(id) : getRegisteredConfig(readSetting('providers'), id);
  const ownPresetConfig = id === 'smart' ? readOwnPresets().find((preset) => preset.id === value)?.config : undefined;
  const isEmpty = value === undefined || (isRecord(value) && Object.keys(value).length === 0);
  return isEmpty ? undefined : (JSON.parse(JSON.stringify(ownPresetConfig ?? value)) as unknown);
}

/**
 * Steps of a strategy take missing fields from their providers' settings.
 * @param asked the caller's configuration
 */
export function resolveProviderConfig(id: string, asked?: unknown): unknown {
  const config = asked ?? readProviderConfig(id);
  return id === 'strategy' ? fillStepConfigs(config) : config;
}

export const readFallbackConfigs = (): Readonly<Record<'native' | 'lossless' | 'truncation', unknown>> => ({
  native: resolveProviderConfig('native'),
  lossless: resolveProviderConfig('lossless'),
  truncation: resolveProviderConfig('truncation'),
});

function fillStepConfigs(value: unknown): unknown {
  // An invalid value counts as the default; the settings panel reports it.
  const validStrategy = [value, undefined].map(resolveStrategy).find(({ valid }) => valid);
  if (!validStrategy?.valid) return value;
  const steps = validStrategy.config.steps.map((step) =>
    step.provider === undefined ? step : { ...step, config: resolveStepConfig(step.provider, step.config) },
  );
  return { ...validStrategy.config, steps };
}

/**
 * Returns a step's configuration. Smart takes all passes either from the step or from the settings;
 * other providers do so for each field.
 */
function resolveStepConfig(provider: string, ownConfig: unknown): unknown {
  const settings = readProviderConfig(provider);
  if (provider === 'smart' || !isRecord(settings)) return ownConfig ?? settings;
  const builtIn = createBuiltInProviders(readOwnPresets).find(({ id }) => id === provider);
  // Invalid settings don't apply to steps either.
  const checked = builtIn?.validateConfig(settings);
  const validSettings = checked?.valid === false ? checked.rest?.written : settings;
  return isRecord(validSettings) && (isRecord(ownConfig) || ownConfig === undefined)
    ? { ...validSettings, ...ownConfig }
    : ownConfig;
}

export function readSummaryPreferences(profile: ApiProfile): Pick<SummarizerModel, 'prompt' | 'maskSecrets'> {
  return {
    prompt: chooseSummaryPrompt(profile, readModelSettings().prompt),
    maskSecrets: readNativeConfig().maskSecrets,
  };
}

/** Returns Summary's configuration without invalid settings, which the settings panel reports. */
export function readNativeConfig(): NativeConfig {
  const checked = validateFields(nativeConfigSchema, readProviderConfig('native'));
  return (checked.valid ? checked.config : checked.rest?.config) ?? nativeConfigSchema.parse({});
}

const getRegisteredConfig = (configs: unknown, id: string): unknown =>
  isRecord(configs) && Object.hasOwn(configs, id) ? configs[id] : undefined;

/**
 * Returns the name of the preset that a Smart configuration names or equals; undefined if its
 * passes are the user's own.
 */
export const getPresetName = (config: unknown): string | undefined =>
  findPresetOfConfig(config, readOwnPresets())?.name;

export const getPresetId = (config: unknown): string | undefined => findPresetOfConfig(config, readOwnPresets())?.id;

export const readOwnPresets = (): readonly Preset[] => readSetting('presets');
