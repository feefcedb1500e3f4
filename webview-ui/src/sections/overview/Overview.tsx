import type { ReactNode } from 'react';
import { SchemaField } from '../../components/SchemaField';
import { Section } from '../../components/Section';
import { t } from '../../l10n';
import { usePanel } from '../../state/panel';
import { Findable } from '../../state/search';
import { Button } from '../../ui';
import { HelpMeChoose } from './HelpMeChoose';
import { JudgeSessions } from './JudgeSessions';
import { ProviderCards } from './ProviderCards';
import { Threshold } from './Threshold';

/** The section for beginners, with what they need and nothing more. */
export function Overview(): ReactNode {
  const { welcome, connection } = usePanel();
  const { automatic, maxCostPerCondensation } = welcome.schemas;
  return (
    <Section id="overview" title={t('Overview')}>
      <ProviderCards />
      <HelpMeChoose />
      <JudgeSessions />
      {automatic && (
        <SchemaField
          name="automatic"
          path={[]}
          schema={automatic}
          title={t('Condense automatically during agent tasks')}
        />
      )}
      <Threshold />
      {maxCostPerCondensation && (
        <SchemaField name="maxCostPerCondensation" path={[]} schema={maxCostPerCondensation} title={t('Cost limit')} />
      )}
      <Findable
        id="overview.actions"
        words={[t('Condense a conversation…'), t('Try it on the sample'), t('Condense now')]}
      >
        <p className="actions">
          <Button onClick={() => void connection.request('runCommand', { command: 'condenseNow' })}>
            {t('Condense a conversation…')}
          </Button>
          <Button onClick={() => void connection.request('runCommand', { command: 'condenseSample' })}>
            {t('Try it on the sample')}
          </Button>
        </p>
      </Findable>
    </Section>
  );
}
