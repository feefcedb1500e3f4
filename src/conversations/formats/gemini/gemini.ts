import { basename, dirname } from 'node:path';
import { selectRecordedRequests } from '../../../core/account/recordedRequest';
import { isRecord } from '../../../core/messages/blocks';
import { getSourceName } from '../../conversationId';
import { convertGeminiRecords } from './messages';
import { GeminiRequests } from './usage';
import { type JsonRecord, readJsonLineRecords } from '../../text/jsonLines';
import { readLines } from '../../text/lines';
import { formatPlural } from '../../../core/plural';
import { createNoMessagesError, describeSkippedRecords } from '../../notes';
import { normalizeTitle, makeConversationTitle } from '../../title';
import type { Conversation, ReadOptions, InputSource, ConversationNote } from '../../types';
import { describeUnansweredCalls } from '../unanswered';
import { type Fields, readList, readString } from '../../text/values';

interface GeminiSession {
  readonly meta: Fields;
  readonly records: readonly Fields[];
  readonly rewound: number;
  readonly notes: readonly ConversationNote[];
  readonly requests: GeminiRequests;
}

/**
 * Gemini CLI shows these messages to the user but does not send them. Source:
 * `convertSessionToClientHistory`.
 */
const MESSAGE_TYPES_NOT_SENT_TO_MODEL: ReadonlySet<string> = new Set(['error', 'info', 'warning']);

export const isGeminiRecord = (value: Fields): boolean =>
  '$set' in value || '$rewindTo' in value || 'projectHash' in value || value['type'] === 'gemini';

/** Gemini CLI up to 0.2x wrote a session as one JSON document. */
export const isGeminiDocument = (value: unknown): value is Fields =>
  isRecord(value) &&
  readString(value, 'sessionId') !== undefined &&
  readString(value, 'projectHash') !== undefined &&
  Array.isArray(value['messages']);

export function readGeminiDocument(value: Fields, source: InputSource, options: ReadOptions): Conversation {
  const requests = new GeminiRequests();
  requests.takeRecord(value);
  const records = readList(value, 'messages').filter(isRecord);
  return buildGeminiConversation({ meta: value, records, rewound: 0, notes: [], requests }, source, options);
}

/**
 * A record replaces an earlier one with its id. `$set` changes the header or all messages,
 * `$rewindTo` removes a message and all later ones. Source: Gemini CLI's chatRecordingService.
 * @throws {ConversationReadError} for a broken line or no messages
 */
export function readGeminiLines(
  input: string | Uint8Array,
  source: InputSource,
  options: ReadOptions = {},
): Conversation {
  const name = getSourceName(source);
  const notes: ConversationNote[] = [];
  let meta: Fields = {};
  let records = new Map<string, JsonRecord>();
  let rewoundCount = 0;
  const requests = new GeminiRequests();
  readJsonLineRecords(readLines(input, name), name, notes, (record) => {
    const { value } = record;
    requests.takeRecord(value);
    const rewindTo = readString(value, '$rewindTo');
    const setFields = value['$set'];
    const id = readString(value, 'id');
    if (rewindTo !== undefined) {
      const keptRecords = dropRewoundRecords(records, rewindTo, record.gap);
      rewoundCount += records.size - keptRecords.size;
      records = keptRecords;
    } else if (isRecord(setFields)) {
      meta = { ...meta, ...setFields };
      if (Array.isArray(setFields['messages']))
        records = indexById(setFields['messages'].filter(isRecord), record.line);
    } else if (id !== undefined) records.set(id, record);
    else meta = { ...meta, ...value };
  });
  const allRecords = [...records.values()].map(({ value }) => value);
  return buildGeminiConversation(
    { meta, records: allRecords, rewound: rewoundCount, notes, requests },
    source,
    options,
  );
}

/**
 * On a rewind to a missing message, drops all records, as Gemini CLI does, unless a damaged line
 * may have contained the message.
 */
function dropRewoundRecords(
  records: ReadonlyMap<string, JsonRecord>,
  id: string,
  gap: number | undefined,
): Map<string, JsonRecord> {
  if (!records.has(id) && gap !== undefined) return new Map([...records].filter(([, { line }]) => line < gap));
  const ids = [...records.keys()];
  return new Map([...records].slice(0, Math.max(ids.indexOf(id), 0)));
}

const indexById = (messages: readonly Fields[], line: number): Map<string, JsonRecord> =>
  new Map(messages.map((value, index) => [readString(value, 'id') ?? String(index), { line, value }]));

function buildGeminiConversation(
  { meta, records, rewound, notes, requests: requestCollector }: GeminiSession,
  source: InputSource,
  { history }: ReadOptions,
): Conversation {
  const { messages, skippedByKind, places } = convertGeminiRecords(records);
  if (messages.length === 0) {
    throw createNoMessagesError(
      getSourceName(source),
      'a Gemini CLI session with "user" and "gemini" messages',
      skippedByKind,
      notes,
    );
  }
  const [workspace] = readList(meta, 'directories');
  return {
    id: `gemini:${readString(meta, 'sessionId') ?? ''}`,
    format: 'gemini',
    title: normalizeTitle(readString(meta, 'summary')) ?? makeConversationTitle(messages),
    messages,
    notes: [
      ...notes,
      ...(rewound > 0 ? [`Left out: ${formatPlural(rewound, 'message')} taken back (rewound).`] : []),
      ...describeSkippedRecords(skippedByKind, MESSAGE_TYPES_NOT_SENT_TO_MODEL),
      ...describeUnansweredCalls(messages),
    ],
    sidechains: [],
    ...findParentSession(meta, source),
    ...(typeof workspace === 'string' && { workspace }),
    ...selectRecordedRequests(history, requestCollector.getResult(places), messages.length),
  };
}

/** A subagent's file is in a folder named after the session that started it. */
function findParentSession(meta: Fields, source: InputSource): { parent?: string } {
  if (meta['kind'] !== 'subagent' || !('path' in source)) return {};
  const folder = basename(dirname(source.path));
  return folder === 'chats' ? {} : { parent: `gemini:${folder}` };
}
