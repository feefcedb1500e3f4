import type { ProviderDescription } from '../../../../src/panel/protocol';
import { t } from '../../l10n';

/** A provider's name; its id if it is no longer registered. */
export function providerName(providers: readonly ProviderDescription[], id: string): string {
  const name = providers.find((provider) => provider.id === id)?.name;
  return name === undefined ? id : t(name);
}
