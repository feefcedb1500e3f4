import type { ReactNode } from 'react';
import type { ProviderDescription } from '../../../src/panel/protocol';
import { ProblemsOfSetting } from '../components/OwnProblems';
import { SchemaForm, SchemaRoot } from '../components/SchemaField';
import { getSchemaFields } from '../components/schema';
import { Section } from '../components/Section';
import { t } from '../l10n';
import { useSetting } from '../state/useSetting';
import { useIsSearching } from '../state/search';
import { PromptEditor } from './PromptEditor';
import { usePanel } from '../state/panel';

/** The form is generated from the provider's schema. */
export function ProviderSection({ provider }: { readonly provider: ProviderDescription }): ReactNode {
  const { welcome } = usePanel();
  const isSearching = useIsSearching();
  const isActive = useSetting('provider').value === provider.id;
  // Other extensions' providers share one setting, with their configurations by ID.
  const settingName = provider.setting;
  const schema = settingName === undefined ? provider.schema : (welcome.schemas[settingName] ?? {});
  const place = { name: settingName ?? 'providers', path: settingName === undefined ? [provider.id] : [] };
  return (
    <Section id={provider.id} title={t(provider.name)} summary={isActive ? t('In use') : undefined}>
      {!isSearching && <p className="row-help">{t(provider.description)}</p>}
      {provider.id === 'native' && <PromptEditor />}
      <SchemaRoot value={{ root: schema, ancestors: [] }}>
        <ProblemsOfSetting {...place} fields={getSchemaFields(schema)} />
        <SchemaForm {...place} fields={getSchemaFields(schema)} />
      </SchemaRoot>
    </Section>
  );
}
