/** The account in words, for the command line and the page. */
import { formatTokens } from '../condense/report/report';
import type { AccountRow, AccountTotal } from './account';
import type { PartKind } from './composition';

/** The parts of the context. */
export const PART_WORDS: Readonly<Record<PartKind, string>> = {
  people: "people's words",
  prose: "the model's prose",
  thinking: 'thinking',
  calls: 'parameters of tools',
  reads: 'files, read first',
  readAgain: 'files, read again',
  commands: 'output of commands',
  search: 'searches and lists',
  otherResults: 'other results',
  images: 'images',
  summaries: 'summaries',
  agent: "the agent's own words",
  fixed: 'instructions and tools',
};

/** What is known of a cost, and of how many requests nothing is. */
export const moneyOf = ({ cost, unpriced, requests }: Pick<AccountRow, 'cost' | 'unpriced' | 'requests'>): string =>
  unpriced === 0
    ? `$${cost.toFixed(2)}`
    : unpriced === requests
      ? 'cost not known'
      : `$${cost.toFixed(2)}, and ${formatTokens(unpriced)} requests whose price is not known`;

/** Behind a number of requests. */
export const REPLAYED_WORDS =
  "were made again from the conversation, since the agent does not record them: what its files don't hold is missing there";

/** The agents' own compactions. */
export const COMPACTION_WORDS = ({ count, recordedCost, estimatedCost }: AccountTotal['compactions']): string =>
  [
    `Compactions by the agents: ${count}`,
    ...(recordedCost > 0 ? [`recorded $${recordedCost.toFixed(2)}`] : []),
    ...(estimatedCost > 0
      ? [`about $${estimatedCost.toFixed(2)} that the agents do not record (in no other sum)`]
      : []),
  ].join(', ');
