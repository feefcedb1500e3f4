import type { ReactNode } from 'react';
import { Problems } from '../../components/Problems';
import { t } from '../../l10n';
import { usePanel } from '../../state/panel';
import { matches, useSearch } from '../../state/search';
import { useSetting } from '../../state/useSetting';
import { factsOf } from './providerFacts';

/** The choice of a provider, with what each does, costs and loses. */
export function ProviderCards(): ReactNode {
  const { welcome, state } = usePanel();
  const setting = useSetting('provider');
  const query = useSearch();
  const condensing = useSetting('condensingProfile').value;
  const whenNotEnough = useSetting('agent.whenNotEnough').value;
  const profile = state.profiles.find(({ id }) => id === condensing);
  // The default is chosen by setting nothing, as in VS Code's settings editor: what is set runs alone.
  const choose = (id: string): Promise<readonly string[]> =>
    setting.scope === 'user' && id === welcome.schemas['provider']?.['default'] ? setting.reset() : setting.save(id);
  const title = t('Provider');
  const cards = welcome.providers.map((provider) => ({
    provider,
    facts: factsOf(provider.id, profile, whenNotEnough),
  }));
  const texts = cards.flatMap(({ provider, facts }) => [
    provider.name,
    ...(facts ? [facts.does, facts.costs, facts.loses, facts.saves] : []),
  ]);
  if (query !== '' && !matches(query, [title, setting.id, ...texts])) return null;
  return (
    <fieldset className="cards" data-setting={setting.id}>
      <legend className="row-name">{title}</legend>
      <div className="card-grid">
        {cards.map(({ provider, facts }) => (
          <label key={provider.id} className="card">
            <span className="card-title">
              <input
                type="radio"
                name="provider"
                value={provider.id}
                checked={setting.value === provider.id}
                onChange={() => void choose(provider.id)}
              />
              {t(provider.name)}
            </span>
            <span className="card-text">{facts?.does ?? t(provider.description)}</span>
            {facts && (
              <span className="facts">
                <Fact name={t('Costs')} value={facts.costs} />
                <Fact name={t('Loses')} value={facts.loses} />
                <Fact name={t('Saves')} value={facts.saves} />
              </span>
            )}
          </label>
        ))}
      </div>
      <Problems problems={[...setting.problems, ...setting.refused]} />
    </fieldset>
  );
}

const Fact = ({ name, value }: { readonly name: string; readonly value: string }): ReactNode => (
  <>
    <span className="fact-name">{name}</span>
    <span>{value}</span>
  </>
);
