import type { ReactNode } from 'react';
import type { ProviderDescription } from '../../../../src/panel/protocol';
import { SchemaField } from '../../components/SchemaField';
import { Section } from '../../components/Section';
import { isRecord } from '../../../../src/core/messages/blocks';
import { t } from '../../l10n';
import { usePanel } from '../../state/panel';
import { Findable } from '../../state/search';
import { useSetting } from '../../state/useSetting';
import { LinkButton } from '../../ui';
import { ProviderHelp } from '../ProviderHelp';
import { Steps } from './Steps';

const NAME = 'strategy';

/** One of the strategies is chosen, or one's own written in settings.json; its steps are shown. */
export function Strategy({ provider }: { readonly provider: ProviderDescription }): ReactNode {
  const { welcome, state, connection } = usePanel();
  const isActive = useSetting('provider').value === provider.id;
  const setting = useSetting(NAME);
  const effective = state.settings[NAME]?.effective;
  const description = isRecord(effective) ? effective['description'] : undefined;
  return (
    <Section id={provider.id} title={t(provider.name)} summary={isActive ? t('In use') : undefined}>
      <ProviderHelp provider={provider} />
      <SchemaField
        name={NAME}
        path={[]}
        schema={welcome.schemas[NAME] ?? {}}
        title={t('Strategy')}
        help={typeof description === 'string' ? t(description) : ''}
      />
      <Findable id={`${NAME}.steps`} words={[t('Strategy'), t('Write your own in settings.json'), 'steps']}>
        <Steps strategy={effective} />
        <p>
          <LinkButton onClick={() => void connection.request('openSettingsFile', { scope: setting.scope, name: NAME })}>
            {t('Write your own in settings.json')}
          </LinkButton>
        </p>
      </Findable>
    </Section>
  );
}
