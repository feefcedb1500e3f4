/**
 * Compares our providers with other tools' rules: how much of what later turns need is still there.
 */
import type { Estimate } from './bootstrap';
import type { BenchConversation } from './corpus';
import { CANDIDATES, freshCounter } from './measure';
import { headTail, keepEverything, maskResults, providerPolicy, slidingWindow } from './policies';
import { ITEM_KINDS, measureRetention, type CondensingPolicy, type Retention, type RetentionReport } from './retention';
import { percent, table } from './table';

export interface RetentionRow extends RetentionReport {
  /** All sessions, or those of one format. */
  readonly group: string;
  readonly policy: string;
}

const POLICIES: readonly (readonly [string, () => CondensingPolicy])[] = [
  ['nothing', () => keepEverything],
  ...CANDIDATES.map(
    ({ name, provider, config }) => [name, () => providerPolicy(provider, config, freshCounter())] as const,
  ),
  ['keep 40 results', () => maskResults(40)],
  ['keep 20 results', () => maskResults(20)],
  ['keep 10 results', () => maskResults(10)],
  ['head and tail 8,000', () => headTail(8_000)],
  ['newest half', () => slidingWindow(0.5)],
];

export async function benchRetention(conversations: readonly BenchConversation[]): Promise<RetentionRow[]> {
  const formats = [...new Set(conversations.map(({ format }) => format))];
  const counter = freshCounter();
  const size = counter.countMessages.bind(counter);
  const rows: RetentionRow[] = [];
  for (const group of formats.length > 1 ? ['all', ...formats] : formats) {
    const groupConversations = conversations.filter(({ format }) => group === 'all' || format === group);
    for (const [policy, make] of POLICIES) {
      rows.push({
        group,
        policy,
        ...(await measureRetention(
          groupConversations.map(({ messages }) => messages),
          make(),
          { size },
        )),
      });
    }
  }
  return rows.filter(({ cuts }) => cuts > 0);
}

const interval = ({ share, low, high }: Estimate): string =>
  Number.isNaN(share) ? '–' : `${percent(share)} [${(low * 100).toFixed(1)}–${(high * 100).toFixed(1)}]`;

const cell = ({ verbatim, recallable }: Retention): string =>
  recallable.share === verbatim.share ? interval(verbatim) : `${interval(verbatim)} → ${percent(recallable.share)}`;

export function retentionTable(rows: readonly RetentionRow[]): string {
  const groupTables = [...new Set(rows.map(({ group }) => group))].map((group) => {
    const groupRows = rows.filter((row) => row.group === group);
    const firstRow = groupRows[0];
    const neededText = firstRow ? ITEM_KINDS.map((kind) => `${firstRow[kind].needed} ${kind}`).join(', ') : '';
    return [
      `${group}: ${firstRow?.sessions ?? 0} sessions, ${firstRow?.cuts ?? 0} cuts, needed ${neededText}`,
      table(
        ['policy', 'tokens removed', 'lines verbatim → recallable', 'names', 'paths'],
        groupRows.map((row) => [row.policy, interval(row.removed), ...ITEM_KINDS.map((kind) => cell(row[kind]))]),
      ),
    ].join('\n');
  });
  return groupTables.join('\n\n');
}
