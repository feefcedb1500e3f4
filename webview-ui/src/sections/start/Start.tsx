import type { ReactNode } from 'react';
import { Disclosure } from '../../components/Disclosure';
import { SchemaField } from '../../components/SchemaField';
import { Section } from '../../components/Section';
import { t } from '../../l10n';
import { usePanel } from '../../state/panel';
import { SearchablePlace } from '../../state/search';
import { Button } from '../../ui';
import { SettingsOfPlace } from '../OtherSettings';
import { HelpMeChooseSection } from './HelpMeChoose';
import { ProviderCards } from './ProviderCards';
import { ThresholdField } from './Threshold';

export function StartSection(): ReactNode {
  const { welcome } = usePanel();
  const { automatic, maxCostPerCondensation } = welcome.schemas;
  return (
    <Section id="start" title={t('Start')} isWholeGroup>
      <ProviderCards />
      <HelpMeChooseSection />
      {automatic && <SchemaField name="automatic" path={[]} schema={automatic} />}
      <ThresholdField />
      <Disclosure title={t('More about when and how much')}>
        <SettingsOfPlace place="when" />
      </Disclosure>
      {maxCostPerCondensation && (
        <SchemaField name="maxCostPerCondensation" path={[]} schema={maxCostPerCondensation} />
      )}
      <Disclosure title={t('More limits')}>
        <SettingsOfPlace place="limits" />
      </Disclosure>
      <NextSteps />
    </Section>
  );
}

function NextSteps(): ReactNode {
  const { connection, reveal } = usePanel();
  const createCommandHandler = (command: 'condenseNow' | 'condenseSample') => () =>
    void connection.sendRequest('runCommand', { command }).catch(() => undefined);
  const createRevealHandler = (place: string) => () => {
    reveal(place);
  };
  const actions = [
    { label: t('Condense a conversation…'), words: t('Condense now'), act: createCommandHandler('condenseNow') },
    { label: t('Preview first'), words: t('Try it'), act: createRevealHandler('preview') },
    { label: t('See what my sessions cost'), words: t('Session costs'), act: createRevealHandler('account') },
    { label: t('Try it on the sample'), words: t('sample'), act: createCommandHandler('condenseSample') },
  ];
  return (
    <SearchablePlace id="start.actions" searchTexts={actions.flatMap(({ label, words }) => [label, words])}>
      <p className="actions">
        {actions.map(({ label, act }) => (
          <Button key={label} onClick={act}>
            {label}
          </Button>
        ))}
      </p>
    </SearchablePlace>
  );
}
