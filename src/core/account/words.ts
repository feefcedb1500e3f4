import type { AgentName } from '../agents';
import { formatShare } from '../percent';
import { formatPlural } from '../plural';
import type { AccountRow, AccountTotal } from './account';
import { MIN_SENDS_COUNTED_OFTEN } from './parts';
import type { WhatIfSum } from './whatIf';

type CostAndRequests = Pick<AccountRow, 'cost' | 'replayedCost' | 'unpriced' | 'requests'>;

/** True if no request's price is known. */
export const isCostUnknown = ({
  unpriced,
  requests,
  cost,
}: Pick<AccountRow, 'cost' | 'unpriced' | 'requests'>): boolean => unpriced >= requests && unpriced > 0 && cost === 0;

export function formatAccountCost(money: CostAndRequests): string {
  const { unpriced, requests } = money;
  if (isCostUnknown(money)) return 'cost not known';
  const { least: lowest, most: highest } = computeCostRange(money);
  const range = lowest === highest ? `$${lowest.toFixed(2)}` : `$${lowest.toFixed(2)} to $${highest.toFixed(2)}`;
  if (unpriced === 0) return range;
  // Parts of a request have prices of their own, so the parts without one may outnumber the requests.
  if (unpriced >= requests) return `${range} (some prices are not known)`;
  return `${range} (without ${formatPlural(unpriced, 'request')} whose price is not known)`;
}

/**
 * 90th percentile of the ratio of real to replayed cost: a session's file lacks system prompts and
 * tools, and caches expire (docs/research/costs.md).
 */
const MAX_REPLAY_FACTOR = 2.5;

export const computeCostRange = ({
  cost,
  replayedCost,
}: Pick<AccountRow, 'cost' | 'replayedCost'>): { readonly least: number; readonly most: number } => ({
  least: cost,
  most: cost + replayedCost * (MAX_REPLAY_FACTOR - 1),
});

export const describeEstimatedSessions = ({ estimated }: Pick<AccountTotal, 'estimated'>): string =>
  estimated.length === 0
    ? ''
    : `estimated: ${estimated.map(({ agent, sessions }) => `${formatPlural(sessions, 'session')} of ${agent}`).join(', ')}`;

export function describeReplayedRequests(requests: number, { estimated }: Pick<AccountTotal, 'estimated'>): string {
  const estimateText = `${requests === 1 ? 'was' : 'were'} replayed from the conversation, since the agent does not record usage: an estimate.`;
  const limitText = `Content that is not in its files is missing: the real cost is usually up to ${MAX_REPLAY_FACTOR} times as much`;
  const isCopilot = estimated.some(({ agent }) => agent === COPILOT_CLI_NAME);
  return `${estimateText} ${limitText}${isCopilot ? `; for ${COPILOT_CLI_NAME} it is often less` : ''}`;
}

/** Two sessions of version 1.0.74 were charged 40 and 53 % of their replayed cost. */
const COPILOT_CLI_NAME: AgentName = 'Copilot CLI';

export const describePeriod = (days: number | undefined): string =>
  days === undefined ? 'All time' : days === 1 ? 'Today' : `The last ${days} days`;

export const describeSessionsWithoutParts = ({ uncomposed }: Pick<AccountTotal, 'uncomposed'>): string =>
  uncomposed === 0
    ? ''
    : `${formatPlural(uncomposed, 'session')} ${uncomposed === 1 ? 'is' : 'are'} too large or damaged to look into: only the requests are counted.`;

export function describeUnreadSessions({ unread }: Pick<AccountTotal, 'unread'>): string {
  const sessionCount = unread.reduce((sum, { sessions }) => sum + sessions, 0);
  if (sessionCount === 0) return '';
  const reasonTexts = unread.slice(0, MAX_SHOWN_UNREAD_REASONS).map(({ reason, sessions }) => `${sessions}: ${reason}`);
  const otherSessions = unread.slice(MAX_SHOWN_UNREAD_REASONS).reduce((sum, { sessions }) => sum + sessions, 0);
  const reasons = [...reasonTexts, ...(otherSessions > 0 ? [`${otherSessions} for other reasons`] : [])].join('; ');
  return `not included: ${formatPlural(sessionCount, 'session')} that could not be read (${reasons})`;
}

