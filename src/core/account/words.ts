/** The account in words, for the command line, the page and the panel: no code of the host's. */
import { plural } from '../plural';
import type { AccountRow, AccountTotal } from './account';

type Money = Pick<AccountRow, 'cost' | 'replayedCost' | 'unpriced' | 'requests'>;

/** The known part of a cost, a range where some of it is replayed, and the number of requests whose cost is unknown. */
export function moneyOf(money: Money): string {
  const { unpriced, requests } = money;
  if (unpriced === requests && requests > 0) return 'cost not known';
  const { least, most } = costRange(money);
  const known = least === most ? `$${least.toFixed(2)}` : `$${least.toFixed(2)} to $${most.toFixed(2)}`;
  return unpriced === 0 ? known : `${known}, and ${plural(unpriced, 'request')} whose price is not known`;
}

/**
 * How many times its replayed cost a session may cost whose agent records nothing: system prompts and tools are not in its file, and
 * caches forget. The 90th percentile of sessions that do record it; the 10th is 1.05 (docs/decisions/0037-replayed-costs.md).
 */
const REPLAYED_AT_MOST = 2.5;

/** What is recorded, and what is replayed at its least and its most. US dollars. */
export const costRange = ({
  cost,
  replayedCost,
}: Pick<AccountRow, 'cost' | 'replayedCost'>): { readonly least: number; readonly most: number } => ({
  least: cost,
  most: cost + replayedCost * (REPLAYED_AT_MOST - 1),
});

/** Behind a number of requests that were made again. */
export const replayedWords = (requests: number): string =>
  `${requests === 1 ? 'was' : 'were'} replayed from the conversation, since the agent does not record usage: content that is not in its files is missing, so the real cost may be higher, usually up to ${REPLAYED_AT_MOST} times as much`;

/** The time that is accounted. */
export const periodWords = (days: number | undefined): string =>
  days === undefined ? 'All time' : days === 1 ? 'Today' : `The last ${days} days`;

/** The agents' own compactions. */
export const COMPACTION_WORDS = ({ count, recordedCost, estimatedCost }: AccountTotal['compactions']): string =>
  [
    `Compactions by the agents: ${count}`,
    ...(recordedCost > 0 ? [`recorded $${recordedCost.toFixed(2)}`] : []),
    ...(estimatedCost > 0
      ? [`about $${estimatedCost.toFixed(2)} that the agents do not record (not included in any other total)`]
      : []),
  ].join(', ');

/** The basis of the figures, in one line. */
export const WHAT_IF_ASSUMED =
  'Assumptions: the agent says and does the same, its own compactions stay, and each condensation restarts the cache after its first change; at the upper end, each place with lost lines is read once more.';
