import type { ReactNode } from 'react';
import { SchemaField } from '../components/SchemaField';
import { Section } from '../components/Section';
import { t } from '../l10n';
import { usePanel } from '../state/panel';

/** Settings that have a place of their own on the page. */
const ELSEWHERE = new Set([
  'provider',
  'automatic',
  'threshold',
  'maxCostPerCondensation',
  'profiles',
  'condensingProfile',
  'condensingPrompt',
]);

/** Every other setting of package.json: nothing can be set there and not here. */
export function OtherSettings(): ReactNode {
  const { welcome } = usePanel();
  const ofProviders = new Set(welcome.providers.map(({ setting }) => setting));
  const rest = Object.entries(welcome.schemas).filter(([name]) => !ELSEWHERE.has(name) && !ofProviders.has(name));
  return (
    <Section id="more" title={t('More settings')} summary={t('{0} settings', rest.length)}>
      {rest.map(([name, schema]) => (
        <SchemaField key={name} name={name} path={[]} schema={schema} />
      ))}
    </Section>
  );
}
