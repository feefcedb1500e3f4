import { useState, type ReactNode } from 'react';
import { Disclosure } from '../../components/Disclosure';
import { ProblemList } from '../../components/Problems';
import { formatDollars, t } from '../../l10n';
import { getPresetName } from '../../names';
import { usePanel } from '../../state/panel';
import { areSettingsUnchanged, saveSettingsTogether, type SavedSettings } from '../../state/together';
import { useUndoKey } from '../../state/undoKey';
import { useSetting } from '../../state/useSetting';
import { Button, LinkButton } from '../../ui';
import { listChoiceQuestions, recommendSettings, type ChoiceAnswers } from './recommend';

export const HelpMeChooseSection = (): ReactNode => (
  <Disclosure title={t('Help me choose')} searchTexts={['recommend questions wizard which provider']}>
    <ChoiceQuestions />
  </Disclosure>
);

function ChoiceQuestions(): ReactNode {
  const [answers, setAnswers] = useState<ChoiceAnswers>({});
  return (
    <div className="questions">
      {listChoiceQuestions().map(({ id, text, answers: offeredAnswers }) => (
        <fieldset key={id} className="question">
          <legend>{text}</legend>
          {offeredAnswers.map((answer) => (
            <label key={answer.id} className="answer">
              <input
                type="radio"
                name={`question-${id}`}
                checked={answers[id] === answer.id}
                onChange={() => {
                  setAnswers({ ...answers, [id]: answer.id });
                }}
              />
              {answer.text}
            </label>
          ))}
        </fieldset>
      ))}
      {/* Other answers change the key, which discards what was applied. */}
      <ChoiceAdvice key={JSON.stringify(answers)} answers={answers} />
    </div>
  );
}

function ChoiceAdvice({ answers }: { readonly answers: ChoiceAnswers }): ReactNode {
  const { state, welcome } = usePanel();
  const provider = useSetting('provider');
  const limit = useSetting('maxCostPerCondensation');
  const smart = useSetting('smart');
  const condensingProfile = useSetting('condensingProfile').value;
  const [problems, setProblems] = useState<readonly string[]>([]);
  const [isBusy, setBusy] = useState(false);
  const [saved, setSaved] = useState<SavedSettings>();
  // Undo is offered only while the settings are unchanged.
  const appliedSettings = saved && areSettingsUnchanged(state, saved.written) ? saved : undefined;
  const advice = recommendSettings(
    answers,
    welcome.providers.map(({ id }) => id),
  );
  const applyAdvice = async (): Promise<void> => {
    if (!advice) return;
    setBusy(true);
    // Hides the previous Undo: while saving, the settings may match the earlier change again, and
    // its Undo would restore other values.
    setSaved(undefined);
    const result = await saveSettingsTogether([
      [limit, advice.maxCost],
      ...(advice.preset === undefined ? [] : [[smart, advice.preset] as const]),
      [provider, advice.provider],
    ]);
    setBusy(false);
    setProblems(result.problems);
    setSaved(result.saved);
  };
  const undoAdvice = async ({ undo }: SavedSettings): Promise<void> => {
    setBusy(true);
    const newProblems = await undo();
    setBusy(false);
    setProblems(newProblems);
    if (newProblems.length === 0) setSaved(undefined);
  };
  useUndoKey(appliedSettings && !isBusy ? () => void undoAdvice(appliedSettings) : undefined);
  if (!advice) return <p className="row-help">{t('Answer all four questions to get a recommendation.')}</p>;
  const lacksModel = advice.asksModel === true && (typeof condensingProfile !== 'string' || condensingProfile === '');
  const canRun = !lacksModel || advice.preset !== undefined;
  const name = welcome.providers.find(({ id }) => id === advice.provider)?.name ?? advice.provider;
  return (
    <div className="advice" role="status">
      <p>
        <strong>
          {advice.preset === undefined
            ? t(name)
            : t('{0}, preset {1}', t(name), getPresetName({ state }, advice.preset))}
        </strong>
        {': '}
        {advice.reason} {t('Cost limit: {0}.', formatDollars(advice.maxCost))}
      </p>
      {lacksModel && (
        <p role="note">
          {canRun
            ? t('Some of its passes need a model and are skipped until you add a model under Models.')
            : t('It needs a model. Add one under Models first, then apply it here.')}
        </p>
      )}
      {canRun && (
        // A second click would keep the applied values as the ones to restore.
        <Button primary disabled={isBusy || appliedSettings !== undefined} onClick={() => void applyAdvice()}>
          {t('Apply')}
        </Button>
      )}
      {appliedSettings && (
        <span className="row-note">
          {t('Applied.')} <LinkButton onClick={() => void undoAdvice(appliedSettings)}>{t('Undo')}</LinkButton>
        </span>
      )}
      <ProblemList problems={problems} />
    </div>
  );
}
