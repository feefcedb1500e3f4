import type { ProviderDescription } from '../../../../src/panel/protocol';
import { t } from '../../l10n';

/** What a provider is called; its id where it is no longer registered. */
export function providerName(providers: readonly ProviderDescription[], id: string): string {
  const name = providers.find((provider) => provider.id === id)?.name;
  return name === undefined ? id : t(name);
}