const MAX_SHOWN_UNREAD_REASONS = 3;

export const describeSessionTree = ({ tree }: Pick<AccountRow, 'tree'>): string =>
  tree && tree.sessions > 1
    ? `with ${formatPlural(tree.sessions - 1, 'session')} below: ${formatAccountCost(tree)}`
    : '';

export const describeCompactions = ({ count, recordedCost, estimatedCost }: AccountTotal['compactions']): string =>
  [
    `Compactions by the agents: ${count}`,
    ...(recordedCost > 0 ? [`recorded $${recordedCost.toFixed(2)}`] : []),
    ...(estimatedCost > 0
      ? [`about $${estimatedCost.toFixed(2)} that the agents do not record (not included in any other total)`]
      : []),
  ].join(', ');

export const describeTokensSentOften = (sentOften: number, sent: number): string =>
  `${formatShare(sentOften, sent, 1)} of these tokens had already been sent at least ${MIN_SENDS_COUNTED_OFTEN} times; they are included in the shares above.`;

export function describeLostLines({
  condensations,
  needed: neededLines,
  missing: missingLines,
  recallable,
}: Pick<WhatIfSum, 'condensations' | 'needed' | 'missing' | 'recallable'>): string {
  const formatCount = (lines: number): string => lines.toLocaleString('en-US');
  if (condensations === 0) return 'needed lines lost: none, as nothing would have been condensed';
  if (neededLines === 0) return 'needed lines lost: none, as no later edit quoted lines from before a condensation';
  if (missingLines === 0) return `needed lines lost: none of ${formatCount(neededLines)}`;
  const recallableText =
    recallable === missingLines ? 'all recallable' : `${formatCount(recallable)} of them recallable`;
  return `needed lines lost: ${formatShare(missingLines, neededLines, 1)} (${formatCount(missingLines)} of ${formatCount(neededLines)}), ${recallableText}`;
}

export function describeWhatIfCounts({
  condensations,
  condensed,
  sessions,
  unknown: unknownCount,
}: Pick<WhatIfSum, 'condensations' | 'condensed' | 'sessions' | 'unknown'>): string {
  const uncondensedCount = sessions - condensed - unknownCount;
  const qualifier = unknownCount > 0 ? ' whose window and price are known' : '';
  const unchangedSentences =
    unknownCount === 1
      ? ['1 session is counted unchanged because its window or price is not known.']
      : unknownCount > 1
        ? [`${formatPlural(unknownCount, 'session')} are counted unchanged because their window or price is not known.`]
        : [];
  const timesSentence =
    condensed > 0
      ? `It would have condensed ${formatPlural(condensations, 'time')} in ${condensed.toLocaleString('en-US')} of ${formatPlural(sessions, 'session')}${uncondensedCount > 0 ? '; the others were never long enough' : ''}.`
      : uncondensedCount > 0
        ? `It would never have condensed: no session${qualifier} was long enough.`
        : undefined;
  return [...(timesSentence === undefined ? [] : [timesSentence]), ...unchangedSentences].join(' ');
}

export const WHAT_IF_ASSUMPTIONS =
  'Assumptions: the agent says and does the same, its own compactions stay, and each condensation restarts the cache after its first change; at the upper end, each place with lost lines is read once more.';

const formatDollars = (value: number): string => `$${value.toFixed(2)}`;

/** Formats "All sessions: $41.20; with File-Aware: $27.90 to $28.40; …". */
export function formatWhatIfHeadline(sum: WhatIfSum, period: string, name: string): string {
  const { cost, after: costAfter, atMost: maxCost } = sum;
  const range =
    formatDollars(costAfter) === formatDollars(maxCost)
      ? formatDollars(costAfter)
      : `${formatDollars(costAfter)} to ${formatDollars(maxCost)}`;
  return `${period}: ${formatDollars(cost)}; with ${name}: ${range}; ${describeLostLines(sum)}.`;
}
