import type { ReactNode } from 'react';
import { isRecord } from '../../../../src/core/messages/blocks';
import { formatFieldName } from '../../components/titles';
import { formatDollars, t } from '../../l10n';
import { getPresetName, getProviderLabel } from '../../names';
import { usePanel } from '../../state/panel';

type Fields = Readonly<Record<string, unknown>>;

export const readStrategySteps = (strategy: unknown): readonly Fields[] =>
  isRecord(strategy) && Array.isArray(strategy['steps']) ? (strategy['steps'] as unknown[]).filter(isRecord) : [];

export function StrategySteps({ strategy }: { readonly strategy: unknown }): ReactNode {
  const getName = useGetStepName();
  return (
    <ol className="items">
      {readStrategySteps(strategy).map((step, index) => (
        <li key={index} className="item">
          <div className="item-line">
            <span className="pass-number">{t('{0}', index + 1)}</span>
            <span className="item-name">{getName(step)}</span>
            <span className="badges">
              {describeStepConditions(step).map((condition) => (
                <span key={condition} className="tag">
                  {condition}
                </span>
              ))}
            </span>
          </div>
        </li>
      ))}
    </ol>
  );
}

export function useGetStepName(): (step: Fields) => string {
  const { state, welcome } = usePanel();
  return ({ provider, preset }) =>
    typeof preset === 'string'
      ? t('Preset {0}', getPresetName({ state }, preset))
      : getProviderLabel(welcome.providers, String(provider));
}

/** Shows a custom condition as written. */
export function describeStepConditions({ when, after, affordable, ends }: Fields): readonly string[] {
  return [
    ...(isRecord(when) ? Object.entries(when).map(describeSingleCondition) : []),
    ...(after === 'failure' ? [t('only if an earlier step failed')] : []),
    ...(affordable === true ? [t('only within the budget')] : []),
    ...(ends === true ? [t('the last step if it removes something')] : []),
  ];
}

function describeSingleCondition([key, value]: readonly [string, unknown]): string {
  if (key === 'overTarget' && typeof value === 'number') return t('above {0} times the target', value);
  if (key === 'tokenThreshold' && typeof value === 'number') return t('above {0} tokens', value);
  if (key === 'budgetLeft' && typeof value === 'number') return t('while {0} is left', formatDollars(value));
  if (key === 'not' && isRecord(value) && typeof value['overTarget'] === 'number' && Object.keys(value).length === 1) {
    return t('up to {0} times the target', value['overTarget']);
  }
  return t('{0}: {1}', t(formatFieldName(key)), JSON.stringify(value));
}
