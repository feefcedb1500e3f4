import { BUILT_IN_STRATEGIES } from '../../../../src/core/condense/strategy/builtIn';
import { providerNameOf } from '../../../../src/core/condense/types';
import type { ProviderDescription } from '../../../../src/panel/protocol';
import { t } from '../../l10n';
import type { Panel } from '../../state/panel';

/** A provider's name in the page's language; its id if it is no longer registered. */
export const providerName = (providers: readonly ProviderDescription[], id: string): string =>
  t(providerNameOf(id, providers));

/** The name of a preset or strategy in the page's language; its id if it is there no more. */
export const presetName = ({ state }: Pick<Panel, 'state'>, id: string): string =>
  t([...state.presets, ...BUILT_IN_STRATEGIES].find((preset) => preset.id === id)?.name ?? id);
