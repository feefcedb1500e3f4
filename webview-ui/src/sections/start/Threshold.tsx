import type { ReactNode } from 'react';
import { computeDueTokensOfWindow, describeDueTokens, type ModelWindow } from '../../components/dueWords';
import { SettingRow } from '../../components/Row';
import { formatNumber, formatPercent, t } from '../../l10n';
import { usePanel, type Panel } from '../../state/panel';
import { listProfileEntries } from '../../state/profileEntries';
import { useSetting } from '../../state/useSetting';
import { Slider } from '../../ui';
import { useOptimisticChoice } from '../../ui/chosen';

/** Window in tokens that is assumed while no model's window is known. */
const USUAL_WINDOW_TOKENS = 200_000;

/** Percent; instructions and tools alone may fill a large part of a lower threshold. */
const LOW_THRESHOLD_PERCENT = 50;

/** Lists models with a known window that agents use with this threshold. */
function listModelWindows({ state }: Pick<Panel, 'state'>): ModelWindow[] {
  const profileWindows = listProfileEntries(state)
    .filter(({ isOfferedInChat, threshold }) => isOfferedInChat && threshold === undefined)
    .map(({ name, facts }) => ({ name, tokens: facts?.contextWindow ?? 0 }));
  return [
    ...profileWindows,
    ...state.editorModels.map(({ name, contextWindow = 0 }) => ({ name, tokens: contextWindow })),
  ].filter(({ tokens }) => tokens > 0);
}

export function ThresholdField(): ReactNode {
  const panel = usePanel();
  const setting = useSetting('threshold');
  const { default: standard, minimum, maximum } = panel.welcome.schemas['threshold'] ?? {};
  const savedPercent = Number(typeof setting.effectiveValue === 'number' ? setting.effectiveValue : standard);
  const { shownValue: percent, showValue, chooseValue } = useOptimisticChoice(savedPercent, setting.save);
  const [first] = listModelWindows(panel);
  const window = first ?? { tokens: USUAL_WINDOW_TOKENS };
  const limit = useSetting('thresholdTokens').effectiveValue;
  const duePoint = computeDueTokensOfWindow(window.tokens, percent, limit);
  const title = t('Threshold');
  const help = t(
    'How full the model’s window may get before a conversation is condensed. How much may remain is the target.',
  );
  return (
    <SettingRow setting={setting} title={title} help={help} keywords={t('threshold percent window automatic')}>
      <div className="slider-line">
        <Slider
          label={title}
          help={help}
          value={percent}
          min={Number(minimum)}
          max={Number(maximum)}
          step={1}
          describe={(value) =>
            `${formatPercent(value)}, ${formatNumber(computeDueTokensOfWindow(window.tokens, value, limit).tokens)}`
          }
          onMove={showValue}
          onCommit={(value) => {
            void chooseValue(value);
          }}
        />
        <output className="slider-value">{formatPercent(percent)}</output>
        <span className="slider-meaning">{describeDueTokens(duePoint, window, limit)}</span>
      </div>
      {percent < LOW_THRESHOLD_PERCENT && (
        <p className="row-help" role="note">
          {t(
            'Agents’ conversations will be condensed very often, and the vendor’s prompt cache is lost each time. The default is {0}.',
            formatPercent(Number(standard)),
          )}
        </p>
      )}
    </SettingRow>
  );
}
