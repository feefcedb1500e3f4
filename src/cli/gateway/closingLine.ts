import { formatShare } from '../../core/percent';
import type { SummaryFigures } from '../../gateway/summaries';
import type { GatewayService } from './service';

export function formatClosingLines(
  service: Pick<GatewayService, 'summary' | 'condensations' | 'summaries' | 'notices' | 'pruned'>,
): string {
  const sentences = [
    ...service.notices.map((notice) => notice.words),
    ...service.pruned,
    ...describeSummaries(service.summaries()),
  ];
  return [...sentences.map((each) => `Context Condenser: ${each}`), formatClosingLine(service)].join('\n');
}

function formatClosingLine(service: Pick<GatewayService, 'summary' | 'condensations'>): string {
  const { requests, unreported, condensed, sentTokens, savedTokens, cost, costWithout } = service.summary();
  const condensations = service.condensations();
  const unknownCostText =
    unreported === 0
      ? ''
      : ` For ${formatCountedNoun(unreported, 'request')}, the vendor reported no usage that fits; their cost is unknown.`;
  if (savedTokens === 0)
    return `Context Condenser: ${formatCountedNoun(requests, 'request')}, nothing was condensed.${unknownCostText}`;
  const savedShare = formatShare(savedTokens, sentTokens + savedTokens, 0);
  const dollarText =
    cost === undefined || costWithout === undefined
      ? ''
      : `; $${cost.toFixed(2)} paid, about $${Math.max(0, costWithout - cost).toFixed(2)} saved`;
  return (
    `Context Condenser: ${formatCountedNoun(requests, 'request')}, ${condensed} of them condensed (${formatCountedNoun(condensations, 'condensation')}), ` +
    `${savedTokens.toLocaleString('en-US')} tokens saved (${savedShare})${dollarText}.${unknownCostText}`
  );
}

/**
 * Describes summaries separately: the agent's own figures don't include them, because the gateway
 * requested them.
 */
function describeSummaries(figures: SummaryFigures | undefined): string[] {
  if (!figures || figures.calls === 0) return [];
  const { calls, cost } = figures;
  const costText = cost === undefined ? 'what that cost is not known exactly' : `for $${cost.toFixed(2)}`;
  return [`The agent’s model was asked ${formatCountedNoun(calls, 'time')} for a summary, ${costText}.`];
}

const formatCountedNoun = (number: number, what: string): string =>
  `${number.toLocaleString('en-US')} ${what}${number === 1 ? '' : 's'}`;
