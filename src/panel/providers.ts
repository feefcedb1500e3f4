import { losslessProvider, nativeProvider, truncationProvider, type CondensationProvider } from '../core/condense';
import { smartProvider } from '../core/condense/providers/smart';
import { NoSummarizerError } from '../core/condense/summary/selectSummarizer';
import type { ConfigSchema } from '../core/condense/types';
import type { ProviderDescription } from './protocol';

/** The providers of this extension, for what they say of themselves; the panel never condenses with them. */
export const BUILT_IN: readonly CondensationProvider[] = [
  losslessProvider,
  truncationProvider,
  nativeProvider({ select: () => Promise.reject(new NoSummarizerError()) }),
  smartProvider(),
];

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
