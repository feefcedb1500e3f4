/** Answers what differs between presets and the settings. */
import * as vscode from 'vscode';
import type { SmartConfig } from '../../core/condense/providers/smart/config';
import type { PanelSettings } from '../panelSettings';
import { presetStates } from '../presets';
import type { RequestHandlers } from '../requestHandlers';
import { compareConfigs } from './compareConfigs';
import type { Comparable, presetComparisonMethods } from './methods';

type Handlers = Pick<RequestHandlers, keyof typeof presetComparisonMethods>;

/** The panel's requests that compare presets with each other and with the settings. */
export const presetComparisonRequests = (settings: PanelSettings): Handlers => ({
  // A refused comparison is an answer, too.
  comparePresets: async ({ first, second }) =>
    Promise.resolve(compareConfigs(configOf(settings, first), configOf(settings, second))),
});

/** @throws Error where there is no such preset (any more) */
function configOf(settings: PanelSettings, comparable: Comparable): SmartConfig {
  if (comparable.kind === 'preset' && !presetStates().some(({ id }) => id === comparable.id)) {
    throw new Error(vscode.l10n.t('The preset "{0}" no longer exists. Choose another one.', comparable.id));
  }
  const value: unknown = comparable.kind === 'preset' ? comparable.id : settings.valueOf('smart');
  // The Smart provider made it of the value: it is a configuration of that provider.
  return settings.effective('smart', value) as SmartConfig;
}
