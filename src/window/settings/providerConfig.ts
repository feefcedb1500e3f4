import { validateFields } from '../../core/condense/config';
import { presetOf, type Preset } from '../../core/condense/providers/smart/presets';
import { chooseStrategy } from '../../core/condense/providers/strategy';
import { nativeConfigSchema, type NativeConfig } from '../../core/condense/summary/nativeConfig';
import type { SummarizerModel } from '../../core/condense/summarizer';
import { isBuiltIn } from '../../core/condense/types';
import { isRecord } from '../../core/messages/blocks';
import { choosePrompt, type ApiProfile } from '../../settings/profiles';
import { modelSettings } from './modelSettings';
import { builtInProviders } from './settingRules';
import { setting } from './settings';

/**
 * A provider's configuration from the settings; the provider validates it and adds defaults. A
 * copy, because VS Code's objects can't be sent to a worker. A name of a user's preset is replaced
 * by that preset. Undefined if nothing is set (VS Code then has an empty object).
 */
export function providerConfig(id: string): unknown {
  const value = isBuiltIn(id) ? setting(id) : getRegisteredConfig(setting('providers'), id);
  const own = id === 'smart' ? ownPresets().find((preset) => preset.id === value)?.config : undefined;
  const isEmpty = value === undefined || (isRecord(value) && Object.keys(value).length === 0);
  return isEmpty ? undefined : (JSON.parse(JSON.stringify(own ?? value)) as unknown);
}

/**
 * The configuration that a provider runs with: the requested one, else that of the settings. Steps
 * of a strategy use their providers' settings for fields that they lack.
 * @param asked the caller's configuration
 */
export function configToRun(id: string, asked?: unknown): unknown {
  const config = asked ?? providerConfig(id);
  return id === 'strategy' ? fillSteps(config) : config;
}

/** Configurations of fallbacks, by provider. */
export const fallbackConfigs = (): Readonly<Record<'native' | 'lossless' | 'truncation', unknown>> => ({
  native: configToRun('native'),
  lossless: configToRun('lossless'),
  truncation: configToRun('truncation'),
});

function fillSteps(value: unknown): unknown {
  // An invalid value counts as the default; the settings panel reports it.
  const checked = [value, undefined].map(chooseStrategy).find(({ valid }) => valid);
  if (!checked?.valid) return value;
  const steps = checked.config.steps.map((step) =>
    step.provider === undefined ? step : { ...step, config: resolveStepConfig(step.provider, step.config) },
  );
  return { ...checked.config, steps };
}

/**
 * Smart's passes are taken as a whole; for other providers each field comes from the step or the
 * settings.
 */
function resolveStepConfig(provider: string, own: unknown): unknown {
  const settings = providerConfig(provider);
  if (provider === 'smart' || !isRecord(settings)) return own ?? settings;
  const known = builtInProviders(ownPresets).find(({ id }) => id === provider);
  // Invalid settings don't apply to steps either.
  const checked = known?.validateConfig(settings);
  const sound = checked?.valid === false ? checked.rest?.written : settings;
  return isRecord(sound) && (isRecord(own) || own === undefined) ? { ...sound, ...own } : own;
}

/** The user's settings for summaries by a profile's model. */
export function summaryPreferences(profile: ApiProfile): Pick<SummarizerModel, 'prompt' | 'maskSecrets'> {
  return { prompt: choosePrompt(profile, modelSettings().prompt), maskSecrets: nativeConfig().maskSecrets };
}

/** Summary's settings without invalid ones, which the settings panel reports. */
export function nativeConfig(): NativeConfig {
  const checked = validateFields(nativeConfigSchema, providerConfig('native'));
  return (checked.valid ? checked.config : checked.rest?.config) ?? nativeConfigSchema.parse({});
}

/** All configurations of other extensions' providers are in one setting, by ID. */
const getRegisteredConfig = (configs: unknown, id: string): unknown =>
  isRecord(configs) && Object.hasOwn(configs, id) ? configs[id] : undefined;

/**
 * Name of the preset that a Smart configuration is or names; undefined if the passes are the user's
 * own.
 */
export const presetNameOf = (config: unknown): string | undefined => presetOf(config, ownPresets())?.name;

export const presetIdOf = (config: unknown): string | undefined => presetOf(config, ownPresets())?.id;

/** The user's valid presets. */
export const ownPresets = (): readonly Preset[] => setting('presets');
