/**
 * Selects messages as OpenCode's `filterCompacted` does (message-v2.ts, 1.2 to 1.14): from the last
 * finished compaction on, with the messages that it kept placed after the summary.
 */
import type { Fields } from '../../text/values';

export interface OpenCodeMessage {
  readonly info: Fields;
  readonly parts: readonly Fields[];
}

const findCompaction = ({ parts }: OpenCodeMessage): Fields | undefined =>
  parts.find(({ type }) => type === 'compaction');

export function selectActiveMessages(messages: readonly OpenCodeMessage[]): readonly OpenCodeMessage[] {
  // In OpenCode 2 the compaction message itself contains all that was kept of earlier messages.
  const checkpointIndex = messages.findLastIndex(({ info }) => info['checkpoint'] === true);
  if (checkpointIndex !== -1) return messages.slice(checkpointIndex);
  const summaryIndex = messages.findLastIndex(({ info }) => isFinishedSummary(info));
  const parentId = messages[summaryIndex]?.info['parentID'];
  const requestIndex = messages.findLastIndex((message) => message.info['id'] === parentId && findCompaction(message));
  const compaction = messages[requestIndex];
  if (summaryIndex === -1 || requestIndex === -1 || !compaction) return messages;

  const tailId = findCompaction(compaction)?.['tail_start_id'];
  const tailStart = tailId === undefined ? -1 : messages.findIndex(({ info }) => info['id'] === tailId);
  const hasTail = tailStart >= 0 && tailStart < requestIndex && summaryIndex > requestIndex;
  return [
    ...messages.slice(requestIndex, summaryIndex + 1),
    ...(hasTail ? messages.slice(tailStart, requestIndex) : []),
    ...messages.slice(summaryIndex + 1),
  ];
}

const isFinishedSummary = (info: Fields): boolean =>
  info['role'] === 'assistant' &&
  info['summary'] === true &&
  Boolean(info['finish']) &&
  (info['error'] === undefined || info['error'] === null);
