import { isRecord } from '../../../core/messages/blocks';
import type { ApiMessage } from '../../../core/messages/types';
import { getSourceName } from '../../conversationId';
import { MAX_JSON_DEPTH, isDeeperThan } from '../../text/json';
import { formatPlural } from '../../../core/plural';
import { describeOmittedMessages, describeUnknownKinds } from '../../notes';
import { type OpenCodeMessage, selectActiveMessages } from './history';
import { convertOpenCodeMessages } from './parts';
import { selectRecordedRequests } from '../../../core/account/recordedRequest';
import { readRecordedRequests } from './usage';
import { ConversationReadError, describeValue } from '../../readError';
import { UNTITLED, makeConversationTitle } from '../../title';
import type { Conversation, ReadOptions, InputSource } from '../../types';
import { describeUnansweredCalls } from '../unanswered';
import { type Fields, readList, readRecord, readString } from '../../text/values';

export interface OpenCodeDocument {
  readonly info: Fields;
  readonly messages: readonly OpenCodeMessage[];
  readonly unreadable?: number;
  readonly unknown?: ReadonlyMap<string, number>;
}

const DEFAULT_TITLE = /^(?:New|Child) session - /;

/**
 * `active`: the last compaction's summary and what follows, with placeholders for cleared outputs.
 * @throws {ConversationReadError} if there are no messages
 */
export function readOpenCode(document: OpenCodeDocument, source: InputSource, options: ReadOptions = {}): Conversation {
  const { info } = document;
  const revertedFrom = readString(readRecord(info, 'revert') ?? {}, 'messageID');
  const keptMessages = dropRevertedMessages(document.messages, revertedFrom);
  const messageByPart = new Map<Fields, ApiMessage>();
  const allMessages = convertOpenCodeMessages(keptMessages, { cleared: 'original', owners: messageByPart });
  if (allMessages.length === 0) {
    throw new ConversationReadError({
      problem: 'empty',
      source: getSourceName(source),
      found: 'a session without messages',
      expected: 'at least one message',
    });
  }
  const messages =
    options.history === 'all'
      ? allMessages
      : convertOpenCodeMessages(selectActiveMessages(keptMessages), { cleared: 'told' });
  const revertedCount = document.messages.length - keptMessages.length;
  const title = readString(info, 'title');
  const parent = readString(info, 'parentID');
  const workspace = readString(info, 'directory');
  return {
    id: `opencode:${readString(info, 'id') ?? ''}`,
    format: 'opencode',
    title: makeSessionTitle(title, allMessages),
    messages,
    notes: [
      ...(messages.length < allMessages.length
        ? [describeOmittedMessages(allMessages.length - messages.length, 'before the last compaction')]
        : []),
      ...(revertedCount > 0 ? [`Left out: ${formatPlural(revertedCount, 'message')} taken back (reverted).`] : []),
      ...describeFailedAnswers(keptMessages),
      ...describeUnreadableRecords(document),
      ...describeUnknownKinds(document.unknown ?? new Map()),
      ...describeUnansweredCalls(messages),
    ],
    sidechains: [],
    ...(parent !== undefined && { parent: `opencode:${parent}` }),
    ...(workspace !== undefined && { workspace }),
    ...selectRecordedRequests(
      options.history,
      readRecordedRequests(info, document.messages, allMessages, messageByPart),
      allMessages.length,
    ),
  };
}

function makeSessionTitle(title: string | undefined, messages: readonly ApiMessage[]): string {
  if (title !== undefined && title.trim() !== '' && !DEFAULT_TITLE.test(title)) {
    const tidyTitle = makeConversationTitle([{ role: 'user', content: title }]);
    if (tidyTitle !== UNTITLED) return tidyTitle;
  }
  return makeConversationTitle(messages);
}

function dropRevertedMessages(
  messages: readonly OpenCodeMessage[],
  from: string | undefined,
): readonly OpenCodeMessage[] {
  const index = from === undefined ? -1 : messages.findIndex(({ info }) => info['id'] === from);
  return index === -1 ? messages : messages.slice(0, index);
}

function describeFailedAnswers(messages: readonly OpenCodeMessage[]): string[] {
  const failedCount = messages.filter(({ info, parts }) => info['error'] !== undefined && parts.length === 0).length;
  return failedCount === 0 ? [] : [`Skipped: ${formatPlural(failedCount, 'answer')} that failed before any text came.`];
}

const describeUnreadableRecords = ({ unreadable = 0 }: OpenCodeDocument): string[] =>
  unreadable === 0 ? [] : [`Left out: ${formatPlural(unreadable, 'record')} of the session that could not be read.`];

export function isOpenCodeDocument(value: unknown): value is Fields {
  if (!isRecord(value) || !isRecord(value['info']) || !Array.isArray(value['messages'])) return false;
  return (
    readString(value['info'], 'id') !== undefined &&
    value['messages'].every((message) => isRecord(message) && isRecord(message['info']))
  );
}

/** Before 1.2 OpenCode stored a session's messages in other files. */
export const isOpenCodeSession = (value: unknown): value is Fields =>
  isRecord(value) &&
  readString(value, 'id')?.startsWith('ses_') === true &&
  readString(value, 'projectID') !== undefined &&
  !('messages' in value);

/** @throws {ConversationReadError} if parts are not a list */
export function toOpenCodeDocument(value: Fields, source: string): OpenCodeDocument {
  return {
    info: readRecord(value, 'info') ?? {},
    messages: readList(value, 'messages').map((message, index) => {
      const fields = isRecord(message) ? message : {};
      const { parts = [] } = fields;
      if (Array.isArray(parts) && !isDeeperThan(parts, MAX_JSON_DEPTH)) {
        return { info: readRecord(fields, 'info') ?? {}, parts: parts.filter(isRecord) };
      }
      throw new ConversationReadError({
        problem: 'wrong-shape',
        source,
        found: `${describeValue(parts)} in "messages[${index}].parts"`,
        expected: `an array of parts, at most ${MAX_JSON_DEPTH} levels deep`,
      });
    }),
  };
}
