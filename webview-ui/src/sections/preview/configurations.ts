import type { ComparedConfigurationName } from '../../../../src/panel/protocol';
import { t } from '../../l10n';
import { usePanel } from '../../state/panel';
import type { DropdownChoice } from '../../ui';

export function useConfigurationChoices(): readonly DropdownChoice[] {
  const { state, welcome } = usePanel();
  return [
    { value: 'current', label: t('Current settings') },
    ...state.presets.map(({ id, name, isBuiltIn }) => ({
      value: makePresetChoiceValue(id),
      label: t('Preset {0}', isBuiltIn ? t(name) : name),
    })),
    ...welcome.providers.map(({ id, name }) => ({ value: `provider ${id}`, label: t('Provider {0}', t(name)) })),
  ];
}

export const makePresetChoiceValue = (id: string): string => `preset ${id}`;

export const getConfigurationLabel = (value: string, choices: readonly DropdownChoice[]): string =>
  choices.find((choice) => choice.value === value)?.label ?? value;

export function parseConfiguration(value: string): ComparedConfigurationName {
  const [kind, ...id] = value.split(' ');
  if (kind === 'preset' || kind === 'provider') return { kind, id: id.join(' ') };
  return { kind: 'current' };
}
