import { useState, type ReactNode } from 'react';
import type { Recommendation } from '../../../../src/panel/protocol';
import { Problems } from '../../components/Problems';
import { formatDollars, formatPercent, t } from '../../l10n';
import { usePanel, type Panel } from '../../state/panel';
import { useSetting } from '../../state/useSetting';
import { Button, LinkButton } from '../../ui';
import { profileEntries } from '../../state/profileEntries';
import { presetName, providerName } from '../../names';

interface RecommendationsProps {
  readonly recommendations: readonly Recommendation[];
  /** Reads the history anew: an advice that was followed is none any more. */
  readonly again: () => void;
}

/** The recommendations from the recorded runs, followed with one click and taken back with another. */
export function Recommendations({ recommendations, again }: RecommendationsProps): ReactNode {
  const panel = usePanel();
  const apply = useApply();
  const [undo, setUndo] = useState<() => Promise<unknown>>();
  const [problems, setProblems] = useState<readonly string[]>([]);
  const follow = async (recommendation: Recommendation): Promise<void> => {
    const { problems: found, undo: back } = await apply(recommendation);
    setProblems(found);
    if (found.length > 0) return;
    setUndo(() => back);
    again();
  };
  if (recommendations.length === 0 && !undo) return null;
  return (
    <div className="advice" role="group" aria-label={t('Recommendations')}>
      {recommendations.map((recommendation) => (
        <div key={recommendation.kind}>
          <p>
            <strong>{adviceOf(recommendation, panel)}</strong> {savingOf(recommendation)}
          </p>
          <Button onClick={() => void follow(recommendation)}>{t('Apply')}</Button>
        </div>
      ))}
      <span role="status" className="done">
        {undo && (
          <>
            {t('Applied.')}{' '}
            <LinkButton
              onClick={() => {
                setUndo(undefined);
                void undo().then(again);
              }}
            >
              {t('Undo')}
            </LinkButton>
          </>
        )}
      </span>
      <Problems problems={problems} />
    </div>
  );
}

function adviceOf(recommendation: Recommendation, panel: Panel): string {
  switch (recommendation.kind) {
    case 'profile':
      return t('Condense with the profile {0}.', recommendation.profile);
    case 'configuration': {
      const { provider, preset } = recommendation;
      const name = providerName(panel.welcome.providers, provider);
      return preset === undefined
        ? t('Condense with {0}.', name)
        : t('Condense with {0}, {1}.', name, presetName(panel, preset));
    }
    case 'threshold':
      return t('Condense at {0} of the window.', formatPercent(recommendation.percent));
  }
}

/** The saving over the recorded runs. */
function savingOf({ kind, from, saving: { dollars, tokens, runs } }: Recommendation): string {
  if (kind === 'threshold' && dollars === 0) {
    return t('{0} of the last {1} automatic runs started only when the window was full.', runs, from);
  }
  const parts = [
    ...(dollars > 0 ? [formatDollars(dollars)] : []),
    ...(tokens > 0 ? [t('{0} tokens', tokens)] : []),
    ...(runs > 0 ? [t('{0} runs', runs)] : []),
  ];
  return t('Over the last {0} runs this would have saved {1}.', from, parts.join(', '));
}

interface Applied {
  readonly problems: readonly string[];
  /** Puts back what was set before. */
  readonly undo: () => Promise<unknown>;
}

function useApply(): (recommendation: Recommendation) => Promise<Applied> {
  const { state } = usePanel();
  const settings = {
    condensingProfile: useSetting('condensingProfile'),
    threshold: useSetting('threshold'),
    provider: useSetting('provider'),
    smart: useSetting('smart'),
    strategy: useSetting('strategy'),
  };
  const change = async (changes: readonly (readonly [keyof typeof settings, unknown])[]): Promise<Applied> => {
    const before = changes.map(([name]) => [name, settings[name].isSet ? settings[name].value : undefined] as const);
    const problems: string[] = [];
    for (const [name, value] of changes) problems.push(...(await settings[name].save(value)));
    const undo = async (): Promise<void> => {
      for (const [name, value] of before) await settings[name].save(value);
    };
    return { problems, undo };
  };
  return (recommendation) => {
    switch (recommendation.kind) {
      case 'profile': {
        const found = profileEntries(state).find(({ name }) => name === recommendation.profile);
        return change([['condensingProfile', found?.id]]);
      }
      case 'configuration': {
        const { provider, preset } = recommendation;
        const named = provider === 'smart' || provider === 'strategy' ? ([[provider, preset]] as const) : [];
        return change([...named, ['provider', provider]]);
      }
      case 'threshold':
        return change([['threshold', recommendation.percent]]);
    }
  };
}
