import { useState, type ReactNode } from 'react';
import { getErrorMessage } from '../../../../src/core/errors';
import type {
  PreviewedConversationName,
  ProfileComparison as Compared,
  ProfileCost,
} from '../../../../src/panel/protocol';
import { ProblemList } from '../../components/Problems';
import { Table, type TableColumn } from '../../components/Table';
import { formatDollars, formatNumber, formatPercent, t } from '../../l10n';
import { usePanel } from '../../state/panel';
import { useRequestAnswer } from '../../state/useAnswer';
import { useSetting } from '../../state/useSetting';
import { Button, LinkButton, ProgressRing } from '../../ui';

/** Milliseconds. The comparison makes an estimate with each model. */
const COMPARE_TIMEOUT_MS = 120_000;

export function ProfileComparison(): ReactNode {
  const { connection } = usePanel();
  const [conversation, setConversation] = useState<PreviewedConversationName>({ kind: 'default' });
  const { answer, reload } = useRequestAnswer('compareProfiles', { conversation }, COMPARE_TIMEOUT_MS);
  const chooseConversation = async (): Promise<void> => {
    const chosenConversation = await connection.sendRequest('chooseConversation', {}, { timeoutMs: Infinity });
    if (chosenConversation.conversation) setConversation(chosenConversation.conversation);
  };
  return (
    <>
      {answer.kind === 'waiting' && <ProgressRing label={t('Comparing…')} />}
      {answer.kind === 'failed' && <ProblemList problems={[answer.message]} />}
      {answer.kind === 'there' && <ProfileComparisonTable compared={answer.result} reload={reload} />}
      <p className="actions">
        <Button onClick={() => void chooseConversation()}>{t('Choose a conversation…')}</Button>
        <Button onClick={reload}>{t('Refresh')}</Button>
      </p>
    </>
  );
}

interface ProfileComparisonTableProps {
  readonly compared: Compared;
  readonly reload: () => void;
}

function ProfileComparisonTable({ compared, reload }: ProfileComparisonTableProps): ReactNode {
  const { state, connection } = usePanel();
  const { title, tokens, model, profiles, recommended } = compared;
  const condensingProfile = useSetting('condensingProfile');
  const recommendedProfile = profiles.find(({ id }) => id === recommended);
  const [keyProblems, setKeyProblems] = useState<readonly string[]>([]);
  const isKeyMissing = ({ id, estimate }: ProfileCost): boolean =>
    'problem' in estimate && state.profiles.find((profile) => profile.id === id)?.key === 'missing';
  const setKey = async (id: string): Promise<void> => {
    setKeyProblems([]);
    try {
      if ((await connection.sendRequest('setKey', { id }, { timeoutMs: Infinity })).isSet) reload();
    } catch (error) {
      setKeyProblems([getErrorMessage(error)]);
    }
  };
  return (
    <>
      <p className="row-help">
        {model === undefined
          ? t('“{0}”: {1} tokens. Its own model is not known.', title, tokens)
          : t('“{0}”: {1} tokens with {2}.', title, tokens, model)}
      </p>
      <Table
        label={t('Cost by model')}
        columns={listProfileCostColumns(tokens)}
        rows={profiles}
        getKey={({ id }) => id}
      />
      {profiles.some(
        ({ estimate }) => !('problem' in estimate) && estimate.cost === 0 && estimate.breakEvenRequests,
      ) && (
        <p className="row-help">
          {t(
            '“Pays for itself after” includes writing the vendor’s prompt cache again, which condensing makes necessary.',
          )}
        </p>
      )}
      {profiles.filter(isKeyMissing).map(({ id, name }) => (
        <p key={id} className="key-missing">
          {t('{0}: No API key is set.', name)} <LinkButton onClick={() => void setKey(id)}>{t('Set key…')}</LinkButton>
        </p>
      ))}
      <ProblemList
        problems={[
          ...keyProblems,
          ...profiles.flatMap((profile) =>
            'problem' in profile.estimate && !isKeyMissing(profile)
              ? [t('{0}: {1}', profile.name, profile.estimate.problem)]
              : [],
          ),
        ]}
      />
      {recommendedProfile && condensingProfile.value !== recommendedProfile.id && (
        <div className="advice">
          <p>{t('{0} is the best choice for this conversation.', recommendedProfile.name)}</p>
          <Button onClick={() => void condensingProfile.save(recommendedProfile.id)}>
            {t('Use {0} for summaries', recommendedProfile.name)}
          </Button>
        </div>
      )}
      {recommendedProfile && condensingProfile.value === recommendedProfile.id && (
        <p>
          {t('{0}, which writes the summaries now, is the best choice for this conversation.', recommendedProfile.name)}
        </p>
      )}
      <ProblemList problems={condensingProfile.refused} />
    </>
  );
}

const UNKNOWN_TEXT = '–';

/** @param tokens of the conversation */
function listProfileCostColumns(tokens: number): readonly TableColumn<ProfileCost>[] {
  type Estimate = Exclude<ProfileCost['estimate'], { problem: string }>;
  const createFigureCell =
    (format: (estimate: Estimate) => string) =>
    ({ estimate }: ProfileCost): string =>
      'problem' in estimate ? UNKNOWN_TEXT : format(estimate);
  const formatSavedShare = (after: number): string => formatPercent((100 * (tokens - after)) / Math.max(1, tokens));
  return [
    { title: t('Model'), cell: ({ name }) => name },
    { title: t('ID'), cell: ({ model }) => model },
    { title: t('Saved'), isNumber: true, cell: createFigureCell(({ tokensAfter }) => formatSavedShare(tokensAfter)) },
    { title: t('Cost'), isNumber: true, cell: createFigureCell(({ cost }) => formatDollars(cost)) },
    {
      title: t('Saved with each later request'),
      isNumber: true,
      cell: createFigureCell(({ savedPerRequest }) =>
        savedPerRequest === undefined ? UNKNOWN_TEXT : formatDollars(savedPerRequest),
      ),
    },
    {
      title: t('Pays for itself after'),
      isNumber: true,
      cell: createFigureCell(({ breakEvenRequests, savedPerRequest }) =>
        breakEvenRequests !== undefined
          ? breakEvenRequests === 0
            ? t('the next request')
            : breakEvenRequests === 1
              ? t('1 request')
              : t('{0} requests', formatNumber(breakEvenRequests))
          : savedPerRequest !== undefined && savedPerRequest <= 0
            ? t('never')
            : UNKNOWN_TEXT,
      ),
    },
  ];
}
