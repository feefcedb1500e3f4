/**
 * A Claude Code transcript's record of its requests: each assistant's record carries the usage of the API's answer, and each block
 * of an answer has a record. What the last of them says counts: output grows while an answer streams.
 */
import type { RecordedCompaction, RecordedRequest, RecordedRequests } from '../../../core/account/recordedRequest';
import { promptTokens, type Usage } from '../../../core/cost/usage';
import { isRecord } from '../../../core/messages/blocks';
import type { ApiMessage } from '../../../core/messages/types';
import { isMachineMessage } from '../../../core/messages/personText';
import { type Fields, countIn, stringIn, timeIn } from '../../text/values';
import type { Branch } from './branch';
import type { ClaudeCodeRecord } from './record';

/**
 * @param everything the conversation's messages, `before` of them from before the last compaction
 * @returns nothing where no record tells of a usage, as in transcripts that were redacted
 */
export function recordedIn(
  records: readonly ClaudeCodeRecord[],
  branch: Branch,
  everything: readonly ApiMessage[],
  before: number,
): RecordedRequests | undefined {
  // Older versions copied the records of a resumed session: they were paid for in that one, whose file has them too.
  const session = branch.records.findLast(({ sessionId }) => sessionId !== undefined)?.sessionId;
  const own = records.filter(({ sessionId }) => sessionId === undefined || sessionId === session);
  // The first of equal ids: a compaction can write messages again under the old one.
  const at = new Map(everything.map((message, index) => [message['id'] ?? message, index] as const).reverse());
  const requests = new Map<unknown, RecordedRequest>();
  // Of no tokens at all: a session that was given back has the answers of the one that it goes on from (`conversations/write/claudeCode.ts`).
  let isComplete = false;
  for (const { message, isApiError, ...record } of own) {
    if (message?.role !== 'assistant' || isApiError || message['model'] === '<synthetic>') continue;
    const usage = message['usage'];
    if (isRecord(usage) && isNone(usageOf(usage))) {
      isComplete = true;
      continue;
    }
    const id = message['id'] ?? message;
    const time = timeIn(record, 'timestamp');
    const index = at.get(id);
    requests.set(id, {
      ...(time !== undefined && { at: time }),
      ...modelOf(message),
      ...(isRecord(usage) && { usage: usageOf(usage) }),
      ...(index !== undefined && !record.isSidechain && { message: index }),
      purpose: 'answer',
    });
  }
  if (!isComplete && ![...requests.values()].some(({ usage }) => usage)) return undefined;
  return {
    requests: [...requests.values()],
    compactions: compactionsIn(branch, everything, before),
    ...(isComplete && { isComplete }),
  };
}

const isNone = (usage: Usage): boolean => promptTokens(usage) === 0 && usage.outputTokens === 0;

function modelOf(message: ApiMessage): { model?: string } {
  const model = stringIn(message, 'model');
  return model === undefined ? {} : { model };
}

function usageOf(usage: Fields): Usage {
  const creation = usage['cache_creation'];
  const long = isRecord(creation) ? countIn(creation, 'ephemeral_1h_input_tokens') : 0;
  return {
    accounting: 'anthropic',
    source: 'reported',
    inputTokens: countIn(usage, 'input_tokens'),
    outputTokens: countIn(usage, 'output_tokens'),
    cacheReadTokens: countIn(usage, 'cache_read_input_tokens'),
    cacheWriteTokens: countIn(usage, 'cache_creation_input_tokens'),
    ...(long > 0 && { longCacheWriteTokens: long }),
  };
}

/** Each summary that Claude Code put in front; the last one's boundary is where resuming would read from. */
function compactionsIn(
  branch: Branch,
  everything: readonly ApiMessage[],
  before: number,
): readonly RecordedCompaction[] {
  const boundaries = branch.records.filter(({ subtype }) => subtype === 'compact_boundary');
  const starts = everything.flatMap((message, index) =>
    message['isCompactSummary'] === true && isMachineMessage(message) ? [index] : [],
  );
  return boundaries.flatMap((boundary, index): RecordedCompaction[] => {
    const isLast = index === boundaries.length - 1;
    const message = isLast ? before : starts[starts.length - boundaries.length + index];
    const at = timeIn({ ...boundary }, 'timestamp');
    if (message === undefined) return [];
    return [
      {
        message,
        ...(at !== undefined && { at }),
        ...(boundary.tokensBefore !== undefined && { tokensBefore: boundary.tokensBefore }),
      },
    ];
  });
}
