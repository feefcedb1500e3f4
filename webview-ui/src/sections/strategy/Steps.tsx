import type { ReactNode } from 'react';
import { isRecord } from '../../../../src/core/messages/blocks';
import { nameInWords } from '../../components/titles';
import { formatDollars, t } from '../../l10n';
import { usePanel } from '../../state/panel';

type Fields = Readonly<Record<string, unknown>>;

/** The steps of a strategy in their order, each with when it runs. */
export function Steps({ strategy }: { readonly strategy: unknown }): ReactNode {
  const { state, welcome } = usePanel();
  const steps: readonly unknown[] = isRecord(strategy) && Array.isArray(strategy['steps']) ? strategy['steps'] : [];
  const nameOf = ({ provider, preset }: Fields): string => {
    const found =
      preset === undefined
        ? welcome.providers.find(({ id }) => id === provider)
        : state.presets.find(({ id }) => id === preset);
    const name = t(found?.name ?? String(preset ?? provider));
    return preset === undefined ? name : t('Preset {0}', name);
  };
  return (
    <ol className="items">
      {steps.filter(isRecord).map((step, index) => (
        <li key={index} className="item">
          <div className="item-line">
            <span className="pass-number">{t('{0}', index + 1)}</span>
            <span className="item-name">{nameOf(step)}</span>
            <span className="badges">
              {conditionsOf(step).map((condition) => (
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

/** When a step runs, in words; what only a condition of one's own says stands there as it is written. */
function conditionsOf({ when, after, affordable, ends }: Fields): readonly string[] {
  return [
    ...(isRecord(when) ? Object.entries(when).map(conditionInWords) : []),
    ...(after === 'failure' ? [t('only if an earlier step failed')] : []),
    ...(affordable === true ? [t('only within the budget')] : []),
    ...(ends === true ? [t('the last step if it removes something')] : []),
  ];
}

function conditionInWords([key, value]: readonly [string, unknown]): string {
  if (key === 'overTarget' && typeof value === 'number') return t('above {0} times the target', value);
  if (key === 'tokenThreshold' && typeof value === 'number') return t('above {0} tokens', value);
  if (key === 'budgetLeft' && typeof value === 'number') return t('while {0} are left', formatDollars(value));
  if (key === 'not' && isRecord(value) && typeof value['overTarget'] === 'number' && Object.keys(value).length === 1) {
    return t('up to {0} times the target', value['overTarget']);
  }
  return t('{0}: {1}', t(nameInWords(key)), JSON.stringify(value));
}
