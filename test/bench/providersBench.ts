/** Measures removed tokens, time and memory for each conversation and provider. */
import type { BenchConversation } from './corpus';
import { CANDIDATES, measureMemory, measureTime, warmUp, type Measurement, type MemoryMeasurement } from './measure';
import { megabytes, millis, percent, table } from './table';

export interface ProviderRow extends Measurement, MemoryMeasurement {
  readonly conversation: string;
  readonly provider: string;
}

export async function benchProviders(conversations: readonly BenchConversation[]): Promise<ProviderRow[]> {
  const rows: ProviderRow[] = [];
  await warmUp(conversations[0]?.messages ?? []);
  for (const { name, messages } of conversations) {
    for (const candidate of CANDIDATES) {
      const time = await measureTime(messages, candidate);
      // A JSON copy has its own strings, like a conversation that was just read.
      const memory = await measureMemory(() => JSON.parse(JSON.stringify(messages)) as typeof messages, candidate);
      rows.push({ conversation: name, provider: candidate.name, ...time, ...memory });
    }
  }
  return rows;
}

export function providersTable(rows: readonly ProviderRow[]): string {
  const totals = CANDIDATES.map(({ name }) => {
    const providerRows = rows.filter(({ provider }) => provider === name);
    const before = providerRows.reduce((sum, row) => sum + row.tokensBefore, 0);
    const after = providerRows.reduce((sum, row) => sum + row.tokensAfter, 0);
    return ['all together', name, before, after, percent(1 - after / before), '', '', '', ''];
  });
  return table(
    ['conversation', 'provider', 'tokens before', 'after', 'reduction', 'edits', 'time', 'processor', 'peak memory'],
    [
      ...rows.map((row) => [
        row.conversation,
        row.provider,
        row.tokensBefore,
        row.tokensAfter,
        percent(1 - row.tokensAfter / row.tokensBefore),
        row.edits,
        millis(row.timeMs),
        millis(row.cpuMs),
        `${megabytes(row.peak)} (${(row.peak / row.messages).toFixed(2)} ×)`,
      ]),
      ...totals,
    ],
  );
}
