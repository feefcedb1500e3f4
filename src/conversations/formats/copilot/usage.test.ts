import { expect, it } from 'vitest';
import { CopilotRequests } from './usage';

type Fields = Readonly<Record<string, unknown>>;

const counts = (input: number): Fields => ({
  ...{ model: 'gpt-5.1', inputTokens: input, outputTokens: 17, cacheReadTokens: 5, cacheWriteTokens: 0 },
});
const record = (sequence: number, input: number): Fields => ({
  type: 'session.usage_record',
  data: { usage: { ...counts(input), isByok: true, accounting: { sourceSessionId: 's', sequence } } },
});
const compaction = (input: number, attempt = 'a'): Fields => ({
  type: 'session.compaction_complete',
  data: { success: true, compactionAttemptId: attempt, compactionTokensUsed: counts(input) },
});
const collect = (events: readonly Fields[]) => {
  const requests = new CopilotRequests();
  for (const event of [{ type: 'session.start', data: { sessionId: 's' } }, ...events]) requests.takeRecord(event);
  return requests.getResult()?.requests.map(({ usage, purpose, seller }) => [usage?.inputTokens, purpose, seller]);
};

it.each<[string, readonly Fields[]]>([
  ['beside the records of requests, as 1.0.102 does for /compact', [record(1, 100), compaction(70)]],
  ['with a record before it', [record(1, 100), record(2, 70), compaction(70)]],
  ['with a record behind it', [record(1, 100), compaction(70), record(2, 70)]],
  ['twice', [record(1, 100), compaction(70), compaction(70)]],
])('a Copilot CLI compaction is counted once if it is recorded %s', (_, events) => {
  expect(collect(events)).toEqual([
    [100, 'answer', undefined],
    [70, 'compaction', undefined],
  ]);
});
