import type { ReactNode } from 'react';
import type { ProviderDescription } from '../../../src/panel/protocol';
import { t } from '../l10n';
import { useIsSearching } from '../state/search';
import { useSetting } from '../state/useSetting';

/** Says that the configuration has no effect while another provider is chosen. */
export function ProviderHelp({ provider }: { readonly provider: ProviderDescription }): ReactNode {
  const isActive = useSetting('provider').value === provider.id;
  if (useIsSearching()) return undefined;
  return (
    <p className="row-help">
      {t(provider.description)}
      {!isActive && ` ${t('It is used once it is chosen as the provider under Start.')}`}
    </p>
  );
}
