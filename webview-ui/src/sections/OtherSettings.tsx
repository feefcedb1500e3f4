import type { ReactNode } from 'react';
import { ProblemsOfSetting } from '../components/OwnProblems';
import { SchemaField } from '../components/SchemaField';
import { Section } from '../components/Section';
import { listOtherSettings, SETTINGS_BY_PLACE, type SettingsPlaceId } from '../groups';
import { t } from '../l10n';
import { usePanel } from '../state/panel';

const GROUP_TITLES = { arrival: () => t('New tool results'), stored: () => t('Stored conversations') };

export const SettingsOfPlace = ({ place }: { readonly place: SettingsPlaceId }): ReactNode => (
  <SettingFields names={SETTINGS_BY_PLACE[place]} />
);

/** A section that contains only settings. */
export const SettingsSection = ({ id }: { readonly id: keyof typeof GROUP_TITLES }): ReactNode => (
  <Section id={id} title={GROUP_TITLES[id]()}>
    <SettingsOfPlace place={id} />
  </Section>
);

/** Shows the settings that have no other place, because the panel must show every setting. */
export function OtherSettings(): ReactNode {
  const { schemas, providers } = usePanel().welcome;
  const names = listOtherSettings(
    Object.keys(schemas),
    providers.map(({ setting }) => setting),
  );
  return (
    <Section id="more" title={t('Checks and notifications')}>
      <ProblemsOfSetting name="providers" />
      <SettingFields names={names} />
    </Section>
  );
}

function SettingFields({ names }: { readonly names: readonly string[] }): ReactNode {
  const { schemas } = usePanel().welcome;
  return names.map((name) => {
    const schema = schemas[name];
    return schema && <SchemaField key={name} name={name} path={[]} schema={schema} />;
  });
}
