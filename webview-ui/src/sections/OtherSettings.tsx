import type { ReactNode } from 'react';
import { OwnProblems } from '../components/OwnProblems';
import { SchemaField } from '../components/SchemaField';
import type { Schema } from '../components/schema';
import { Section } from '../components/Section';
import { t } from '../l10n';
import { usePanel, type Panel } from '../state/panel';

/** Settings that have a place of their own on the page. */
const ELSEWHERE = new Set([
  'provider',
  'automatic',
  'threshold',
  'maxCostPerCondensation',
  'profiles',
  'condensingProfile',
  'condensingPrompt',
  'presets',
  'providers',
]);

const isOfAgent = (name: string): boolean => name.startsWith('agent.') || name === 'notifications';

/** Every other setting of package.json: nothing can be set there and not here. */
function restOf({ welcome }: Panel): [string, Schema][] {
  const ofProviders = new Set(welcome.providers.map(({ setting }) => setting));
  return Object.entries(welcome.schemas).filter(([name]) => !ELSEWHERE.has(name) && !ofProviders.has(name));
}

/** The settings about VS Code's own agent. */
export function AgentSettings(): ReactNode {
  const settings = restOf(usePanel()).filter(([name]) => isOfAgent(name));
  if (settings.length === 0) return null;
  return (
    <Section id="agent" title={t('Agent mode')}>
      <Fields settings={settings} />
    </Section>
  );
}

export function OtherSettings(): ReactNode {
  const settings = restOf(usePanel()).filter(([name]) => !isOfAgent(name));
  return (
    <Section id="more" title={t('More settings')}>
      <OwnProblems name="providers" />
      <Fields settings={settings} />
    </Section>
  );
}

const Fields = ({ settings }: { readonly settings: readonly (readonly [string, Schema])[] }): ReactNode =>
  settings.map(([name, schema]) => <SchemaField key={name} name={name} path={[]} schema={schema} />);
