import type { ReactNode } from 'react';
import { OwnProblems } from '../components/OwnProblems';
import { SchemaField } from '../components/SchemaField';
import { Section } from '../components/Section';
import { listOtherSettings, SETTINGS_BY_PLACE, type SettingsPlace } from '../groups';
import { t } from '../l10n';
import { usePanel } from '../state/panel';

const GROUP_TITLES = { arrival: () => t('New tool results'), stored: () => t('Stored conversations') };

export const SettingsIn = ({ place }: { readonly place: SettingsPlace }): ReactNode => (
  <Fields names={SETTINGS_BY_PLACE[place]} />
);

/** A section that contains only settings. */
export const SettingsSection = ({ id }: { readonly id: keyof typeof GROUP_TITLES }): ReactNode => (
  <Section id={id} title={GROUP_TITLES[id]()}>
    <SettingsIn place={id} />
  </Section>
);

/** The panel must show every setting. */
export function OtherSettings(): ReactNode {
  const { schemas, providers } = usePanel().welcome;
  const names = listOtherSettings(
    Object.keys(schemas),
    providers.map(({ setting }) => setting),
  );
  return (
    <Section id="more" title={t('Checks and notifications')}>
      <OwnProblems name="providers" />
      <Fields names={names} />
    </Section>
  );
}

function Fields({ names }: { readonly names: readonly string[] }): ReactNode {
  const { schemas } = usePanel().welcome;
  return names.map((name) => {
    const schema = schemas[name];
    return schema && <SchemaField key={name} name={name} path={[]} schema={schema} />;
  });
}
