import type { ReactNode } from 'react';
import type { ProviderDescription } from '../../../src/panel/protocol';
import { fieldsOf } from '../components/schema';
import { SchemaForm } from '../components/SchemaForm';
import { Section } from '../components/Section';
import { t } from '../l10n';
import { useSetting } from '../state/useSetting';
import { useSearch } from '../state/search';
import { PromptEditor } from './PromptEditor';
import { usePanel } from '../state/panel';

/** A provider's options, in a form made from its schema. */
export function ProviderSection({ provider }: { readonly provider: ProviderDescription }): ReactNode {
  const { welcome } = usePanel();
  const isSearching = useSearch() !== '';
  const isActive = useSetting('provider').value === provider.id;
  const schema = provider.setting === undefined ? provider.schema : (welcome.schemas[provider.setting] ?? {});
  return (
    <Section id={provider.id} title={t(provider.name)} summary={isActive ? t('Condenses now') : undefined}>
      {!isSearching && <p className="row-help">{t(provider.description)}</p>}
      {provider.id === 'native' && <PromptEditor />}
      {provider.setting !== undefined && <SchemaForm name={provider.setting} path={[]} fields={fieldsOf(schema)} />}
    </Section>
  );
}
