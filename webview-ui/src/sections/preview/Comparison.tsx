import type { ReactNode } from 'react';
import { Section } from '../../components/Section';
import { t } from '../../l10n';
import { useSearch } from '../../state/search';
import { JudgeSessions } from './JudgeSessions';
import { TwoConfigurations } from './TwoConfigurations';

export function Comparison(): ReactNode {
  const isSearching = useSearch() !== '';
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
      {!isSearching && <JudgeSessions />}
      {!isSearching && <TwoConfigurations />}
    </Section>
  );
}
