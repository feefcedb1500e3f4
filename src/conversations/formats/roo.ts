import { getBlocks, isRecord, isToolResult, isToolUse } from '../../core/messages/blocks';
import type { ApiMessage, Block } from '../../core/messages/types';
import { makeSourceId, getSourceName, getTaskId } from '../conversationId';
import { MAX_JSON_DEPTH, isDeeperThan } from '../text/json';
import { type MessageDocument, checkMessages, pickRequestFields } from './messageArray';
import { describeOmittedMessages } from '../notes';
import { makeConversationTitle } from '../title';
import type { Conversation, ReadOptions, InputSource } from '../types';
import { selectRecordedRequests } from '../../core/account/recordedRequest';
import { readMessageRequests } from './rooRequests';
import { convertTextResults } from './textResults';
import { describeUnansweredCalls } from './unanswered';

/**
 * Reads `api_conversation_history.json` of the Roo family (Roo, Zoo, Kilo up to 5, Cline) or Cline
 * 4's `<id>.messages.json`. Extra fields are kept. `active` is the agent's effective history.
 * @throws {ConversationReadError} for a malformed message
 */
export function readRoo(
  document: MessageDocument,
  source: InputSource,
  input: string | Uint8Array,
  options: ReadOptions = {},
): Conversation {
  const allMessages = convertTextResults(checkMessages(document.messages.map(normalizeMessage), getSourceName(source)));
  const messages = options.history === 'all' ? allMessages : selectEffectiveHistory(allMessages);
  return {
    id: findTaskId(document, source, input),
    format: 'roo',
    title: makeConversationTitle(allMessages),
    messages,
    notes: [
      ...(messages.length < allMessages.length
        ? [describeOmittedMessages(allMessages.length - messages.length, 'condensed or truncated by the agent')]
        : []),
      ...describeUnansweredCalls(messages),
    ],
    sidechains: [],
    ...pickRequestFields(document),
    ...selectRecordedRequests(options.history, readMessageRequests(allMessages), allMessages.length),
  };
}

function findTaskId({ request }: MessageDocument, source: InputSource, input: string | Uint8Array): string {
  const sessionId = request?.['sessionId'];
  if (typeof sessionId === 'string') return `cline:${sessionId}`;
  const taskId = getTaskId(source);
  return taskId === undefined ? makeSourceId(source, input) : `roo:${taskId}`;
}

/** Writing the file reverts these conversions. */
function normalizeMessage(message: unknown): unknown {
  if (!isRecord(message)) return message;
  // Standalone reasoning (OpenAI's, encrypted) has no content and sometimes no role.
  if (message['type'] === 'reasoning') {
    return { ...message, role: message['role'] ?? 'assistant', content: message['content'] ?? [] };
  }
  const { content } = message;
  if (!Array.isArray(content)) return message;
  const blocks: readonly unknown[] = content;
  return blocks.some((block) => isResultWithStructuredContent(block) || isFileBlock(block))
    ? {
        ...message,
        content: blocks.map((block) => (isFileBlock(block) ? renderFileAsText(block) : renderResultAsText(block))),
      }
    : message;
}

/** Cline 4 stores a file mentioned with `@` in a block of its own. */
const isFileBlock = (block: unknown): block is { readonly path: string; readonly content: string } =>
  isRecord(block) &&
  block['type'] === 'file' &&
  typeof block['path'] === 'string' &&
  typeof block['content'] === 'string';

/**
 * Cline sends this text (requests of cline 3.0.65 from npm); `clineFile` keeps the block for
 * writing it back.
 */
const renderFileAsText = (block: { readonly path: string; readonly content: string }): unknown => ({
  type: 'text',
  text: `<file_content path="${block.path}">\n${block.content}\n</file_content>`,
  clineFile: block,
});

/** Cline 4 stores results as its own objects, `{ query, result, success }`. */
const isRecordWithoutType = (value: unknown): boolean => isRecord(value) && value['type'] === undefined;

const isResultWithStructuredContent = (block: unknown): boolean =>
  isRecord(block) &&
  block['type'] === 'tool_result' &&
  Array.isArray(block['content']) &&
  block['content'].some(isRecordWithoutType);

/** The model can read the JSON text; `clineJson` marks it for writing it back. */
function renderResultAsText(block: unknown): unknown {
  if (!isRecord(block) || !isResultWithStructuredContent(block)) return block;
  const content = block['content'] as readonly unknown[];
  return {
    ...block,
    content: content.map((value) =>
      isRecordWithoutType(value) && !isDeeperThan(value, MAX_JSON_DEPTH)
        ? { type: 'text', text: JSON.stringify(value), clineJson: true }
        : value,
    ),
  };
}

/**
 * Follows `getEffectiveApiHistory` of Roo 3.52. In files of 2025 the summary is an assistant
 * message, preceded by the task's first message.
 */
export function selectEffectiveHistory(allMessages: readonly ApiMessage[]): readonly ApiMessage[] {
  const summaryIndex = allMessages.findLastIndex((message) => message['isSummary'] === true);
  const [firstMessage] = allMessages;
  const messagesFromSummary = summaryIndex === -1 ? allMessages : dropOrphanedResults(allMessages.slice(summaryIndex));
  const needsTask = summaryIndex > 0 && messagesFromSummary[0]?.role === 'assistant' && firstMessage?.role === 'user';
  const visibleMessages = dropTruncatedMessages(messagesFromSummary);
  return needsTask ? [firstMessage, ...visibleMessages] : visibleMessages;
}

function dropTruncatedMessages(messages: readonly ApiMessage[]): readonly ApiMessage[] {
  const truncationIds = new Set(
    messages.filter((message) => message['isTruncationMarker'] === true).map((message) => message['truncationId']),
  );
  truncationIds.delete(undefined);
  return truncationIds.size === 0
    ? messages
    : messages.filter((message) => !truncationIds.has(message['truncationParent']));
}

function dropOrphanedResults(messages: readonly ApiMessage[]): readonly ApiMessage[] {
  const calls = new Set(
    messages
      .filter(({ role }) => role === 'assistant')
      .flatMap(getBlocks)
      .filter(isToolUse)
      .map(({ id }) => id),
  );
  const isOrphan = (block: Block): boolean => isToolResult(block) && !calls.has(block.tool_use_id);
  return messages.flatMap((message) => {
    const blocks = getBlocks(message);
    if (message.role !== 'user' || !blocks.some(isOrphan)) return [message];
    const content = blocks.filter((block) => !isOrphan(block));
    return content.length === 0 ? [] : [{ ...message, content }];
  });
}
