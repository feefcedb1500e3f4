import * as vscode from 'vscode';
import type { SmartConfig } from '../../core/condense/providers/smart/config';
import type { PanelSettings } from '../panelSettings';
import { listPresetStates } from '../presets';
import type { RequestHandlers } from '../requestHandlers';
import { compareConfigs } from './compareConfigs';
import type { ComparableConfiguration, presetComparisonMethods } from './methods';

type PresetComparisonHandlers = Pick<RequestHandlers, keyof typeof presetComparisonMethods>;

export const createPresetComparisonHandlers = (settings: PanelSettings): PresetComparisonHandlers => ({
  // Asynchronous, so that errors become rejections.
  comparePresets: async ({ first, second }) =>
    Promise.resolve(compareConfigs(resolveComparedConfig(settings, first), resolveComparedConfig(settings, second))),
});

/** @throws Error if the preset doesn't exist */
function resolveComparedConfig(settings: PanelSettings, configuration: ComparableConfiguration): SmartConfig {
  if (configuration.kind === 'preset' && !listPresetStates().some(({ id }) => id === configuration.id)) {
    throw new Error(vscode.l10n.t('The preset “{0}” no longer exists. Choose another one.', configuration.id));
  }
  const value: unknown = configuration.kind === 'preset' ? configuration.id : settings.getRawValue('smart');
  // Safe cast: Smart itself produced the configuration from the value.
  return settings.getEffectiveValue('smart', value) as SmartConfig;
}
