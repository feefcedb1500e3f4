import { useRef, useState, type ReactNode } from 'react';
import { getErrorMessage } from '../../../../src/core/errors';
import type { ComparedConfiguration, PreviewedConversationName } from '../../../../src/panel/protocol';
import { ProblemList } from '../../components/Problems';
import { t } from '../../l10n';
import { usePanel } from '../../state/panel';
import { Button, Dropdown, ProgressRing } from '../../ui';
import { ComparedConfigurationsTable } from './ComparedTable';
import { parseConfiguration, getConfigurationLabel, useConfigurationChoices } from './configurations';
import { usePreviewedConversation } from './usePreview';

/** A conversation with the result of each of the two configurations. */
interface ComparisonResult {
  readonly results: readonly (ComparedConfiguration | string)[];
  /** Names of the configurations when they were compared. */
  readonly names: readonly string[];
}

export function TwoConfigurationsComparison(): ReactNode {
  const { connection, view, changeView } = usePanel();
  const [previewed] = usePreviewedConversation();
  const choices = useConfigurationChoices();
  const comparedValues = view.compared;
  const [conversations, setConversations] = useState<readonly PreviewedConversationName[]>([]);
  const [comparisons, setComparisons] = useState<readonly ComparisonResult[]>([]);
  const [problems, setProblems] = useState<readonly string[]>([]);
  const [isBusy, setBusy] = useState(false);
  const runningRequest = useRef<AbortController>(undefined);
  const comparedConversations = [previewed, ...conversations];
  const chooseConfiguration = (index: 0 | 1, value: string): void => {
    changeView({ compared: index === 0 ? [value, comparedValues[1]] : [comparedValues[0], value] });
  };
  const addConversation = async (): Promise<void> => {
    setProblems([]);
    try {
      const { conversation } = await connection.sendRequest('chooseConversation', {}, { timeoutMs: Infinity });
      if (conversation) setConversations([...conversations, conversation]);
    } catch (error) {
      setProblems([getErrorMessage(error)]);
    }
  };
  const compareConfigurations = async (): Promise<void> => {
    runningRequest.current?.abort();
    const abortController = new AbortController();
    runningRequest.current = abortController;
    setBusy(true);
    setProblems([]);
    setComparisons([]);
    const configurationNames = comparedValues.map((value) => getConfigurationLabel(value, choices));
    for (const conversation of comparedConversations) {
      const results: (ComparedConfiguration | string)[] = [];
      for (const value of comparedValues) {
        const params = { conversation, configuration: parseConfiguration(value) };
        const options = { signal: abortController.signal, timeoutMs: COMPARE_TIMEOUT_MS };
        try {
          results.push(await connection.sendRequest('compare', params, options));
        } catch (error) {
          if (abortController.signal.aborted) return;
          results.push(getErrorMessage(error));
        }
      }
      setComparisons((before) => [...before, { results, names: configurationNames }]);
    }
    setBusy(false);
  };
  return (
    <div id="two-configurations" className="group-plain">
      <h4 className="group-title">{t('Compare two configurations')}</h4>
      <div className="compared">
        {([0, 1] as const).map((index) => (
          <div key={index}>
            <span className="row-name">{index === 0 ? t('First') : t('Second')}</span>
            <Dropdown
              label={index === 0 ? t('First configuration') : t('Second configuration')}
              value={comparedValues[index]}
              choices={choices}
              onChange={(next) => {
                chooseConfiguration(index, next);
              }}
            />
          </div>
        ))}
      </div>
      <p className="row-help">
        {comparedConversations.length === 1
          ? t('Compares on the previewed conversation and any that you add.')
          : t(
              'Compares on {0} conversations: the previewed one and those that you added.',
              comparedConversations.length,
            )}
      </p>
      <p className="actions">
        <Button primary disabled={isBusy} onClick={() => void compareConfigurations()}>
          {t('Compare')}
        </Button>
        <Button icon="add" onClick={() => void addConversation()}>
          {t('Add a conversation…')}
        </Button>
        {conversations.length > 0 && (
          <Button
            onClick={() => {
              setConversations([]);
            }}
          >
            {t('Only the previewed conversation')}
          </Button>
        )}
      </p>
      {isBusy && <ProgressRing label={t('Comparing…')} />}
      <ProblemList problems={problems} />
      {comparisons.map(({ results, names }, index) => (
        <ComparedConfigurationsTable key={index} results={results} names={names} />
      ))}
    </div>
  );
}

/** Milliseconds. A comparison condenses a long conversation eight times. */
const COMPARE_TIMEOUT_MS = 120_000;
