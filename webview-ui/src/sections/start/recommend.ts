import { t } from '../../l10n';

export interface ChoiceQuestion {
  readonly id: 'budget' | 'wait' | 'loss' | 'effort';
  readonly text: string;
  readonly answers: readonly { readonly id: string; readonly text: string }[];
}

export const listChoiceQuestions = (): readonly ChoiceQuestion[] => [
  {
    id: 'budget',
    text: t('How much may a condensation cost?'),
    answers: [
      { id: 'none', text: t('Nothing') },
      { id: 'little', text: t('Up to $0.01') },
      { id: 'some', text: t('Up to $0.05') },
      { id: 'more', text: t('More, if it is worth it') },
    ],
  },
  {
    id: 'wait',
    text: t('How long may it take?'),
    answers: [
      { id: 'instant', text: t('I shouldn’t notice it') },
      { id: 'short', text: t('A second or two') },
      { id: 'long', text: t('Ten seconds or more') },
    ],
  },
  {
    id: 'loss',
    text: t('How much may be lost?'),
    answers: [
      { id: 'none', text: t('Nothing') },
      { id: 'little', text: t('Details that can be recalled') },
      { id: 'much', text: t('The gist is enough') },
    ],
  },
  {
    id: 'effort',
    text: t('How much do you want to set up?'),
    answers: [
      { id: 'none', text: t('Nothing') },
      { id: 'presets', text: t('Choose among presets') },
      { id: 'all', text: t('Every detail') },
    ],
  },
];

export type ChoiceAnswers = Readonly<Partial<Record<ChoiceQuestion['id'], string>>>;

export interface RecommendedSettings {
  readonly provider: string;
  readonly preset?: string;
  /** Recommended limit in US dollars per condensation. */
  readonly maxCost: number;
  /** True if the recommendation needs a model. */
  readonly asksModel?: true;
  readonly reason: string;
}

const BUDGET_DOLLARS: Readonly<Record<string, number>> = { none: 0, little: 0.01, some: 0.05, more: 0.5 };

/**
 * @param available IDs of the existing providers
 * @returns undefined until the user has answered all questions
 */
export function recommendSettings(
  answers: ChoiceAnswers,
  available: readonly string[],
): RecommendedSettings | undefined {
  const { budget, wait: waitAnswer, loss, effort } = answers;
  if (budget === undefined || waitAnswer === undefined || loss === undefined || effort === undefined) return undefined;
  const maxCost = BUDGET_DOLLARS[budget] ?? 0;
  const hasSmart = available.includes('smart');
  if (loss === 'none') {
    return { provider: 'lossless', maxCost, reason: t('Lossless alone loses nothing. It is free and fast.') };
  }
  const mayCallModel = maxCost > 0 && waitAnswer !== 'instant';
  if (!mayCallModel) {
    if (hasSmart && effort !== 'none') {
      const preset = loss === 'little' ? 'file-aware' : 'speed';
      return {
        provider: 'smart',
        preset,
        maxCost,
        reason: t('Its passes call no model, and what they remove can be recalled.'),
      };
    }
    return {
      provider: 'truncation',
      maxCost,
      reason: t('It needs no model and no time, and what it cuts can be recalled.'),
    };
  }
  if (hasSmart && (effort !== 'none' || budget === 'little')) {
    const preset = chooseRecommendedPreset(budget, waitAnswer, loss);
    return {
      provider: 'smart',
      preset,
      maxCost,
      asksModel: true,
      reason: t('Repeated content is removed first, for free. Its passes may call a model, within your limit.'),
    };
  }
  return {
    provider: 'native',
    maxCost,
    asksModel: true,
    reason: t('A model summarizes old content. It costs what the model costs, within your limit.'),
  };
}

function chooseRecommendedPreset(budget: string, wait: string, loss: string): string {
  if (budget === 'little') return 'cost';
  // This preset loses least among those that call a model.
  if (loss === 'little') return 'conservative';
  return wait === 'long' ? 'balanced' : 'aggressive';
}
