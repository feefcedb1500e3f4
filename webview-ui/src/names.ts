import { BUILT_IN_STRATEGIES } from '../../src/core/condense/providers/strategy/builtIn';
import { getProviderName } from '../../src/core/condense/types';
import type { ProviderDescription } from '../../src/panel/protocol';
import { t } from './l10n';
import type { Panel } from './state/panel';

/** Returns the provider's name, or its ID if it is no longer registered. */
export const getProviderLabel = (providers: readonly ProviderDescription[], id: string): string =>
  t(getProviderName(id, providers));

/** Returns the name of a preset or strategy, or its ID if it no longer exists. */
export function getPresetName({ state }: Pick<Panel, 'state'>, id: string): string {
  const preset = state.presets.find((each) => each.id === id);
  // Don't translate names that the user gave.
  if (preset && !preset.isBuiltIn) return preset.name;
  return t((preset ?? BUILT_IN_STRATEGIES.find((strategy) => strategy.id === id))?.name ?? id);
}
