import type { ReactNode } from 'react';
import { Section } from '../../components/Section';
import { t } from '../../l10n';
import { useIsSearching } from '../../state/search';
import { JudgeSessionsForm } from './JudgeSessions';
import { TwoConfigurationsComparison } from './TwoConfigurations';

export function ComparisonSection(): ReactNode {
  const isSearching = useIsSearching();
  return (
    <Section
      id="comparison"
      title={t('Compare')}
      summary={t('Which settings lose the least')}
      keywords={[
        t('Compare on my conversations'),
        t('Compare two configurations'),
        t('Add a conversation…'),
        'judge sessions needed lines lost weights presets side by side chart',
      ]}
    >
      {!isSearching && <JudgeSessionsForm />}
      {!isSearching && <TwoConfigurationsComparison />}
    </Section>
  );
}
