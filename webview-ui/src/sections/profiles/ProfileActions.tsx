import { useState, type ReactNode } from 'react';
import { getErrorMessage } from '../../../../src/core/errors';
import type { ProfileState } from '../../../../src/panel/protocol';
import { ProblemList } from '../../components/Problems';
import { t } from '../../l10n';
import { usePanel } from '../../state/panel';
import { useSetting } from '../../state/useSetting';
import { Button, Icon, ProgressRing } from '../../ui';
import type { ProfileEntry } from '../../state/profileEntries';

/** Milliseconds for a model to answer a test. */
export const TEST_TIMEOUT_MS = 120_000;

interface ProfileActionsProps {
  readonly entry: ProfileEntry;
  readonly facts: ProfileState;
  readonly isCondensing: boolean;
}

export function ProfileActions({ entry, facts, isCondensing }: ProfileActionsProps): ReactNode {
  const { connection } = usePanel();
  const condensingProfile = useSetting('condensingProfile');
  const [test, setTest] = useState<{ readonly ok: boolean; readonly message: string } | 'running'>();
  const [problems, setProblems] = useState<readonly string[]>([]);
  const id = entry.id;
  const showFailureOf = (action: Promise<unknown>): void => {
    setProblems([]);
    action.catch((error: unknown) => {
      setTest(undefined);
      setProblems([getErrorMessage(error)]);
    });
  };
  const testProfile = (): void => {
    setTest('running');
    showFailureOf(connection.sendRequest('testProfile', { id }, { timeoutMs: TEST_TIMEOUT_MS }).then(setTest));
  };
  return (
    <>
      <p className="actions">
        {isCondensing ? (
          <Button onClick={() => void condensingProfile.save('')}>{t('Stop using for summaries')}</Button>
        ) : (
          <Button onClick={() => void condensingProfile.save(id)}>{t('Use for summaries')}</Button>
        )}
        <Button disabled={test === 'running'} onClick={testProfile}>
          {t('Test')}
        </Button>
        {entry.vendor !== 'vscode' && (
          <Button
            icon="key"
            onClick={() => {
              showFailureOf(connection.sendRequest('setKey', { id }, { timeoutMs: Infinity }));
            }}
          >
            {facts.key === 'set' ? t('Change key…') : t('Set key…')}
          </Button>
        )}
        <Button
          icon="trash"
          onClick={() => {
            showFailureOf(connection.sendRequest('removeProfile', { id }, { timeoutMs: Infinity }));
          }}
        >
          {t('Remove…')}
        </Button>
        {test === 'running' && <ProgressRing label={t('Calling the model…')} />}
        {typeof test === 'object' && test.ok && (
          <span className="good" role="status">
            <Icon name="check" /> {test.message}
          </span>
        )}
      </p>
      <ProblemList
        problems={[
          ...problems,
          ...condensingProfile.refused,
          ...(typeof test === 'object' && !test.ok && test.message !== '' ? [test.message] : []),
        ]}
      />
    </>
  );
}
