import type { ReactNode } from 'react';
import { Disclosure } from '../../components/Disclosure';
import { SchemaField } from '../../components/SchemaField';
import { Section } from '../../components/Section';
import { t } from '../../l10n';
import { usePanel } from '../../state/panel';
import { Findable } from '../../state/search';
import { Button } from '../../ui';
import { SettingsIn } from '../OtherSettings';
import { HelpMeChoose } from './HelpMeChoose';
import { ProviderCards } from './ProviderCards';
import { Threshold } from './Threshold';

export function Start(): ReactNode {
  const { welcome } = usePanel();
  const { automatic, maxCostPerCondensation } = welcome.schemas;
  return (
    <Section id="start" title={t('Start')} isWholeGroup>
      <ProviderCards />
      <HelpMeChoose />
      {automatic && <SchemaField name="automatic" path={[]} schema={automatic} />}
      <Threshold />
      <Disclosure title={t('More about when and how much')}>
        <SettingsIn place="when" />
      </Disclosure>
      {maxCostPerCondensation && (
        <SchemaField name="maxCostPerCondensation" path={[]} schema={maxCostPerCondensation} />
      )}
      <Disclosure title={t('More limits')}>
        <SettingsIn place="limits" />
      </Disclosure>
      <Next />
    </Section>
  );
}

function Next(): ReactNode {
  const { connection, reveal } = usePanel();
  const run = (command: 'condenseNow' | 'condenseSample') => () =>
    void connection.sendRequest('runCommand', { command }).catch(() => undefined);
  const go = (place: string) => () => {
    reveal(place);
  };
  const actions = [
    { label: t('Condense a conversation…'), words: t('Condense now'), act: run('condenseNow') },
    { label: t('Preview first'), words: t('Try it'), act: go('preview') },
    { label: t('See what my sessions cost'), words: t('Session costs'), act: go('account') },
    { label: t('Try it on the sample'), words: t('sample'), act: run('condenseSample') },
  ];
  return (
    <Findable id="start.actions" words={actions.flatMap(({ label, words }) => [label, words])}>
      <p className="actions">
        {actions.map(({ label, act }) => (
          <Button key={label} onClick={act}>
            {label}
          </Button>
        ))}
      </p>
    </Findable>
  );
}
