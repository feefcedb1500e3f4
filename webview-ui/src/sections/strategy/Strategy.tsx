import { useEffect, useState, type ReactNode } from 'react';
import type { ProviderDescription } from '../../../../src/panel/protocol';
import { SchemaField, SchemaRoot } from '../../components/SchemaField';
import { Section } from '../../components/Section';
import { isRecord } from '../../../../src/core/messages/blocks';
import { t } from '../../l10n';
import { usePanel } from '../../state/panel';
import { SearchablePlace } from '../../state/search';
import { useSetting } from '../../state/useSetting';
import { Button, LinkButton } from '../../ui';
import { ProviderHelp } from '../ProviderHelp';
import { isOwnConfiguration } from '../smart/smartValue';
import { StrategySteps, readStrategySteps } from './Steps';
import { StrategyStepsEditor } from './StepsEditor';

const STRATEGY_SETTING = 'strategy';

export function StrategySection({ provider }: { readonly provider: ProviderDescription }): ReactNode {
  const { welcome, state, connection } = usePanel();
  const isActive = useSetting('provider').value === provider.id;
  const setting = useSetting(STRATEGY_SETTING);
  const effectiveStrategy = state.settings[STRATEGY_SETTING]?.effective;
  const description = isRecord(effectiveStrategy) ? effectiveStrategy['description'] : undefined;
  const isOwnStrategy = isOwnConfiguration(setting);
  const [ownStrategy, setOwnStrategy] = useState<unknown>();
  const ownText = isOwnStrategy ? JSON.stringify(setting.value) : undefined;
  useEffect(() => {
    if (ownText !== undefined) setOwnStrategy(JSON.parse(ownText));
  }, [ownText]);
  const copyStrategy = (): void => {
    void setting.save({
      id: 'own',
      name: t('My strategy'),
      steps: readStrategySteps(effectiveStrategy).map(dropDefaultFields),
    });
  };
  const searchTexts = [
    t('Strategy'),
    t('Edit a copy'),
    t('Back to my steps'),
    t('Edit in settings.json'),
    t('Add step'),
    'own edit',
  ];
  return (
    <Section id={provider.id} title={t(provider.name)} summary={isActive ? t('In use') : undefined}>
      <ProviderHelp provider={provider} />
      <SchemaField
        name={STRATEGY_SETTING}
        path={[]}
        schema={welcome.schemas[STRATEGY_SETTING] ?? {}}
        title={t('Strategy')}
        help={typeof description === 'string' ? t(description) : ''}
      />
      <SearchablePlace id={`${STRATEGY_SETTING}.steps`} searchTexts={searchTexts}>
        {isOwnStrategy ? (
          <SchemaRoot value={{ root: provider.schema, ancestors: [] }}>
            <StrategyStepsEditor schema={provider.schema} />
          </SchemaRoot>
        ) : (
          <>
            <StrategySteps strategy={effectiveStrategy} />
            <p className="row-help">{t('The steps of a built-in strategy are fixed. To change them, edit a copy.')}</p>
          </>
        )}
        <p className="actions">
          {!isOwnStrategy && <Button onClick={copyStrategy}>{t('Edit a copy')}</Button>}
          {!isOwnStrategy && ownStrategy !== undefined && (
            <Button onClick={() => void setting.save(ownStrategy)}>{t('Back to my steps')}</Button>
          )}
          {isOwnStrategy && (
            <LinkButton
              onClick={() =>
                void connection.sendRequest('openSettingsFile', { scope: setting.scope, name: STRATEGY_SETTING })
              }
            >
              {t('Edit in settings.json')}
            </LinkButton>
          )}
        </p>
      </SearchablePlace>
    </Section>
  );
}

/** Keeps only the fields that differ from the defaults. */
const dropDefaultFields = (step: Readonly<Record<string, unknown>>): object =>
  Object.fromEntries(
    Object.entries(step).filter(
      ([field, value]) =>
        value !== undefined &&
        value !== false &&
        !(field === 'after' && value === 'any') &&
        !(isRecord(value) && Object.keys(value).length === 0),
    ),
  );
