import { losslessProvider, nativeProvider, truncationProvider, type CondensationProvider } from '../core/condense';
import type { Preset } from '../core/condense/presets';
import { smartProvider } from '../core/condense/providers/smart';
import { strategyProvider } from '../core/condense/providers/strategy';
import { NoSummarizerError } from '../core/condense/summary/summarizer';
import type { ConfigSchema } from '../core/condense/types';
import type { ProviderDescription } from './protocol';

/**
 * The providers of this extension, for what they say of themselves; the panel never condenses with them.
 * @param presets the user's own.
 */
export function builtInProviders(presets: () => readonly Preset[]): readonly CondensationProvider[] {
  const steps = [
    losslessProvider,
    truncationProvider,
    nativeProvider({ select: () => Promise.reject(new NoSummarizerError()) }),
    smartProvider({ presets }),
  ];
  return [...steps, strategyProvider({ providers: steps, presets })];
}

/** The providers as the panel shows them: a form is made from each one's schema. */
export const describeProviders = (
  providers: readonly CondensationProvider[],
  settings: Readonly<Record<string, ConfigSchema>>,
): ProviderDescription[] =>
  providers.map((provider) => ({
    id: provider.id,
    name: provider.name,
    description: provider.description,
    schema: provider.getConfigSchema(),
    ...(Object.hasOwn(settings, provider.id) && { setting: provider.id }),
  }));
