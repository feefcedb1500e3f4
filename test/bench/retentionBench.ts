/** Compares how much later turns find again with our providers and with other tools' rules. */
import type { Estimate } from './bootstrap';
import type { BenchConversation } from './corpus';
import { CANDIDATES, freshCounter } from './measure';
import { headTail, identity, maskResults, providerPolicy, slidingWindow } from './policies';
import { KINDS, measureRetention, type Policy, type Retention, type RetentionReport } from './retention';
import { percent, table } from './table';

export interface RetentionRow extends RetentionReport {
  /** All sessions, or those of one format. */
  readonly group: string;
  readonly policy: string;
}

const POLICIES: readonly (readonly [string, () => Policy])[] = [
  ['nothing', () => identity],
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
    const own = conversations.filter(({ format }) => group === 'all' || format === group);
    for (const [policy, make] of POLICIES) {
      rows.push({
        group,
        policy,
        ...(await measureRetention(
          own.map(({ messages }) => messages),
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
  const parts = [...new Set(rows.map(({ group }) => group))].map((group) => {
    const own = rows.filter((row) => row.group === group);
    const first = own[0];
    const needed = first ? KINDS.map((kind) => `${first[kind].needed} ${kind}`).join(', ') : '';
    return [
      `${group}: ${first?.sessions ?? 0} sessions, ${first?.cuts ?? 0} cuts, needed ${needed}`,
      table(
        ['policy', 'tokens removed', 'lines verbatim → recallable', 'names', 'paths'],
        own.map((row) => [row.policy, interval(row.removed), ...KINDS.map((kind) => cell(row[kind]))]),
      ),
    ].join('\n');
  });
  return parts.join('\n\n');
}
