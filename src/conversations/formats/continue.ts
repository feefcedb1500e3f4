/**
 * Tool results come from `toolCallStates`, context precedes the user's words, and a compacted
 * session sends its last `conversationSummary` and the messages after it. Source:
 * continuedev/continue, core/index.d.ts (Session, ChatHistoryItem) and gui's constructMessages.
 */
import { selectRecordedRequests } from '../../core/account/recordedRequest';
import { isRecord } from '../../core/messages/blocks';
import type { ApiMessage, Block } from '../../core/messages/types';
import { makeSourceId, getSourceName } from '../conversationId';
import { describeOmittedMessages, createNoMessagesError } from '../notes';
import { ConversationReadError } from '../readError';
import { MAX_JSON_DEPTH, isDeeperThan } from '../text/json';
import { type Fields, stringifyValue, convertImageUrl, readList, readRecord, readString } from '../text/values';
import { normalizeTitle, makeConversationTitle } from '../title';
import type { Conversation, ReadOptions, InputSource } from '../types';
import { readContinueRequests } from './continueRequests';
import { parseArguments } from './openai/arguments';
import { splitPromptAtAttachments } from './splitPrompt';
import { describeUnansweredCalls } from './unanswered';

export const isContinueSession = (value: unknown): value is Fields => {
  if (!isRecord(value) || readString(value, 'sessionId') === undefined || !Array.isArray(value['history']))
    return false;
  const items = value['history'].filter(isRecord);
  return items.every((item) => isRecord(item['message'])) && (items.length > 0 || 'workspaceDirectory' in value);
};

/** @throws {ConversationReadError} if there are no messages */
export function readContinue(
  session: Fields,
  source: InputSource,
  options: ReadOptions,
  input: string | Uint8Array,
): Conversation {
  const name = getSourceName(source);
  if (isDeeperThan(session, MAX_JSON_DEPTH)) {
    throw new ConversationReadError({
      problem: 'wrong-shape',
      source: name,
      found: 'a session that is nested too deeply',
      expected: `at most ${MAX_JSON_DEPTH} levels of nesting`,
    });
  }
  const items = readList(session, 'history').filter(isRecord);
  const answerByItem = new Map<Fields, ApiMessage>();
  const allMessages = convertHistoryItems(items, answerByItem);
  if (allMessages.length === 0) throw createNoMessagesError(name, 'a Continue session with messages', new Map());
  const summaryItemIndex = items.findLastIndex((item) => readString(item, 'conversationSummary') !== undefined);
  const messages =
    options.history === 'all' || summaryItemIndex === -1 ? allMessages : selectActiveMessages(items, summaryItemIndex);
  const id = readString(session, 'sessionId');
  const workspace = readString(session, 'workspaceDirectory');
  const title = readString(session, 'title');
  return {
    id: id === undefined ? makeSourceId(source, input) : `continue:${id}`,
    format: 'continue',
    title: (title === DEFAULT_TITLE ? undefined : normalizeTitle(title)) ?? makeConversationTitle(allMessages),
    messages,
    notes: [
      ...(messages === allMessages
        ? []
        : [
            describeOmittedMessages(
              convertHistoryItems(items.slice(0, summaryItemIndex + 1)).length,
              'before the last compaction',
            ),
          ]),
      ...describeUnansweredCalls(messages),
    ],
    sidechains: [],
    ...(workspace !== undefined && workspace !== '' && { workspace }),
    ...selectRecordedRequests(
      options.history,
      readContinueRequests(session, mapItemsToMessageIndexes(answerByItem, allMessages)),
      allMessages.length,
    ),
  };
}

function mapItemsToMessageIndexes(
  answerByItem: ReadonlyMap<Fields, ApiMessage>,
  allMessages: readonly ApiMessage[],
): ReadonlyMap<Fields, number> {
  const indexByMessage = new Map(allMessages.map((message, index) => [message, index]));
  return new Map(
    [...answerByItem].flatMap(([item, message]) => {
      const index = indexByMessage.get(message);
      return index === undefined ? [] : [[item, index] as const];
    }),
  );
}

const DEFAULT_TITLE = 'New Session';

function selectActiveMessages(items: readonly Fields[], summarized: number): ApiMessage[] {
  const summary = readString(items[summarized] ?? {}, 'conversationSummary') ?? '';
  const systemMessages = convertHistoryItems(items.slice(0, summarized)).filter(({ role }) => role === 'system');
  return [
    ...systemMessages,
    { role: 'user', content: [{ type: 'text', text: summary }], isSummary: true },
    ...convertHistoryItems(items.slice(summarized + 1)),
  ];
}

