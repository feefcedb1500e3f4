import type { Preset } from '../../core/condense/presets';
import { chooseStrategy } from '../../core/condense/providers/strategy';
import { isBuiltIn } from '../../core/condense/types';
import { isRecord } from '../../core/messages/blocks';
import { promptOf, type ApiProfile } from '../../settings/profiles';
import { modelSettings } from './modelSettings';
import { setting } from './settings';

/**
 * The configuration of a provider as the settings hold it; the provider checks it, and takes its defaults for what is
 * absent. A copy: what VS Code gives can't cross to a worker. Where it names a preset of the user's own, that preset's.
 */
export function providerConfig(id: string): unknown {
  const value = isBuiltIn(id) ? setting(id) : registeredConfig(setting('providers'), id);
  const own = id === 'smart' ? ownPresets().find((preset) => preset.id === value)?.config : undefined;
  return value === undefined ? undefined : (JSON.parse(JSON.stringify(own ?? value)) as unknown);
}

/**
 * The configuration that a provider runs with: that of the settings, which for Native, and for a strategy's steps with Native, is
 * completed by the prompt that holds for the condensing profile.
 */
export function configToRun(id: string): unknown {
  if (id !== 'native' && id !== 'strategy') return providerConfig(id);
  const { condensing, prompt } = modelSettings();
  const native = nativeConfigFor(condensing, prompt);
  return id === 'native' ? native : strategyWith(native, providerConfig('strategy'));
}

/** A strategy whose Native steps run with the settings' configuration for Native, as far as they have none of their own. */
function strategyWith(native: object, value: unknown): unknown {
  // An invalid value counts as the default; the settings panel names it.
  const checked = [value, undefined].map(chooseStrategy).find(({ valid }) => valid);
  if (!checked?.valid) return value;
  const steps = checked.config.steps.map((step) =>
    step.provider === 'native' ? { ...step, config: { ...native, ...(isRecord(step.config) && step.config) } } : step,
  );
  return { ...checked.config, steps };
}

/** Native's configuration of the settings with the prompt that holds for a profile. */
export function nativeConfigFor(profile: ApiProfile | undefined, globalPrompt: string): { readonly prompt: string } {
  const config = providerConfig('native');
  // A value that is no object counts as its default; the settings panel names it.
  return { ...(isRecord(config) && config), prompt: promptOf(profile, globalPrompt) };
}

/** Those of other extensions have their configurations in one setting, by id. */
const registeredConfig = (configs: unknown, id: string): unknown =>
  isRecord(configs) && Object.hasOwn(configs, id) ? configs[id] : undefined;

/** The user's own presets; wrong ones are left out. */
export const ownPresets = (): readonly Preset[] => setting('presets');
