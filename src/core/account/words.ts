/** The account in words, for the command line, the page and the panel: no code of the host's. */
import type { AccountRow, AccountTotal } from './account';

/** The known part of a cost, and the number of requests whose cost is unknown. */
export const moneyOf = ({ cost, unpriced, requests }: Pick<AccountRow, 'cost' | 'unpriced' | 'requests'>): string =>
  unpriced === 0
    ? `$${cost.toFixed(2)}`
    : unpriced === requests
      ? 'cost not known'
      : `$${cost.toFixed(2)}, and ${unpriced.toLocaleString('en-US')} requests whose price is not known`;

/** Behind a number of requests. */
export const REPLAYED_WORDS =
  'were replayed from the conversation, since the agent does not record them: content that is not in its files is missing';

/** The agents' own compactions. */
export const COMPACTION_WORDS = ({ count, recordedCost, estimatedCost }: AccountTotal['compactions']): string =>
  [
    `Compactions by the agents: ${count}`,
    ...(recordedCost > 0 ? [`recorded $${recordedCost.toFixed(2)}`] : []),
    ...(estimatedCost > 0
      ? [`about $${estimatedCost.toFixed(2)} that the agents do not record (in no other total)`]
      : []),
  ].join(', ');

/** What the figures stand on, in one line. */
export const WHAT_IF_ASSUMED =
  'Assumed: the agent says and does the same, its own compactions stay, each condensation begins the cache anew behind its first change; at the upper end each place with lost lines is read once more.';
