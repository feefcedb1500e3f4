import { isRecord } from '../../../core/messages/blocks';
import type { Fields } from '../../text/values';
import { makeSourceId, getSourceName } from '../../conversationId';
import { type CopilotMessages, convertCopilotEvents } from './messages';
import { findCompactionsInMessages } from '../../../core/account/replay';
import { selectRecordedRequests, type RecordedRequests } from '../../../core/account/recordedRequest';
import { type CopilotEvent, EVENT_TYPES_NOT_SENT_TO_MODEL, parseEvents } from './events';
import type { CopilotRequests } from './usage';
import { readLines } from '../../text/lines';
import { formatPlural } from '../../../core/plural';
import { describeOmittedMessages, createNoMessagesError, describeSkippedRecords } from '../../notes';
import { normalizeTitle, makeConversationTitle } from '../../title';
import type { Conversation, ReadOptions, Sidechain, InputSource } from '../../types';
import { describeUnansweredCalls } from '../unanswered';

export const isCopilotRecord = ({ type, data }: Fields): boolean =>
  isRecord(data) && typeof type === 'string' && type.includes('.');

/**
 * `active` begins with the last compaction's summary.
 * @throws {ConversationReadError} for damaged lines or no messages
 */
export function readCopilot(input: string | Uint8Array, source: InputSource, options: ReadOptions = {}): Conversation {
  const name = getSourceName(source);
  const { start, events, skippedByKind, rewound, notes, requests } = parseEvents(readLines(input, name), name);
  const mainConversation = convertCopilotEvents(events.filter(({ agent }) => agent === undefined));
  const allMessages = mainConversation.messages;
  if (allMessages.length === 0) {
    throw createNoMessagesError(
      name,
      'a Copilot session with "user.message" and "assistant.message" events',
      skippedByKind,
      notes,
    );
  }
  const firstMessage = options.history === 'all' ? 0 : mainConversation.activeFrom;
  const messages = allMessages.slice(firstMessage);
  return {
    id: start.id === undefined ? makeSourceId(source, input) : `copilot:${start.id}`,
    format: 'copilot',
    title: normalizeTitle(start.title) ?? makeConversationTitle(allMessages),
    messages,
    notes: [
      ...notes,
      ...(firstMessage > 0
        ? [describeOmittedMessages(allMessages.length - messages.length, 'before the last compaction')]
        : []),
      ...(rewound > 0 ? [`Left out: ${formatPlural(rewound, 'event')} taken back (rewound).`] : []),
      ...(mainConversation.withoutResult > 0
        ? [
            `${formatPlural(mainConversation.withoutResult, 'tool result')} whose content Copilot did not record; they are empty.`,
          ]
        : []),
      ...describeSkippedRecords(skippedByKind, EVENT_TYPES_NOT_SENT_TO_MODEL),
      ...describeUnansweredCalls(messages),
    ],
    sidechains: splitSidechains(events),
    ...(start.workspace !== undefined && { workspace: start.workspace }),
    ...(mainConversation.system !== undefined && { request: { system: mainConversation.system } }),
    ...selectRecordedRequests(options.history, readRecordedRequests(mainConversation, requests), allMessages.length),
  };
}

/** Uses individual requests if the agent recorded all of them; otherwise answers and totals. */
function readRecordedRequests(
  { answers, messages }: CopilotMessages,
  recorded: CopilotRequests,
): RecordedRequests | undefined {
  const { requests, totals, session, charged } = recorded;
  if (answers.length + requests.length + totals.length === 0) return undefined;
  const commonFields = {
    compactions: findCompactionsInMessages(messages),
    session,
    ...(totals.length > 0 && { totals }),
    ...(charged && { charged }),
  };
  if (!requests.some(({ purpose }) => purpose === 'answer'))
    return { ...commonFields, requests: [...answers.map(({ request }) => request), ...requests] };
  const messageByRequest = new Map(answers.map(({ record, request }) => [record, request.message]));
  return {
    ...commonFields,
    requests: requests.map((request, index) => {
      const message = messageByRequest.get(index);
      return message === undefined ? request : { ...request, message };
    }),
    hasCompactions: true,
  };
}

function splitSidechains(events: readonly CopilotEvent[]): Sidechain[] {
  const eventsByAgent = Map.groupBy(
    events.filter(({ agent }) => agent !== undefined),
    ({ agent }) => agent ?? '',
  );
  return [...eventsByAgent].flatMap(([id, own]) => {
    const { messages } = convertCopilotEvents(own);
    return messages.length === 0 ? [] : [{ id, title: makeConversationTitle(messages), messages }];
  });
}
