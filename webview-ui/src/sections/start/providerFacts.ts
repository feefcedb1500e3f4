import type { ProfileState } from '../../../../src/panel/protocol';
import { formatDollars, formatNumber, formatPercent, t } from '../../l10n';
import {
  FILE_AWARE_PRESET_ID,
  MEASURED_LOSS_BY_PRESET,
  MEASURED_LOSS_BY_PROVIDER,
  type MeasuredLoss,
} from '../../../../src/core/condense/measured';
import { isBuiltInProvider } from '../../../../src/core/condense/types';

export interface ProviderFacts {
  readonly description: string;
  readonly costs: string;
  readonly loses: string;
  readonly removes: string;
  /** True if the loss was measured with empty summaries, which is the worst case. */
  readonly isLossAtMost?: boolean;
}

export interface CurrentChoice {
  /** The model that writes summaries, if one is chosen. */
  readonly condensing: ProfileState | undefined;
  readonly whenNotEnough: unknown;
  readonly targetPercent: number;
  /** Smart's preset; absent for the user's own passes. */
  readonly preset?: { readonly id: string; readonly name: string; readonly callsModel: boolean } | undefined;
  readonly strategy?: { readonly name: string; readonly steps: readonly string[] } | undefined;
}

/** Tokens of a typical conversation and its summary. */
const EXAMPLE_TOKENS = { read: 100_000, written: 1_500 } as const;

/** US dollars for summarizing the example; undefined if the model's price is unknown. */
const computeExampleCost = ({ prices: { input, output } = {} }: ProfileState): number | undefined =>
  input === undefined || output === undefined
    ? undefined
    : (EXAMPLE_TOKENS.read * input + EXAMPLE_TOKENS.written * output) / 1_000_000;

/** @returns undefined for another extension's provider */
export function listProviderFacts(
  provider: string,
  { condensing: condensingProfile, whenNotEnough, targetPercent, preset, strategy }: CurrentChoice,
): ProviderFacts | undefined {
  if (!isBuiltInProvider(provider)) return undefined;
  const measuredLoss = MEASURED_LOSS_BY_PROVIDER[provider];
  switch (provider) {
    case 'lossless':
      return {
        description:
          whenNotEnough === 'fileAware'
            ? t(
                'Replaces repeated content with references. In agent tasks, Smart (File-Aware) follows if that is not enough.',
              )
            : t('Replaces repeated content with references.'),
        costs: t('Nothing'),
        loses:
          whenNotEnough === 'fileAware'
            ? t(
                'Nothing. If File-Aware follows in agent tasks: {0} of needed lines, which agents can recall',
                formatPercent(MEASURED_LOSS_BY_PRESET[FILE_AWARE_PRESET_ID]?.lost ?? 0),
              )
            : t('Nothing: every byte can be restored'),
        removes: describeRemovedShare(measuredLoss),
      };
    case 'truncation':
      return {
        description: t('Shortens old tool results to their end, and old parameters to their beginning and end.'),
        costs: t('Nothing'),
        loses: describeLostShare(measuredLoss),
        removes: describeRemovedShare(measuredLoss),
      };
    case 'native':
      return {
        description: t('Has a model write a summary of everything between the task and the newest messages.'),
        costs: describeSummaryCost(condensingProfile),
        loses: t(
          'Details that the summary leaves out, and solved errors; your words, files and open errors are listed after it',
        ),
        removes: describeRemovedShare(measuredLoss),
      };
    case 'smart': {
      const lossOfPreset = preset && MEASURED_LOSS_BY_PRESET[preset.id];
      return {
        description: preset
          ? t(
              'Removes old content by its kind, in steps called passes. A preset is a list of them; yours: {0}.',
              preset.name,
            )
          : t('Removes old content by its kind, in your own steps (passes).'),
        costs: preset?.callsModel === false ? t('Nothing') : t('Nothing, unless a pass calls a model'),
        isLossAtMost: lossOfPreset?.isAtMost === true,
        loses: lossOfPreset ? describeLostShare(lossOfPreset) : t('What your passes remove; Preview shows it'),
        // File-Aware was measured at the size of another rule, so its measured share says nothing
        // about what it removes.
        removes:
          lossOfPreset && preset.id !== FILE_AWARE_PRESET_ID
            ? describeRemovedShare(lossOfPreset)
            : describeAsked(targetPercent),
      };
    }
    case 'strategy':
      return {
        description: strategy
          ? t(
              'Runs several providers in order, each only if its condition is met. Strategy: {0} ({1}).',
              strategy.name,
              strategy.steps.join(' → '),
            )
          : t('Runs several providers in order, each only if its condition is met.'),
        costs: t('What its steps cost, within your limit'),
        loses: t('What its steps lose'),
        removes: describeAsked(targetPercent),
      };
    default:
      return provider satisfies never;
  }
}

const describeAsked = (targetPercent: number): string =>
  t('As much as the target asks for: {0} when you condense by hand', formatPercent(100 - targetPercent));

function describeRemovedShare(measured: MeasuredLoss | undefined): string {
  if (measured === undefined) return t('not measured');
  const { removed, removedByAgent: range } = measured;
  return range
    ? t('{0} to {1} of a conversation, depending on the agent', formatNumber(range[0]), formatPercent(range[1]))
    : t('{0} of a conversation', formatPercent(removed));
}

/** The agent can recall everything that a preset or Truncation removes. */
function describeLostShare(measuredLoss: MeasuredLoss | undefined): string {
  if (measuredLoss?.lost === undefined) return t('not measured');
  const lostShare = formatPercent(measuredLoss.lost);
  return measuredLoss.isAtMost
    ? t('At most {0} of the lines that agents needed later; they can be recalled', lostShare)
    : t('{0} of the lines that agents needed later; they can be recalled', lostShare);
}

export const describePresetFigures = (id: string, measuredLoss: MeasuredLoss): string =>
  id === FILE_AWARE_PRESET_ID
    ? t(
        'On 18 projects that it was not fitted on: with {0} of a conversation removed, loses {1} of the lines that agents needed later; they can be recalled.',
        formatPercent(measuredLoss.removed),
        formatPercent(measuredLoss.lost ?? 0),
      )
    : t(
        measuredLoss.isAtMost
          ? 'On one project: removes {0} of a conversation, and loses at most {1} of the lines that agents needed later; they can be recalled.'
          : 'On one project: removes {0} of a conversation, and loses {1} of the lines that agents needed later; they can be recalled.',
        formatPercent(measuredLoss.removed),
        formatPercent(measuredLoss.lost ?? 0),
      );

function describeSummaryCost(condensing: ProfileState | undefined): string {
  if (!condensing) return t('What the model costs; no model is chosen');
  const cost = computeExampleCost(condensing);
  if (cost === 0) return t('Nothing: the model costs nothing');
  return cost === undefined ? t('What the model costs') : t('About {0} for 100,000 tokens', formatDollars(cost));
}
