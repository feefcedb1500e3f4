import { isRecord } from '../../../core/messages/blocks';
import type { ApiMessage } from '../../../core/messages/types';
import { getSourceName } from '../../conversationId';
import { MAX_JSON_DEPTH, isDeeperThan } from '../../text/json';
import { formatPlural } from '../../../core/plural';
import { noteOmitted, noteUnknown } from '../../notes';
import { type OpenCodeMessage, selectActiveMessages } from './history';
import { toMessages } from './parts';
import { selectRecordedRequests } from '../../../core/account/recordedRequest';
import { readRecordedRequests } from './usage';
import { ConversationReadError, describeValue } from '../../readError';
import { UNTITLED, makeTitle } from '../../title';
import type { Conversation, ReadOptions, Source } from '../../types';
import { noteUnansweredCalls } from '../unanswered';
import { type Fields, listIn, recordIn, readString } from '../../text/values';

export interface OpenCodeDocument {
  readonly info: Fields;
  readonly messages: readonly OpenCodeMessage[];
  readonly unreadable?: number;
  readonly unknown?: ReadonlyMap<string, number>;
}

const DEFAULT_TITLE = /^(?:New|Child) session - /;

/**
 * `active` is what the agent would send: the last compaction's summary and what follows, with
 * placeholders for cleared outputs; `all` has every output.
 * @throws {ConversationReadError} if there are no messages
 */
export function readOpenCode(document: OpenCodeDocument, source: Source, options: ReadOptions = {}): Conversation {
  const { info } = document;
  const revertedFrom = readString(recordIn(info, 'revert') ?? {}, 'messageID');
  const kept = dropReverted(document.messages, revertedFrom);
  const owners = new Map<Fields, ApiMessage>();
  const everything = toMessages(kept, { cleared: 'original', owners });
  if (everything.length === 0) {
    throw new ConversationReadError({
      problem: 'empty',
      source: getSourceName(source),
      found: 'a session without messages',
      expected: 'at least one message',
    });
  }
  const messages = options.history === 'all' ? everything : toMessages(selectActiveMessages(kept), { cleared: 'told' });
  const reverted = document.messages.length - kept.length;
  const title = readString(info, 'title');
  const parent = readString(info, 'parentID');
  const workspace = readString(info, 'directory');
  return {
    id: `opencode:${readString(info, 'id') ?? ''}`,
    format: 'opencode',
    title: makeSessionTitle(title, everything),
    messages,
    notes: [
      ...(messages.length < everything.length
        ? [noteOmitted(everything.length - messages.length, 'before the last compaction')]
        : []),
      ...(reverted > 0 ? [`Left out: ${formatPlural(reverted, 'message')} taken back (reverted).`] : []),
      ...noteFailures(kept),
      ...noteUnreadable(document),
      ...noteUnknown(document.unknown ?? new Map()),
      ...noteUnansweredCalls(messages),
    ],
    sidechains: [],
    ...(parent !== undefined && { parent: `opencode:${parent}` }),
    ...(workspace !== undefined && { workspace }),
    ...selectRecordedRequests(
      options.history,
      readRecordedRequests(info, document.messages, everything, owners),
      everything.length,
    ),
  };
}

function makeSessionTitle(title: string | undefined, messages: readonly ApiMessage[]): string {
  if (title !== undefined && title.trim() !== '' && !DEFAULT_TITLE.test(title)) {
    const tidy = makeTitle([{ role: 'user', content: title }]);
    if (tidy !== UNTITLED) return tidy;
  }
  return makeTitle(messages);
}

function dropReverted(messages: readonly OpenCodeMessage[], from: string | undefined): readonly OpenCodeMessage[] {
  const index = from === undefined ? -1 : messages.findIndex(({ info }) => info['id'] === from);
  return index === -1 ? messages : messages.slice(0, index);
}

function noteFailures(messages: readonly OpenCodeMessage[]): string[] {
  const failed = messages.filter(({ info, parts }) => info['error'] !== undefined && parts.length === 0).length;
  return failed === 0 ? [] : [`Skipped: ${formatPlural(failed, 'answer')} that failed before any text came.`];
}

const noteUnreadable = ({ unreadable = 0 }: OpenCodeDocument): string[] =>
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
    info: recordIn(value, 'info') ?? {},
    messages: listIn(value, 'messages').map((message, index) => {
      const fields = isRecord(message) ? message : {};
      const { parts = [] } = fields;
      if (Array.isArray(parts) && !isDeeperThan(parts, MAX_JSON_DEPTH)) {
        return { info: recordIn(fields, 'info') ?? {}, parts: parts.filter(isRecord) };
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
