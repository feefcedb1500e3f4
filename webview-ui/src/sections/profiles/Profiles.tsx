import { useState, type ReactNode } from 'react';
import { VENDOR_IDS, getVendorEntry } from '../../../../src/core/vendors/vendors';
import { Disclosure } from '../../components/Disclosure';
import { Problems } from '../../components/Problems';
import { Section } from '../../components/Section';
import { t } from '../../l10n';
import { usePanel } from '../../state/panel';
import { useSearch } from '../../state/search';
import { Button } from '../../ui';
import { NewProfile } from './NewProfile';
import { profileEntries } from '../../state/profileEntries';
import { ProfileComparison } from './ProfileComparison';
import { ProfileItem } from './ProfileItem';

/** Whether the chosen profile's model is called: only some ways to condense do. */
function useOf(provider: unknown, profile: string): string {
  switch (provider) {
    case 'native':
      return t('{0} writes summaries', profile);
    case 'lossless':
      return t('{0} is ready; Lossless calls no model', profile);
    case 'truncation':
      return t('{0} is ready; Truncation calls no model', profile);
    default:
      return t('{0} writes summaries when one is requested', profile);
  }
}

/** The models that may be called. */
export function Profiles(): ReactNode {
  const { state, welcome } = usePanel();
  const isSearching = useSearch() !== '';
  const [isAdding, setAdding] = useState(false);
  const entries = profileEntries(state);
  const condensing = state.settings['condensingProfile']?.value;
  const chosen = entries.find(({ id }) => id === condensing && id !== '');
  const provider = state.settings['provider']?.value ?? welcome.schemas['provider']?.['default'];
  const summary = chosen
    ? useOf(provider, chosen.name)
    : entries.length === 0
      ? t('No model is called')
      : entries.length === 1
        ? t('1 model, not in use')
        : t('{0} models, none in use', entries.length);
  return (
    <Section
      id="profiles"
      title={t('Models for summaries')}
      summary={summary}
      keywords={[
        t('Add model'),
        'API key secret token model vendor condensing',
        ...VENDOR_IDS.flatMap((vendor) => [
          getVendorEntry(vendor).label,
          ...(getVendorEntry(vendor).alsoFor ?? []).map(({ label }) => label),
        ]),
      ]}
    >
      {!isSearching && state.isRemote && (
        <p className="row-help">
          {t(
            'This window runs on a remote machine. VS Code keeps profiles on each machine: those in your local settings file don’t apply here.',
          )}
        </p>
      )}
      {entries.length > 0 && (
        <ul className="items">
          {entries.map((entry) => (
            <ProfileItem key={`${entry.index} ${entry.id}`} entry={entry} isCondensing={entry === chosen} />
          ))}
        </ul>
      )}
      {entries.length > 0 && (
        <Disclosure title={t('Cost per conversation')} words={['price profile comparison']}>
          <ProfileComparison />
        </Disclosure>
      )}
      {isAdding ? (
        <NewProfile
          taken={entries.map(({ id }) => id)}
          isFirst={entries.length === 0}
          onDone={() => {
            setAdding(false);
          }}
        />
      ) : (
        !isSearching && (
          <Button
            icon="add"
            onClick={() => {
              setAdding(true);
            }}
          >
            {t('Add model')}
          </Button>
        )
      )}
      <Problems problems={condensingProblem(condensing, chosen !== undefined)} />
    </Section>
  );
}

const condensingProblem = (id: unknown, isKnown: boolean): string[] =>
  typeof id !== 'string' || id === '' || isKnown
    ? []
    : [t('The condensing profile "{0}" does not exist: no model is called.', id)];
