/**
 * Claude Code writes one record per content block, all with the same `message.id`. Results of
 * parallel calls are children of their calls' records, so the path to the newest record misses most
 * of them.
 */
import { getBlocks, isToolResult, isToolUse } from '../../../core/messages/blocks';
import type { ApiMessage, Block } from '../../../core/messages/types';
import type { ClaudeCodeRecord } from './record';
import { insertAttachmentMessages } from './additions';

export interface JoinedMessages {
  readonly messages: readonly ApiMessage[];
  readonly used: ReadonlySet<ClaudeCodeRecord>;
}

type MessageRecord = ClaudeCodeRecord & { readonly message: ApiMessage };

/** Claude Code records errors as assistant messages but never sends them. */
const isRecordOfSentMessage = (record: ClaudeCodeRecord): record is MessageRecord =>
  record.message !== undefined && !record.isApiError;

const isAssistantRecord = ({ message }: MessageRecord): boolean => message.role === 'assistant';

const listToolResultIds = ({ message }: MessageRecord): readonly string[] =>
  getBlocks(message)
    .filter(isToolResult)
    .map((block) => block.tool_use_id);

/** @param thread all records in file order */
export function joinRecordsIntoMessages(
  branch: readonly ClaudeCodeRecord[],
  thread: readonly ClaudeCodeRecord[],
): JoinedMessages {
  const sentRecords = branch.filter(isRecordOfSentMessage);
  const branchRecords = new Set(sentRecords);
  const otherRecords = dropCopiedRecords(sentRecords, thread).filter((record) => !branchRecords.has(record));
  const siblings = findRecordsOfSameAnswer(sentRecords, otherRecords);
  const answeredIds = new Set(sentRecords.flatMap(listToolResultIds));
  const resultsOffBranch = new Map<string, MessageRecord>();
  for (const record of otherRecords) for (const id of listToolResultIds(record)) resultsOffBranch.set(id, record);

  const messages: ApiMessage[] = [];
  const messageIndexes = new Map<ClaudeCodeRecord, number>();
  const createMessage = (records: readonly MessageRecord[]): ApiMessage => {
    for (const record of records) messageIndexes.set(record, messages.length);
    return joinMessageParts(records.map(({ message }) => message));
  };
  sentRecords.forEach((record, index) => {
    if (messageIndexes.has(record)) return;
    if (!isAssistantRecord(record)) {
      messages.push(createMessage([record]));
      return;
    }
    const answerParts = sortByFilePosition(collectAnswerParts(sentRecords, index, siblings));
    messages.push(createMessage(answerParts));
    const callIds = new Set(answerParts.flatMap(listToolCallIds));
    const resultsOfOtherBranches = [...callIds]
      .filter((id) => !answeredIds.has(id))
      .map((id) => resultsOffBranch.get(id));
    const resultRecords = [
      ...collectResultRecords(sentRecords, index, callIds),
      ...resultsOfOtherBranches.filter((result) => result !== undefined),
    ];
    const newResults = sortByFilePosition([...new Set(resultRecords)].filter((result) => !messageIndexes.has(result)));
    if (newResults.length > 0)
      messages.push(moveToolResultsBeforeOtherBlocks(createMessage(newResults), newResults.length));
  });
  return {
    messages: insertAttachmentMessages(
      messages,
      (record) => messageIndexes.get(record),
      addAttachmentsBesidePath(branch, messageIndexes, thread),
    ),
    used: new Set(messageIndexes.keys()),
  };
}

/**
 * Adds attachments that are off the path: hook output and a result can be children of the same
 * call's record, and only one of them is on the path.
 */
function addAttachmentsBesidePath(
  branch: readonly ClaudeCodeRecord[],
  messageIndexes: ReadonlyMap<ClaudeCodeRecord, number>,
  thread: readonly ClaudeCodeRecord[],
): readonly ClaudeCodeRecord[] {
  const branchRecords = new Set(branch);
  const messageIndexByUuid = new Map<string, number>();
  for (const [{ uuid, message }, place] of messageIndexes) {
    if (uuid !== undefined && message && getBlocks(message).some((block) => isToolUse(block) || isToolResult(block))) {
      messageIndexByUuid.set(uuid, place);
    }
  }
  const otherRecords: { readonly record: ClaudeCodeRecord; readonly place: number }[] = [];
  for (const record of thread) {
    const messageIndex =
      record.attachment && !branchRecords.has(record) ? messageIndexByUuid.get(record.parent ?? '') : undefined;
    if (messageIndex === undefined) continue;
    // Attachments can be each other's parents.
    if (record.uuid !== undefined) messageIndexByUuid.set(record.uuid, messageIndex);
    otherRecords.push({ record, place: messageIndex });
  }
  if (otherRecords.length === 0) return branch;
  const attachmentsByRecord = Map.groupBy(otherRecords, ({ place }) =>
    branch.findLast((record) => (messageIndexes.get(record) ?? Infinity) <= place),
  );
  return branch.flatMap((record) => [record, ...(attachmentsByRecord.get(record) ?? []).map((each) => each.record)]);
}

const sortByFilePosition = (records: readonly MessageRecord[]): readonly MessageRecord[] =>
  [...records].sort((a, b) => a.line - b.line);

