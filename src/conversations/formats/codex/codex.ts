import { isRecord } from '../../../core/messages/blocks';
import { selectRecordedRequests, type RecordedRequests } from '../../../core/account/recordedRequest';
import type { Fields } from '../../text/values';
import type { EarlierRecords } from '../format';
import type { ApiMessage } from '../../../core/messages/types';
import { convertItemsToMessages } from './items';
import { type CodexItem, type CodexRollout, parseRollout } from './rollout';
import { makeSourceId, getSourceName } from '../../conversationId';
import { readLines } from '../../text/lines';
import { formatPlural } from '../../../core/plural';
import { describeOmittedMessages, createNoMessagesError, describeSkippedRecords } from '../../notes';
import { UNTITLED, makeConversationTitle } from '../../title';
import type { Conversation, ReadOptions, InputSource, ConversationNote } from '../../types';
import { describeUnansweredCalls } from '../unanswered';

/** Before September 2025 Codex stored bare items of the Responses API, without an envelope. */
export const isCodexRecord = (value: Fields): boolean => {
  const { type } = value;
  if (typeof type === 'string' && isRecord(value['payload'])) return true;
  return (
    'record_type' in value ||
    (type === 'message' && Array.isArray(value['content'])) ||
    ITEM_TYPES_WITHOUT_ENVELOPE.has(type)
  );
};

const ITEM_TYPES_WITHOUT_ENVELOPE = new Set<unknown>([
  'reasoning',
  'function_call',
  'function_call_output',
  'local_shell_call',
]);

/**
 * `active`: the last compaction's replacement history and what follows.
 * @throws {ConversationReadError} for damaged lines or no messages
 */
export function readCodex(
  input: string | Uint8Array,
  source: InputSource,
  options: ReadOptions = {},
  earlierRecords: readonly EarlierRecords[] = [],
): Conversation {
  const name = getSourceName(source);
  const rollout = parseRollout(readLines(input, name), name, earlierRecords);
  const owners = new Map<CodexItem, ApiMessage>();
  const allMessages = convertItemsToMessages(rollout.allItems, owners);
  if (allMessages.length === 0) {
    throw createNoMessagesError(
      name,
      'a Codex rollout with "response_item" records',
      rollout.skippedByKind,
      rollout.notes,
    );
  }
  const messages = options.history === 'all' ? allMessages : convertItemsToMessages(rollout.active);
  return {
    id: rollout.id === undefined ? makeSourceId(source, input) : `codex:${rollout.id}`,
    format: 'codex',
    title: makeSessionTitle(rollout, allMessages),
    messages,
    notes: [
      ...rollout.notes,
      ...collectReadNotes(rollout, allMessages, messages),
      ...describeUnansweredCalls(messages),
    ],
    sidechains: [],
    ...(rollout.parent !== undefined && { parent: `codex:${rollout.parent}` }),
    ...(rollout.workspace !== undefined && { workspace: rollout.workspace }),
    ...(rollout.instructions !== undefined && { request: { system: rollout.instructions } }),
    ...selectRecordedRequests(options.history, readRecordedRequests(rollout, allMessages, owners), allMessages.length),
  };
}

/** Titles a fork by its own first prompt, which distinguishes it from its origin. */
function makeSessionTitle(
  { allItems: items, lastInherited }: CodexRollout,
  allMessages: readonly ApiMessage[],
): string {
  const firstOwnIndex = lastInherited === undefined ? 0 : items.lastIndexOf(lastInherited) + 1;
  const ownTitle =
    firstOwnIndex === 0 ? UNTITLED : makeConversationTitle(convertItemsToMessages(items.slice(firstOwnIndex)));
  return ownTitle === UNTITLED ? makeConversationTitle(allMessages) : ownTitle;
}

/**
 * Codex writes token counts after the answer, sometimes only after the results of its tool calls.
 */
function readRecordedRequests(
  { requests, compactions, session, hasCompactions, lastInherited }: CodexRollout,
  allMessages: readonly ApiMessage[],
  owners: ReadonlyMap<CodexItem, ApiMessage>,
): RecordedRequests {
  const indexByMessage = new Map(allMessages.map((message, index) => [message, index]));
  const findMessageIndex = (item: CodexItem | undefined): number | undefined => {
    const ownerMessage = item && owners.get(item);
    return ownerMessage && indexByMessage.get(ownerMessage);
  };
  const findAnswer = (index: number | undefined): number | undefined =>
    index === undefined ? undefined : allMessages.findLastIndex(({ role }, at) => at <= index && role === 'assistant');
  return {
    requests: requests.map(({ request, item }) => {
      const message = findAnswer(findMessageIndex(item));
      return message === undefined || message === -1 ? request : { ...request, message };
    }),
    compactions: compactions.flatMap(({ item, at }) => {
      const index = item === undefined ? -1 : findMessageIndex(item);
      return index === undefined ? [] : [{ message: index + 1, ...(at !== undefined && { at }) }];
    }),
    session,
    hasCompactions,
    ...(lastInherited !== undefined && { ownFrom: (findMessageIndex(lastInherited) ?? -1) + 1 }),
  };
}

function collectReadNotes(
  { rolledBack, skippedByKind, unknown, declarations, compactions }: CodexRollout,
  allMessages: readonly ApiMessage[],
  messages: readonly ApiMessage[],
): ConversationNote[] {
  return [
    ...(compactions.length > 0 && messages !== allMessages
      ? [describeOmittedMessages(Math.max(0, allMessages.length - messages.length), 'before the last compaction')]
      : []),
    ...(rolledBack > 0 ? [`Left out: ${formatPlural(rolledBack, 'turn')} taken back (rollback).`] : []),
    ...describeSkippedRecords(new Map([...unknown, ...skippedByKind]), skippedByKind),
    ...(declarations > 0
      ? [`Declares tools to the model beside the messages: ${formatPlural(declarations, 'record')} (additional_tools).`]
      : []),
  ];
}
