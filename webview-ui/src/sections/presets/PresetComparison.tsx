import { useState, type ReactNode } from 'react';
import type { ComparableConfiguration, PresetState } from '../../../../src/panel/protocol';
import { ProblemList } from '../../components/Problems';
import { t } from '../../l10n';
import { usePanel } from '../../state/panel';
import { useLatestAnswer } from '../../state/useLatest';
import { Button, Dropdown, type DropdownChoice } from '../../ui';
import { makePresetChoiceValue } from '../preview/configurations';
import { DifferenceTable } from './DifferenceTable';

const CURRENT_SETTINGS = 'current';

interface PresetComparisonProps {
  readonly preset: PresetState;
  readonly name: string;
  readonly isSelected: boolean;
}

export function PresetComparison({ preset, name, isSelected }: PresetComparisonProps): ReactNode {
  const { state, changeView, reveal } = usePanel();
  const choices: readonly DropdownChoice[] = [
    { value: CURRENT_SETTINGS, label: t('Current settings') },
    ...state.presets
      .filter(({ id }) => id !== preset.id)
      .map((other) => ({ value: makePresetChoiceValue(other.id), label: getPresetLabel(other) })),
  ];
  // The selected preset equals the current settings, so it is compared with another preset first.
  const [wanted, setWanted] = useState(isSelected ? choices[1]?.value : CURRENT_SETTINGS);
  const choice = choices.find(({ value }) => value === wanted) ?? choices[0];
  const secondConfiguration: ComparableConfiguration = state.presets
    .filter(({ id }) => makePresetChoiceValue(id) === choice?.value)
    .map(({ id }) => ({ kind: 'preset', id }) as const)[0] ?? { kind: 'current' };
  const settings = JSON.stringify([state.settings['smart']?.value, state.settings['presets']?.value]);
  const { answer, lastResult: result } = useLatestAnswer(
    'comparePresets',
    { first: { kind: 'preset', id: preset.id }, second: secondConfiguration },
    settings,
  );
  return (
    <div className="group-plain">
      <div className="control-line">
        <Dropdown
          label={t('Compare {0} with', name)}
          value={choice?.value ?? CURRENT_SETTINGS}
          choices={choices}
          onChange={setWanted}
        />
      </div>
      {answer.kind === 'failed' && <ProblemList problems={[answer.message]} />}
      {result && answer.kind !== 'failed' && <DifferenceTable compared={result} names={[name, choice?.label ?? '']} />}
      <p className="actions">
        <Button
          onClick={() => {
            changeView({ compared: [makePresetChoiceValue(preset.id), choice?.value ?? CURRENT_SETTINGS] });
            reveal('two-configurations');
          }}
        >
          {t('Compare on a conversation')}
        </Button>
      </p>
    </div>
  );
}

const getPresetLabel = ({ name, isBuiltIn }: PresetState): string => (isBuiltIn ? t(name) : name);
