import { BUILT_IN_STRATEGIES } from '../../src/core/condense/providers/strategy/builtIn';
import { getProviderName } from '../../src/core/condense/types';
import type { ProviderDescription } from '../../src/panel/protocol';
import { t } from './l10n';
import type { Panel } from './state/panel';

/** A provider's name in the page's language; its id if it is no longer registered. */
export const getProviderLabel = (providers: readonly ProviderDescription[], id: string): string =>
  t(getProviderName(id, providers));

/** The name of a preset or strategy in the page's language; its id if it is there no more. */
export function getPresetName({ state }: Pick<Panel, 'state'>, id: string): string {
  const preset = state.presets.find((each) => each.id === id);
  // A name that the user gave is no sentence of ours.
  if (preset && !preset.isBuiltIn) return preset.name;
  return t((preset ?? BUILT_IN_STRATEGIES.find((strategy) => strategy.id === id))?.name ?? id);
}
