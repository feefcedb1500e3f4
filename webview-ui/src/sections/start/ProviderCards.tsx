import type { ReactNode } from 'react';
import { isRecord } from '../../../../src/core/messages/blocks';
import { ProblemList } from '../../components/Problems';
import { t } from '../../l10n';
import { getPresetName, getProviderLabel } from '../../names';
import { usePanel } from '../../state/panel';
import { matchesQuery, useSearchQuery } from '../../state/search';
import { useSetting } from '../../state/useSetting';
import { IconButton, LinkButton } from '../../ui';
import { readPassEntries, getPresetInUse } from '../smart/smartValue';
import { readStrategySteps } from '../strategy/Steps';
import { listProviderFacts, type CurrentChoice } from './providerFacts';

export function ProviderCards(): ReactNode {
  const { welcome, reveal } = usePanel();
  const setting = useSetting('provider');
  const query = useSearchQuery();
  const inUse = useCurrentChoice();
  const standard = welcome.schemas['provider']?.['default'];
  // The default provider runs with File-Aware only if the setting isn't set, so choosing that
  // provider resets the setting.
  const chooseProvider = (id: string): Promise<readonly string[]> =>
    setting.scope === 'user' && id === standard ? setting.reset() : setting.save(id);
  const title = t('Provider');
  const help = t('How a conversation is made smaller.');
  const cards = welcome.providers.map((provider) => ({
    provider,
    facts: listProviderFacts(provider.id, inUse),
  }));
  const texts = cards.flatMap(({ provider, facts }) => [
    provider.name,
    ...(facts ? [facts.description, facts.costs, facts.loses, facts.removes] : []),
  ]);
  if (query !== '' && !matchesQuery(query, [title, help, setting.id, t('method'), ...texts])) return null;
  return (
    <fieldset className={setting.isChange ? 'cards row-set' : 'cards'} data-setting={setting.id}>
      <legend className="row-name">
        {title}{' '}
        {setting.isChange && (
          <IconButton icon="reset" label={t('Reset {0}', title)} onClick={() => void setting.reset()} />
        )}
      </legend>
      <p className="row-help">{help}</p>
      <div className="card-grid">
        {cards.map(({ provider, facts }) => (
          <label key={provider.id} className="card">
            <span className="card-title">
              <input
                type="radio"
                name="provider"
                value={provider.id}
                checked={setting.value === provider.id}
                onChange={() => void chooseProvider(provider.id)}
              />
              {t(provider.name)}
              {provider.id === standard && <span className="tag">{t('recommended')}</span>}
            </span>
            <span className="card-text">{facts?.description ?? t(provider.description)}</span>
            {facts && (
              <span className="facts">
                <ProviderFact name={t('Removes')} value={facts.removes} />
                <ProviderFact name={t('Loses')} value={facts.loses} />
                <ProviderFact name={t('Costs')} value={facts.costs} />
              </span>
            )}
          </label>
        ))}
      </div>
      <p className="row-help">
        {t(
          'Measured on real conversations: Lossless on 19 projects, File-Aware on 18 with half removed, the others on one.',
        )}{' '}
        {cards.some(({ facts }) => facts?.isLossAtMost) &&
          `${t('“At most” was measured with summaries that say nothing; real ones keep more.')} `}
        <LinkButton
          onClick={() => {
            reveal('comparison');
          }}
        >
          {t('Measure my own conversations')}
        </LinkButton>
      </p>
      <ProblemList problems={[...setting.problems, ...setting.refused]} />
    </fieldset>
  );
}

function useCurrentChoice(): CurrentChoice {
  const { state, welcome } = usePanel();
  const condensingId = useSetting('condensingProfile').value;
  const whenNotEnough = useSetting('agent.whenNotEnough').value;
  const targetPercent = Number(useSetting('manual.targetPercent').effectiveValue);
  const smart = useSetting('smart');
  const preset = getPresetInUse(state, smart);
  const strategy = state.settings['strategy']?.effective;
  return {
    condensing: state.profiles.find(({ id }) => id === condensingId),
    whenNotEnough,
    targetPercent,
    preset:
      preset === undefined
        ? undefined
        : {
            id: preset,
            name: getPresetName({ state }, preset),
            callsModel: readPassEntries(state.presets.find(({ id }) => id === preset)?.config).some(
              (pass) => pass.callsModel && pass.isEnabled,
            ),
          },
    strategy: isRecord(strategy)
      ? {
          name: t(String(strategy['name'])),
          steps: readStrategySteps(strategy).map(({ provider, preset: ofStep }) =>
            typeof ofStep === 'string'
              ? getPresetName({ state }, ofStep)
              : getProviderLabel(welcome.providers, String(provider)),
          ),
        }
      : undefined,
  };
}

const ProviderFact = ({ name, value }: { readonly name: string; readonly value: string }): ReactNode => (
  <>
    <span className="fact-name">{name}</span>
    <span>{value}</span>
  </>
);
