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
 * The configuration of a provider as the settings hold it; the provider checks it, and takes its defaults for what is
 * absent. A copy: what VS Code gives can't cross to a worker. Where it names a preset of the user's own, that preset's. Undefined where
 * nothing is set: VS Code has an empty object then.
 */
export function providerConfig(id: string): unknown {
  const value = isBuiltIn(id) ? setting(id) : registeredConfig(setting('providers'), id);
  const own = id === 'smart' ? ownPresets().find((preset) => preset.id === value)?.config : undefined;
  const isEmpty = value === undefined || (isRecord(value) && Object.keys(value).length === 0);
  return isEmpty ? undefined : (JSON.parse(JSON.stringify(own ?? value)) as unknown);
}

/**
 * The configuration that a provider runs with, whoever asks: the one that was named, else that of the settings. The steps of a
 * strategy have their providers' settings, as far as they say nothing themselves.
 * @param asked a configuration of the caller's own.
 */
export function configToRun(id: string, asked?: unknown): unknown {
  const config = asked ?? providerConfig(id);
  return id === 'strategy' ? withSettings(config) : config;
}

/** The configuration of fallbacks, by provider. */
export const fallbackConfigs = (): Readonly<Record<'native' | 'lossless' | 'truncation', unknown>> => ({
  native: configToRun('native'),
  lossless: configToRun('lossless'),
  truncation: configToRun('truncation'),
});

function withSettings(value: unknown): unknown {
  // An invalid value counts as the default; the settings panel names it.
  const checked = [value, undefined].map(chooseStrategy).find(({ valid }) => valid);
  if (!checked?.valid) return value;
  const steps = checked.config.steps.map((step) =>
    step.provider === undefined ? step : { ...step, config: stepConfig(step.provider, step.config) },
  );
  return { ...checked.config, steps };
}

/** Smart's passes are one whole; of the others each field is the step's, or else the settings'. */
function stepConfig(provider: string, own: unknown): unknown {
  const settings = providerConfig(provider);
  if (provider === 'smart' || !isRecord(settings)) return own ?? settings;
  const known = builtInProviders(ownPresets).find(({ id }) => id === provider);
  // What is wrong in the settings does not apply to a step either.
  const checked = known?.validateConfig(settings);
  const sound = checked?.valid === false ? checked.rest?.written : settings;
  return isRecord(sound) && (isRecord(own) || own === undefined) ? { ...sound, ...own } : own;
}

/** The user's settings for summaries by a profile's model, whatever asks for them. */
export function summaryPreferences(profile: ApiProfile): Pick<SummarizerModel, 'prompt' | 'maskSecrets'> {
  return { prompt: choosePrompt(profile, modelSettings().prompt), maskSecrets: nativeConfig().maskSecrets };
}

/** The settings of Native, without those that are wrong, which the settings panel names. */
export function nativeConfig(): NativeConfig {
  const checked = validateFields(nativeConfigSchema, providerConfig('native'));
  return (checked.valid ? checked.config : checked.rest?.config) ?? nativeConfigSchema.parse({});
}

/** Those of other extensions have their configurations in one setting, by id. */
const registeredConfig = (configs: unknown, id: string): unknown =>
  isRecord(configs) && Object.hasOwn(configs, id) ? configs[id] : undefined;

/** The name of the preset that a configuration of Smart is, or names; undefined where the passes are the user's own. */
export const presetNameOf = (config: unknown): string | undefined => presetOf(config, ownPresets())?.name;

/** Its id. */
export const presetIdOf = (config: unknown): string | undefined => presetOf(config, ownPresets())?.id;

/** The user's own presets; wrong ones are left out. */
export const ownPresets = (): readonly Preset[] => setting('presets');
