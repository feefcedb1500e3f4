import { getProviderName } from '../types';
import { isEqual } from '../../isEqual';

export interface JudgedChoice {
  readonly id: string;
  readonly name: string;
  readonly provider: string;
  readonly config: unknown;
}

export const CURRENT_CHOICE_ID = 'current';

/** These ways to condense call no model. */
export const JUDGED_CHOICES: readonly JudgedChoice[] = [
  { id: 'lossless', name: 'Lossless', provider: 'lossless', config: {} },
  { id: 'file-aware', name: 'File-Aware', provider: 'smart', config: 'file-aware' },
  { id: 'speed', name: 'Speed', provider: 'smart', config: 'speed' },
  { id: 'multi-zone', name: 'Multi-Zone', provider: 'smart', config: 'multi-zone' },
  { id: 'truncation', name: 'Truncation', provider: 'truncation', config: {} },
];

export function listJudgedChoices({
  provider,
  config = {},
}: {
  readonly provider: string;
  readonly config?: unknown;
}): JudgedChoice[] {
  const isCurrentChoice = (choice: JudgedChoice): boolean =>
    choice.provider === provider && isEqual(choice.config, config);
  const name = JUDGED_CHOICES.find(isCurrentChoice)?.name ?? getProviderName(provider);
  return [
    { id: CURRENT_CHOICE_ID, name, provider, config },
    ...JUDGED_CHOICES.filter((choice) => !isCurrentChoice(choice)),
  ];
}
