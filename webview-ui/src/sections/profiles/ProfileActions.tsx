import { useState, type ReactNode } from 'react';
import { errorMessage } from '../../../../src/core/errors';
import { isVendor, getVendorEntry } from '../../../../src/core/vendors/vendors';
import type { ProfileState, VendorModel } from '../../../../src/panel/protocol';
import { Problems } from '../../components/Problems';
import { t } from '../../l10n';
import { usePanel } from '../../state/panel';
import { useSetting } from '../../state/useSetting';
import { Button, Icon, ProgressRing } from '../../ui';
import type { ProfileEntry } from '../../state/profileEntries';
import { VendorModels } from './VendorModels';

/** How long a model may take to answer a test, in milliseconds. */
export const TEST_TIMEOUT_MS = 120_000;

/** The fields of a profile that tell of its model, and not of how it is called. */
const OF_THE_MODEL = new Set(['contextWindow', 'maxOutputTokens', 'images', 'prices', 'tokenFactor']);

interface ProfileActionsProps {
  readonly entry: ProfileEntry;
  readonly facts: ProfileState;
  readonly isCondensing: boolean;
}

/** The actions on a profile: use it, try it, give it a key, remove it. */
export function ProfileActions({ entry, facts, isCondensing }: ProfileActionsProps): ReactNode {
  const { connection } = usePanel();
  const condensing = useSetting('condensingProfile');
  const setting = useSetting('profiles', [entry.index]);
  const [test, setTest] = useState<{ readonly ok: boolean; readonly message: string } | 'running'>();
  const [problems, setProblems] = useState<readonly string[]>([]);
  const id = entry.id;
  const run = (action: Promise<unknown>): void => {
    setProblems([]);
    action.catch((error: unknown) => {
      setTest(undefined);
      setProblems([errorMessage(error)]);
    });
  };
  const takeOver = ({ id: model, seesImages, ...figures }: VendorModel): Promise<readonly string[]> => {
    const { value } = setting;
    const before = Object.entries(typeof value === 'object' && value !== null ? value : {});
    // Values entered for another model do not hold for this one.
    const kept = model === entry.model ? before : before.filter(([field]) => !OF_THE_MODEL.has(field));
    const images = seesImages === undefined ? {} : { images: seesImages };
    return setting.save({ ...Object.fromEntries(kept), model, ...figures, ...images });
  };
  const tryIt = (): void => {
    setTest('running');
    run(connection.request('testProfile', { id }, { timeoutMs: TEST_TIMEOUT_MS }).then(setTest));
  };
  return (
    <>
      <p className="actions">
        {isCondensing ? (
          <Button onClick={() => void condensing.save('')}>{t('Stop using for summaries')}</Button>
        ) : (
          <Button onClick={() => void condensing.save(id)}>{t('Use for summaries')}</Button>
        )}
        <Button disabled={test === 'running'} onClick={tryIt}>
          {t('Test')}
        </Button>
        {entry.vendor !== 'vscode' && (
          <Button
            icon="key"
            onClick={() => {
              run(connection.request('setKey', { id }, { timeoutMs: Infinity }));
            }}
          >
            {facts.key === 'set' ? t('Change key…') : t('Set key…')}
          </Button>
        )}
        <Button
          icon="trash"
          onClick={() => {
            run(connection.request('removeProfile', { id }, { timeoutMs: Infinity }));
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
      {isVendor(entry.vendor) && getVendorEntry(entry.vendor).listsModels && (
        <VendorModels asked={{ id }} current={entry.model} onTake={takeOver} />
      )}
      <Problems
        problems={[
          ...problems,
          ...condensing.refused,
          ...(typeof test === 'object' && !test.ok && test.message !== '' ? [test.message] : []),
        ]}
      />
    </>
  );
}
