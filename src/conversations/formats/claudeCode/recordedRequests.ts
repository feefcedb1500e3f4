import type { RecordedCompaction, RecordedRequests } from '../../../core/account/recordedRequest';
import { isMachineMessage } from '../../../core/messages/personText';
import type { ApiMessage } from '../../../core/messages/types';
import { readTime } from '../../text/values';
import type { ActiveBranch } from './branch';
import type { ClaudeRequests } from './usage';

/** @param allMessages all messages; the first `precedingCount` precede the last compaction */
export function readRecordedRequests(
  requests: ClaudeRequests,
  branch: ActiveBranch,
  allMessages: readonly ApiMessage[],
  precedingCount: number,
): RecordedRequests | undefined {
  // A compaction can write messages again, so the first of equal ids counts.
  const messageIndexById = new Map(
    allMessages.map((message, index) => [message['id'] ?? message, index] as const).reverse(),
  );
  const recordedRequests = requests.getResult((id) => messageIndexById.get(id));
  return recordedRequests && { ...recordedRequests, compactions: findCompactions(branch, allMessages, precedingCount) };
}

function findCompactions(
  branch: ActiveBranch,
  allMessages: readonly ApiMessage[],
  precedingCount: number,
): readonly RecordedCompaction[] {
  const boundaries = branch.records.filter(({ subtype }) => subtype === 'compact_boundary');
  const summaryIndexes = allMessages.flatMap((message, index) =>
    message['isCompactSummary'] === true && isMachineMessage(message) ? [index] : [],
  );
  return boundaries.flatMap((boundary, index): RecordedCompaction[] => {
    const isLast = index === boundaries.length - 1;
    const message = isLast ? precedingCount : summaryIndexes[summaryIndexes.length - boundaries.length + index];
    const timeMs = readTime({ ...boundary }, 'timestamp');
    if (message === undefined) return [];
    return [
      {
        message,
        ...(timeMs !== undefined && { at: timeMs }),
        ...(boundary.tokensBefore !== undefined && { tokensBefore: boundary.tokensBefore }),
      },
    ];
  });
}
