import { useState, type ReactNode } from 'react';
import type { Recommendation } from '../../../../src/panel/protocol';
import { ProblemList } from '../../components/Problems';
import { formatDollars, formatPercent, t } from '../../l10n';
import { usePanel, type Panel } from '../../state/panel';
import {
  areSettingsUnchanged,
  saveSettingsTogether,
  type SavedSettings,
  type SaveTogetherResult,
} from '../../state/together';
import { useUndoKey } from '../../state/undoKey';
import { useSetting } from '../../state/useSetting';
import { Button, LinkButton } from '../../ui';
import { listProfileEntries } from '../../state/profileEntries';
import { getPresetName, getProviderLabel } from '../../names';

interface RecommendationsProps {
  readonly recommendations: readonly Recommendation[];
  /** Reloads the history, which removes a recommendation that the user followed. */
  readonly reload: () => void;
}

interface FollowedRecommendation {
  /** The recommendation, as JSON. */
  readonly advice: string;
  readonly saved: SavedSettings;
}

/** Each recommendation can be followed and undone with one click. */
export function RecommendationsList({ recommendations, reload }: RecommendationsProps): ReactNode {
  const panel = usePanel();
  const applyRecommendation = useApplyRecommendation();
  const [followed, setFollowed] = useState<FollowedRecommendation>();
  // Undo is offered only while the settings are unchanged.
  const appliedRecommendation =
    followed && areSettingsUnchanged(panel.state, followed.saved.written) ? followed : undefined;
  const [isBusy, setBusy] = useState(false);
  const [problems, setProblems] = useState<readonly string[]>([]);
  const followRecommendation = async (recommendation: Recommendation): Promise<void> => {
    // Hides the previous Undo: while saving, the settings may match the earlier change again, and
    // its Undo would restore other values.
    setFollowed(undefined);
    setBusy(true);
    const { problems: newProblems, saved: savedSettings } = await applyRecommendation(recommendation);
    setBusy(false);
    setProblems(newProblems);
    if (!savedSettings) return;
    setFollowed({ advice: JSON.stringify(recommendation), saved: savedSettings });
    reload();
  };
  const takeBack = async ({ saved }: FollowedRecommendation): Promise<void> => {
    setBusy(true);
    const newProblems = await saved.undo();
    setBusy(false);
    setProblems(newProblems);
    if (newProblems.length > 0) return;
    setFollowed(undefined);
    reload();
  };
  useUndoKey(appliedRecommendation && !isBusy ? () => void takeBack(appliedRecommendation) : undefined);
  if (recommendations.length === 0 && !appliedRecommendation && problems.length === 0) return null;
  return (
    <div className="advice" role="group" aria-label={t('Recommendations')}>
      {recommendations.map((recommendation) => (
        <div key={recommendation.kind}>
          <p>
            <strong>{describeRecommendation(recommendation, panel)}</strong> {describeExpectedSaving(recommendation)}
          </p>
          {/* Stays disabled until the history is reloaded; a second click would keep the applied values as the ones to restore. */}
          <Button
            disabled={isBusy || appliedRecommendation?.advice === JSON.stringify(recommendation)}
            onClick={() => void followRecommendation(recommendation)}
          >
            {t('Apply')}
          </Button>
        </div>
      ))}
      <span role="status" className="done">
        {appliedRecommendation && (
          <>
            {t('Applied.')} <LinkButton onClick={() => void takeBack(appliedRecommendation)}>{t('Undo')}</LinkButton>
          </>
        )}
      </span>
      <ProblemList problems={problems} />
    </div>
  );
}

function describeRecommendation(recommendation: Recommendation, panel: Panel): string {
  switch (recommendation.kind) {
    case 'profile':
      return t('Condense with the model {0}.', recommendation.profile);
    case 'configuration': {
      const { provider, preset } = recommendation;
      const name = getProviderLabel(panel.welcome.providers, provider);
      return preset === undefined
        ? t('Condense with {0}.', name)
        : t('Condense with {0}, {1}.', name, getPresetName(panel, preset));
    }
    case 'threshold':
      return t('Condense at {0} of the window.', formatPercent(recommendation.percent));
  }
}

function describeExpectedSaving({ kind, from: runCount, saving: { dollars, tokens, runs } }: Recommendation): string {
  if (kind === 'threshold' && dollars === 0) {
    return t('{0} of the last {1} automatic runs started only when the window was full.', runs, runCount);
  }
  const parts = [
    ...(dollars > 0 ? [formatDollars(dollars)] : []),
    ...(tokens > 0 ? [t('{0} tokens', tokens)] : []),
    ...(runs > 0 ? [t('{0} runs', runs)] : []),
  ];
  return t('Over the last {0} runs this would have saved {1}.', runCount, parts.join(', '));
}

function useApplyRecommendation(): (recommendation: Recommendation) => Promise<SaveTogetherResult> {
  const { state } = usePanel();
  const settings = {
    condensingProfile: useSetting('condensingProfile'),
    threshold: useSetting('threshold'),
    provider: useSetting('provider'),
    smart: useSetting('smart'),
    strategy: useSetting('strategy'),
  };
  const saveChanges = (changes: readonly (readonly [keyof typeof settings, unknown])[]): Promise<SaveTogetherResult> =>
    saveSettingsTogether(changes.map(([name, value]) => [settings[name], value] as const));
  return (recommendation) => {
    switch (recommendation.kind) {
      case 'profile': {
        const recommendedProfile = listProfileEntries(state).find(({ name }) => name === recommendation.profile);
        return saveChanges([['condensingProfile', recommendedProfile?.id]]);
      }
      case 'configuration': {
        const { provider, preset } = recommendation;
        const presetByProvider = provider === 'smart' || provider === 'strategy' ? ([[provider, preset]] as const) : [];
        return saveChanges([...presetByProvider, ['provider', provider]]);
      }
      case 'threshold':
        return saveChanges([['threshold', recommendation.percent]]);
    }
  };
}
