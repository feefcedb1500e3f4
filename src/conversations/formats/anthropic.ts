import { makeSourceId, getSourceName } from '../conversationId';
import { type MessageDocument, checkMessages, pickRequestFields } from './messageArray';
import { makeConversationTitle } from '../title';
import type { Conversation, InputSource } from '../types';
import { readRoo } from './roo';
import { hasTextResults } from './textResults';
import { describeUnansweredCalls } from './unanswered';

/**
 * Reads `[…]`, `{ "messages": […] }`, or a request body of Anthropic's API.
 * @throws {ConversationReadError} for a malformed message
 */
export function readAnthropic(
  document: MessageDocument,
  source: InputSource,
  input: string | Uint8Array,
): Conversation {
  const messages = checkMessages(document.messages, getSourceName(source));
  // Old Cline histories have no timestamps by which to recognize them.
  if (hasTextResults(messages)) return readRoo(document, source, input);
  return {
    id: makeSourceId(source, input),
    format: 'anthropic',
    title: makeConversationTitle(messages),
    messages,
    notes: describeUnansweredCalls(messages),
    sidechains: [],
    ...pickRequestFields(document),
  };
}