function convertHistoryItems(items: readonly Fields[], answerByItem = new Map<Fields, ApiMessage>()): ApiMessage[] {
  const messages: ApiMessage[] = [];
  let thinkingBlocks: Block[] = [];
  const answeredIds = new Set(
    items.flatMap((item) => readToolCallStates(item).flatMap(({ id, output }) => (output ? [id] : []))),
  );
  const pushMessage = (role: ApiMessage['role'], content: readonly Block[]): void => {
    if (content.length > 0) messages.push({ role, content });
  };
  for (const item of items) {
    const message = readRecord(item, 'message') ?? {};
    switch (message['role']) {
      case 'thinking':
        thinkingBlocks = convertThinking(message);
        break;
      case 'assistant': {
        const answerIndex = messages.length;
        pushMessage('assistant', [
          ...thinkingBlocks,
          ...convertContentParts(message['content']),
          ...convertToolCalls(message),
        ]);
        const answer = messages[answerIndex];
        if (answer) answerByItem.set(item, answer);
        thinkingBlocks = [];
        pushMessage('user', readToolCallStates(item).flatMap(makeResultBlocks));
        break;
      }
      case 'tool': {
        const id = readString(message, 'toolCallId');
        if (id === undefined || answeredIds.has(id)) break;
        pushMessage('user', [
          { type: 'tool_result', tool_use_id: id, content: convertContentParts(message['content']) },
        ]);
        break;
      }
      case 'system':
        pushMessage('system', convertContentParts(message['content']));
        break;
      case 'user':
        messages.push(...convertPrompt(item, convertContentParts(message['content'])));
    }
  }
  return mergeResults(messages);
}

function mergeResults(messages: readonly ApiMessage[]): ApiMessage[] {
  const mergedMessages: ApiMessage[] = [];
  const isResults = ({ role, content }: ApiMessage): boolean =>
    role === 'user' &&
    Array.isArray(content) &&
    (content as readonly Block[]).every(({ type }) => type === 'tool_result');
  for (const message of messages) {
    const lastMessage = mergedMessages.at(-1);
    if (lastMessage && isResults(lastMessage) && isResults(message)) {
      mergedMessages.splice(-1, 1, {
        ...lastMessage,
        content: [...(lastMessage.content as Block[]), ...(message.content as Block[])],
      });
    } else mergedMessages.push(message);
  }
  return mergedMessages;
}

function convertThinking(message: Fields): Block[] {
  const thinking = stringifyValue(message['content']);
  const signature = readString(message, 'signature');
  return thinking.trim() === '' ? [] : [{ type: 'thinking', thinking, ...(signature !== undefined && { signature }) }];
}

/** The model gets files and other context before the user's words. */
function convertPrompt(item: Fields, words: readonly Block[]): ApiMessage[] {
  const contextBlocks = makeTextBlocks(renderContext(readList(item, 'contextItems')));
  return splitPromptAtAttachments([...contextBlocks, ...words], new Set(contextBlocks));
}

const renderContext = (items: readonly unknown[]): string =>
  items
    .filter(isRecord)
    .map((each) => stringifyValue(each['content']))
    .filter((text) => text !== '')
    .join('\n\n');

const makeTextBlocks = (text: string): Block[] => (text.trim() === '' ? [] : [{ type: 'text', text }]);

function convertContentParts(content: unknown): Block[] {
  if (typeof content === 'string') return makeTextBlocks(content);
  return readList({ content }, 'content').flatMap((part): Block[] => {
    if (!isRecord(part)) return [];
    const url = readString(readRecord(part, 'imageUrl') ?? {}, 'url');
    if (url !== undefined) return [{ type: 'image', source: convertImageUrl(url) }];
    return makeTextBlocks(stringifyValue(part['text']));
  });
}

function convertToolCalls(message: Fields): Block[] {
  return readList(message, 'toolCalls').flatMap((call): Block[] => {
    const functionCall = isRecord(call) ? readRecord(call, 'function') : undefined;
    const id = isRecord(call) ? readString(call, 'id') : undefined;
    const name = functionCall && readString(functionCall, 'name');
    if (!functionCall || id === undefined || name === undefined || name === '') return [];
    const rawArguments = readString(functionCall, 'arguments') ?? '';
    return [{ type: 'tool_use', id, name, input: parseArguments(rawArguments === '' ? '{}' : rawArguments) }];
  });
}

interface ToolCallState {
  readonly id: string;
  readonly status: string | undefined;
  readonly output: readonly unknown[] | undefined;
}

function readToolCallStates(item: Fields): ToolCallState[] {
  const singleState = readRecord(item, 'toolCallState');
  const states = singleState ? [singleState] : readList(item, 'toolCallStates').filter(isRecord);
  return states.flatMap((state) => {
    const id = readString(state, 'toolCallId');
    const { output } = state;
    return id === undefined
      ? []
      : [
          {
            id,
            status: readString(state, 'status'),
            output: Array.isArray(output) ? (output as readonly unknown[]) : undefined,
          },
        ];
  });
}

function makeResultBlocks({ id, status, output }: ToolCallState): Block[] {
  if (!output) return [];
  const isFailed = status === 'errored' || status === 'canceled';
  const text = renderContext(output);
  return [
    {
      type: 'tool_result',
      tool_use_id: id,
      content: isFailed && text === '' ? 'The tool failed.' : text,
      ...(isFailed && { is_error: true }),
    },
  ];
}