const listToolCallIds = ({ message }: MessageRecord): readonly string[] =>
  getBlocks(message)
    .filter(isToolUse)
    .map(({ id }) => id);

type SiblingsByRecord = ReadonlyMap<MessageRecord, readonly MessageRecord[]>;

/**
 * Groups assistant records off the path by the record of the same answer that is on the path and
 * precedes them.
 */
function findRecordsOfSameAnswer(
  sentRecords: readonly MessageRecord[],
  otherRecords: readonly MessageRecord[],
): SiblingsByRecord {
  const answersByKey = Map.groupBy(sentRecords.filter(isAssistantRecord), getMessageKey);
  return Map.groupBy(
    otherRecords.filter((record) => isAssistantRecord(record) && answersByKey.has(getMessageKey(record))),
    (record) => {
      const ownSiblings = answersByKey.get(getMessageKey(record)) ?? [];
      return ownSiblings.findLast(({ line }) => line <= record.line) ?? ownSiblings[0] ?? record;
    },
  );
}

/**
 * Collects the records of one API message: consecutive records on the path, interrupted only by
 * early results of its own calls, and their siblings.
 */
function collectAnswerParts(
  sentRecords: readonly MessageRecord[],
  index: number,
  siblings: SiblingsByRecord,
): MessageRecord[] {
  const firstRecord = sentRecords[index];
  if (!firstRecord) return [];
  const answerParts: MessageRecord[] = [];
  const callIds = new Set<string>();
  const addRecord = (record: MessageRecord): void => {
    for (const part of [record, ...(siblings.get(record) ?? [])]) {
      answerParts.push(part);
      for (const callId of listToolCallIds(part)) callIds.add(callId);
    }
  };
  addRecord(firstRecord);
  for (let recordIndex = index + 1; recordIndex < sentRecords.length; recordIndex += 1) {
    const record = sentRecords[recordIndex];
    if (!record) break;
    if (isAssistantRecord(record)) {
      if (getMessageKey(record) !== getMessageKey(firstRecord)) break;
      addRecord(record);
    } else if (!listToolResultIds(record).some((id) => callIds.has(id))) break;
  }
  return answerParts;
}

const getMessageKey = (record: MessageRecord): unknown => record.message['id'] ?? record;

/** A compaction can write messages again under their UUIDs; only the copy on the branch counts. */
function dropCopiedRecords(
  sentRecords: readonly MessageRecord[],
  thread: readonly ClaudeCodeRecord[],
): readonly MessageRecord[] {
  const branchRecordByUuid = new Map(sentRecords.map((record) => [record.uuid, record]));
  return thread
    .filter(isRecordOfSentMessage)
    .filter((record) => (branchRecordByUuid.get(record.uuid) ?? record) === record);
}

/**
 * Collects the results of an answer's calls up to the next assistant message. If there are some,
 * results directly after that message count, too.
 */
function collectResultRecords(
  sentRecords: readonly MessageRecord[],
  index: number,
  calls: ReadonlySet<string>,
): readonly MessageRecord[] {
  const ownRecord = sentRecords[index];
  const resultRecords: MessageRecord[] = [];
  const takenIds = new Set<string>();
  let phaseAfterAnswer: 'no' | 'assistant' | 'results' = 'no';
  for (let recordIndex = index + 1; recordIndex < sentRecords.length; recordIndex += 1) {
    const record = sentRecords[recordIndex];
    if (!ownRecord || !record) break;
    if (isAssistantRecord(record)) {
      if (phaseAfterAnswer === 'no' && getMessageKey(record) === getMessageKey(ownRecord)) continue;
      if (phaseAfterAnswer === 'results' || resultRecords.length === 0) break;
      phaseAfterAnswer = 'assistant';
      continue;
    }
    if (phaseAfterAnswer === 'assistant') phaseAfterAnswer = 'results';
    const openIds = listToolResultIds(record).filter((id) => calls.has(id) && !takenIds.has(id));
    // One message must not contain two answers to a call.
    if (openIds.length === 0) continue;
    for (const id of openIds) takenIds.add(id);
    resultRecords.push(record);
  }
  return resultRecords;
}

/** Joins the content; other fields take the last value, since `usage` and `stop_reason` grow. */
function joinMessageParts(messages: readonly ApiMessage[]): ApiMessage {
  const [firstMessage, ...otherMessages] = messages;
  if (!firstMessage || otherMessages.length === 0) return firstMessage ?? { role: 'user', content: [] };
  let joinedMessage = firstMessage;
  for (const otherMessage of otherMessages)
    joinedMessage = {
      ...joinedMessage,
      ...otherMessage,
      content: [...getContentAsBlocks(joinedMessage), ...getContentAsBlocks(otherMessage)],
    };
  return joinedMessage;
}

const getContentAsBlocks = ({ content }: ApiMessage): readonly Block[] => {
  if (typeof content !== 'string') return content;
  return content === '' ? [] : [{ type: 'text', text: content }];
};

/** The API wants results first. A message stored in one record stays unchanged. */
function moveToolResultsBeforeOtherBlocks(message: ApiMessage, records: number): ApiMessage {
  if (records === 1) return message;
  const blocks = getBlocks(message);
  const isOtherBlock = (block: Block): boolean => !isToolResult(block);
  return { ...message, content: [...blocks.filter(isToolResult), ...blocks.filter(isOtherBlock)] };
}
