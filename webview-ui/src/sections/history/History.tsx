import { useEffect, useRef, useState, type ReactNode } from 'react';
import { getErrorMessage } from '../../../../src/core/errors';
import type { History as Recorded } from '../../../../src/panel/protocol';
import { Disclosure } from '../../components/Disclosure';
import { ProblemList } from '../../components/Problems';
import { Section } from '../../components/Section';
import { t } from '../../l10n';
import { usePanel } from '../../state/panel';
import { useIsSearching } from '../../state/search';
import { useRequestAnswer } from '../../state/useAnswer';
import { Button, ProgressRing } from '../../ui';
import { CondensationsList } from './Condensations';
import { RunsWithoutEffect } from './EmptyRuns';
import { HistoryFigures } from './Figures';
import { SavingsPerModelChart } from './Groups';
import { RecommendationsList } from './Recommendations';
import { SavingsChart } from './SavingsChart';

/** All history stays on this machine. */
export function HistorySection(): ReactNode {
  return (
    <Section
      id="history"
      title={t('History and savings')}
      summary={t('What was condensed, with Undo')}
      keywords={[
        t('Undo'),
        t('Redo'),
        t('Export as JSON…'),
        t('Export as CSV…'),
        t('Clear the metrics…'),
        t('Clear the history…'),
        t('Refresh'),
        'ledger saved costs condensations recommendations statistics delete',
      ]}
    >
      <HistoryContent />
    </Section>
  );
}

function HistoryContent(): ReactNode {
  const isSearching = useIsSearching();
  const { state } = usePanel();
  const { answer, reload } = useRequestAnswer('history', {});
  const seenRevision = useRef(state.historyRevision);
  useEffect(() => {
    if (seenRevision.current === state.historyRevision) return;
    seenRevision.current = state.historyRevision;
    reload();
  }, [state.historyRevision, reload]);
  if (isSearching) return null;
  if (answer.kind === 'waiting') return <ProgressRing label={t('Reading the history…')} />;
  return (
    <>
      {answer.kind === 'failed' ? (
        <ProblemList problems={[answer.message]} />
      ) : (
        <HistoryReport history={answer.result} reload={reload} />
      )}
      <HistoryActions
        reload={reload}
        hasCondensations={answer.kind === 'failed' || answer.result.total > 0}
        hasMetrics={answer.kind === 'failed' || !isHistoryEmpty(answer.result)}
      />
    </>
  );
}

interface ShownHistoryProps {
  readonly history: Recorded;
  readonly reload: () => void;
}

const isHistoryEmpty = ({ total, emptyRuns, groups }: Recorded): boolean =>
  total === 0 && emptyRuns.length === 0 && groups.length === 0;

function HistoryReport({ history, reload }: ShownHistoryProps): ReactNode {
  const { entries, total, emptyRuns, groups } = history;
  if (isHistoryEmpty(history)) {
    return <p className="row-help">{t('Nothing has been condensed yet. Condensations will be listed here.')}</p>;
  }
  return (
    <>
      <HistoryFigures history={history} />
      <RecommendationsList recommendations={history.recommendations} reload={reload} />
      <SavingsChart entries={entries} />
      {groups.length > 0 && <SavingsPerModelChart groups={groups} />}
      <CondensationsList entries={entries} total={total} reload={reload} />
      {emptyRuns.length > 0 && (
        <Disclosure title={t('Runs that condensed nothing: {0}', emptyRuns.length)}>
          <RunsWithoutEffect runs={emptyRuns} />
        </Disclosure>
      )}
    </>
  );
}

interface HistoryActionsProps {
  readonly reload: () => void;
  readonly hasCondensations: boolean;
  readonly hasMetrics: boolean;
}

function HistoryActions({ reload, hasCondensations, hasMetrics }: HistoryActionsProps): ReactNode {
  const { connection } = usePanel();
  const [problems, setProblems] = useState<readonly string[]>([]);
  const runAction = async (action: () => Promise<unknown>): Promise<void> => {
    setProblems([]);
    try {
      await action();
      reload();
    } catch (error) {
      setProblems([getErrorMessage(error)]);
    }
  };
  // No timeout, because the user answers a dialog.
  const patient = { timeoutMs: Infinity };
  const exportHistory = (format: 'json' | 'csv') =>
    runAction(() => connection.sendRequest('exportHistory', { format }, patient));
  const clearHistory = (part: 'metrics' | 'ledgers') =>
    runAction(() => connection.sendRequest('clearHistory', { part }, patient));
  return (
    <>
      <p className="actions">
        <Button onClick={reload}>{t('Refresh')}</Button>
        {hasCondensations && (
          <>
            <Button onClick={() => void exportHistory('json')}>{t('Export as JSON…')}</Button>
            <Button onClick={() => void exportHistory('csv')}>{t('Export as CSV…')}</Button>
          </>
        )}
        {hasMetrics && (
          <Button icon="trash" onClick={() => void clearHistory('metrics')}>
            {t('Clear the metrics…')}
          </Button>
        )}
        {hasCondensations && (
          <Button icon="trash" onClick={() => void clearHistory('ledgers')}>
            {t('Clear the history…')}
          </Button>
        )}
      </p>
      <ProblemList problems={problems} />
    </>
  );
}
