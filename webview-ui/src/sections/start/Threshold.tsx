import { useState, type ReactNode } from 'react';
import { dueAt, dueWords, type ModelWindow } from '../../components/dueWords';
import { Row } from '../../components/Row';
import { formatNumber, formatPercent, t } from '../../l10n';
import { usePanel, type Panel } from '../../state/panel';
import { useSetting } from '../../state/useSetting';
import { Slider } from '../../ui';

/** The window of most models today; stands in while no model is known. Tokens. */
const USUAL_WINDOW = 200_000;

/** The models whose windows are known, the condensing profile's first. */
function windowsOf({ state }: Pick<Panel, 'state'>): ModelWindow[] {
  const names = new Map(
    (Array.isArray(state.settings['profiles']?.value) ? (state.settings['profiles'].value as unknown[]) : []).flatMap(
      (entry) => {
        const { id, name } = entry as { id?: unknown; name?: unknown };
        return typeof id === 'string' && typeof name === 'string' ? [[id, name] as const] : [];
      },
    ),
  );
  const chosen = state.settings['condensingProfile']?.value;
  const profiles = state.profiles
    .toSorted((a, b) => Number(b.id === chosen) - Number(a.id === chosen))
    .flatMap(({ id, contextWindow }) =>
      contextWindow === undefined ? [] : [{ name: names.get(id) ?? id, tokens: contextWindow }],
    );
  // Copilot's "Auto" has a window of 0 until it is signed in.
  return [
    ...profiles,
    ...state.editorModels.map(({ name, maxInputTokens }) => ({ name, tokens: maxInputTokens })),
  ].filter(({ tokens }) => tokens > 0);
}

/** When a conversation is condensed: a share of the window, and the tokens that it means. */
export function Threshold(): ReactNode {
  const panel = usePanel();
  const setting = useSetting('threshold');
  const [moved, setMoved] = useState<number>();
  const { default: standard, minimum, maximum } = panel.welcome.schemas['threshold'] ?? {};
  const saved = Number(typeof setting.used === 'number' ? setting.used : standard);
  const percent = moved ?? saved;
  const [first] = windowsOf(panel);
  const window = first ?? { tokens: USUAL_WINDOW };
  const limit = useSetting('thresholdTokens').used;
  const due = dueAt(window.tokens, percent, limit);
  const title = t('Threshold');
  const help = t('Share of the model’s window that a conversation may fill before it is condensed.');
  return (
    <Row setting={setting} title={title} help={help} keywords={t('threshold percent window automatic')}>
      <div className="slider-line">
        <Slider
          label={title}
          help={help}
          value={saved}
          min={Number(minimum)}
          max={Number(maximum)}
          step={1}
          describe={(value) => `${formatPercent(value)}, ${formatNumber(dueAt(window.tokens, value, limit).tokens)}`}
          onMove={setMoved}
          onCommit={(value) => {
            void setting.save(value).then(() => {
              setMoved(undefined);
            });
          }}
        />
        <output className="slider-value">{formatPercent(percent)}</output>
        <span className="slider-meaning">{dueWords(due, window, limit)}</span>
      </div>
    </Row>
  );
}
