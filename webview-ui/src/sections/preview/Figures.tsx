import type { ReactNode } from 'react';
import type { Preview } from '../../../../src/panel/protocol';
import { FigureList, type LabeledFigure } from '../../components/FigureList';
import { formatDollars, formatDuration, formatPercent, t } from '../../l10n';

type PreviewFigures = Pick<
  Preview,
  | 'tokensBefore'
  | 'tokensAfter'
  | 'targetTokens'
  | 'calls'
  | 'cost'
  | 'costRange'
  | 'callTokens'
  | 'confidence'
  | 'timeMs'
>;

/** Percent of the tokens that would be removed. */
export const computeReductionPercent = ({ tokensBefore, tokensAfter }: PreviewFigures): number =>
  tokensBefore === 0 ? 0 : (100 * (tokensBefore - tokensAfter)) / tokensBefore;

/** Shows the cost as a range if one is known. */
export function formatPreviewCost({ calls, cost, costRange }: PreviewFigures): string {
  if (calls === 0) return formatDollars(0);
  if (!costRange) return formatDollars(cost);
  const lowest = formatDollars(costRange.least);
  const highest = formatDollars(costRange.most);
  const range = lowest === highest ? highest : t('{0} to {1}', lowest, highest);
  return costRange.endsAtLimit === true ? t('{0}, capped at your limit', range) : range;
}

const formatModelCalls = (calls: number): string =>
  calls === 1 ? t('one call to a model') : t('{0} calls to a model', calls);

/** Shown on the button that runs the condensation; empty if no model is called. */
export const formatCostAndConfidence = (preview: PreviewFigures): string =>
  preview.calls === 0
    ? ''
    : preview.cost === undefined
      ? t('{0}, cost not known', formatModelCalls(preview.calls))
      : t('{0}, {1}', formatModelCalls(preview.calls), formatPreviewCost(preview));

function describeCostConfidence({ calls, confidence }: PreviewFigures): string {
  if (calls === 0) return t('no model is called');
  const callsText = formatModelCalls(calls);
  switch (confidence) {
    case 'high':
      return t('{0}; based on many of its replies', callsText);
    case 'medium':
      return t('{0}; based on few of its replies', callsText);
    default:
      return t('{0}; based on none of its replies yet', callsText);
  }
}

/** Returns an empty text if the billed tokens are unknown. */
function formatCallTokens({ calls, callTokens }: PreviewFigures): string {
  if (calls === 0 || !callTokens) return '';
  const { input, cacheRead, cacheWrite, output } = callTokens;
  return [
    t('{0} tokens in', Math.round(input)),
    ...(cacheRead > 0 ? [t('{0} read from the cache', Math.round(cacheRead))] : []),
    ...(cacheWrite > 0 ? [t('{0} written to the cache', Math.round(cacheWrite))] : []),
    t('{0} out', Math.round(output)),
  ].join(', ');
}

/** Higher costs (in US dollars) are marked. */
const HIGH_COST_DOLLARS = 0.05;

export function PreviewFigureList({ preview }: { readonly preview: PreviewFigures }): ReactNode {
  const { tokensBefore, tokensAfter, targetTokens, calls, timeMs } = preview;
  const isCostly = Math.max(preview.cost ?? 0, preview.costRange?.most ?? 0) > HIGH_COST_DOLLARS;
  const costNotes = [describeCostConfidence(preview), formatCallTokens(preview)]
    .filter((note) => note !== '')
    .join(' · ');
  const figures: readonly LabeledFigure[] = [
    [t('Tokens now'), t('{0}', tokensBefore), ''],
    [
      calls === 0 ? t('Tokens afterwards') : t('Tokens afterwards, about'),
      t('{0}', tokensAfter),
      tokensAfter > targetTokens ? t('misses the target of {0}', targetTokens) : t('target {0}', targetTokens),
    ],
    [t('Reduction'), formatPercent(computeReductionPercent(preview)), ''],
    [t('Cost'), formatPreviewCost(preview), costNotes, isCostly],
    [t('Time'), formatDuration(timeMs), calls === 0 ? '' : t('plus the model’s time')],
  ];
  return <FigureList figures={figures} />;
}
