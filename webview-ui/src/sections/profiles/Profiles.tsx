import { use, useState, type ReactNode } from 'react';
import { isBuiltInProvider, PROVIDER_CALLS_MODEL, PROVIDER_NAMES } from '../../../../src/core/condense/types';
import { getErrorMessage } from '../../../../src/core/errors';
import { Disclosure } from '../../components/Disclosure';
import { ProblemList } from '../../components/Problems';
import { Section } from '../../components/Section';
import { t } from '../../l10n';
import { usePanel } from '../../state/panel';
import { matchesQuery, SearchablePlace, ShowSectionContext, useIsSearching, useSearchQuery } from '../../state/search';
import { Button } from '../../ui';
import { NewProfileForm } from './NewProfile';
import { listProfileEntries, type ProfileEntry } from '../../state/profileEntries';
import { ProfileComparison } from './ProfileComparison';
import { ProfileItem } from './ProfileItem';
import { listModelSources } from './sources';

/** Not every provider calls the chosen model. */
function describeProfileUse(provider: unknown, profile: string): string {
  if (
    typeof provider !== 'string' ||
    !isBuiltInProvider(provider) ||
    PROVIDER_CALLS_MODEL[provider] === 'if-configured'
  )
    return t('{0} writes summaries when one is requested', profile);
  return PROVIDER_CALLS_MODEL[provider]
    ? t('{0} writes summaries', profile)
    : t('{0} is ready; {1} calls no model', profile, PROVIDER_NAMES[provider]);
}

export function ProfilesSection(): ReactNode {
  const { state, welcome, view, changeView } = usePanel();
  const isSearching = useIsSearching();
  const showSection = use(ShowSectionContext);
  // The form's initial source; empty: the first one; undefined: no form is open.
  const [adding, setAdding] = useState(view.newProfile?.source);
  const setForm = (source: string | undefined): void => {
    changeView({ newProfile: undefined });
    setAdding(source);
  };
  const entries = listProfileEntries(state);
  const condensingId = state.settings['condensingProfile']?.value;
  const profileInUse = entries.find(({ id }) => id === condensingId && id !== '');
  const provider = state.settings['provider']?.value ?? welcome.schemas['provider']?.['default'];
  const summary = profileInUse
    ? describeProfileUse(provider, profileInUse.name)
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
      keywords={['profiles models summaries condensing']}
    >
      {!isSearching && state.isRemote && (
        <p className="row-help">
          {t(
            'This window runs on a remote machine. VS Code keeps these models on each machine (the setting “profiles”): those in your local settings file don’t apply here.',
          )}
        </p>
      )}
      {!isSearching && entries.length === 0 && (
        <p className="row-help">
          {t(
            'They write summaries for Summary and for presets that use a model. VS Code’s own models, such as Copilot’s, can do it too, without a key.',
          )}
        </p>
      )}
      {entries.length > 0 && (
        <ul className="items">
          {entries.map((entry) => (
            <ProfileItem key={`${entry.index} ${entry.id}`} entry={entry} isCondensing={entry === profileInUse} />
          ))}
        </ul>
      )}
      {entries.length > 0 && (
        <Disclosure title={t('Cost per conversation')} searchTexts={['price model comparison']}>
          <ProfileComparison />
        </Disclosure>
      )}
      <ProfilesList
        entries={entries}
        onAdd={(label) => {
          setForm(label);
          showSection('profiles');
        }}
      />
      {adding !== undefined ? (
        <NewProfileForm
          key={adding}
          source={adding}
          taken={entries.map(({ id }) => id)}
          isFirst={entries.length === 0}
          onDone={() => {
            setForm(undefined);
          }}
        />
      ) : (
        !isSearching && (
          <Button
            icon="add"
            onClick={() => {
              setForm('');
            }}
          >
            {t('Add model')}
          </Button>
        )
      )}
      <ProblemList problems={checkCondensingProfile(condensingId, profileInUse !== undefined)} />
    </Section>
  );
}

interface ProfilesListProps {
  readonly entries: readonly ProfileEntry[];
  /** @param source initial source of the form; empty: the first one */
  readonly onAdd: (source: string) => void;
}

/** Shown only during a search: buttons that add a vendor's model, and help on setting keys. */
function ProfilesList({ entries, onAdd }: ProfilesListProps): ReactNode {
  const { connection } = usePanel();
  const query = useSearchQuery();
  const [problem, setProblem] = useState('');
  if (query === '') return null;
  const renderAddButton = (label: string, text: string): ReactNode => (
    <Button
      key={label}
      icon="add"
      onClick={() => {
        onAdd(label);
      }}
    >
      {text}
    </Button>
  );
  const addWords = [t('Add model'), t('Vendor'), 'vendor profile local server'];
  const isAboutAdding = matchesQuery(query, addWords);
  const sources = isAboutAdding
    ? []
    : listModelSources().filter(({ label }) => matchesQuery(query, [label, ...addWords]));
  return (
    <>
      {(isAboutAdding || sources.length > 0) && (
        <p className="actions" data-place="profiles.add">
          {isAboutAdding && renderAddButton('', t('Add model'))}
          {sources.map(({ label }) => renderAddButton(label, t('Add model: {0}', label)))}
        </p>
      )}
      <SearchablePlace
        id="profiles.keys"
        searchTexts={[t('API key'), t('Set key…'), t('Change key…'), 'secret token password']}
      >
        <div className="row">
          <span className="row-name">{t('API key')}</span>
          <p className="row-help">
            {t(
              'Each model has its own key, which VS Code keeps in its secret store. It is set when you add the model, and changed with the model’s own button.',
            )}
          </p>
          <p className="actions row-control">
            {entries
              .filter(({ facts }) => facts !== undefined && facts.key !== 'not-needed')
              .map(({ id, name, facts }) => (
                <Button
                  key={id}
                  icon="key"
                  onClick={() => {
                    setProblem('');
                    connection.sendRequest('setKey', { id }, { timeoutMs: Infinity }).catch((error: unknown) => {
                      setProblem(getErrorMessage(error));
                    });
                  }}
                >
                  {facts?.key === 'set' ? t('Change key of {0}…', name) : t('Set key of {0}…', name)}
                </Button>
              ))}
            {!isAboutAdding && sources.length === 0 && renderAddButton('', t('Add model'))}
          </p>
          <ProblemList problems={problem === '' ? [] : [problem]} />
        </div>
      </SearchablePlace>
    </>
  );
}

const checkCondensingProfile = (id: unknown, isKnown: boolean): string[] =>
  typeof id !== 'string' || id === '' || isKnown
    ? []
    : [t('The model “{0}”, chosen for summaries, does not exist: no model is called.', id)];
