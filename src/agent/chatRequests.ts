import { makeConversationTitle, UNTITLED } from '../conversations/title';
import { getBlocks, isText } from '../core/messages/blocks';
import { removeContextAddedByAgent } from '../core/messages/personText';
import type { ApiMessage } from '../core/messages/types';

/** Beginning of the system prompt with which VS Code requests its own summaries (seen in 1.139). */
const CHAT_SUMMARY_SYSTEM_TEXT = 'Your task is to create a comprehensive, detailed summary of the entire conversation';

export interface ChatRequest {
  readonly system: string | undefined;
  readonly messages: readonly ApiMessage[];
  readonly tools: readonly unknown[];
  /** VS Code's ID of the conversation; undefined for other extensions, which send none. */
  readonly conversationId: string | undefined;
}

/**
 * Detects requests outside an agent's task: titles, progress messages, and VS Code's own summaries.
 * Extensions that write calls as text (Cline, Roo) send no tools either, so their requests after
 * the first answer don't count as small.
 */
export function isSmallRequest({ system, messages, tools, conversationId }: ChatRequest): boolean {
  if (system?.trimStart().startsWith(CHAT_SUMMARY_SYSTEM_TEXT) === true) return true;
  const isOthersTask = conversationId === undefined && messages.some(({ role }) => role === 'assistant');
  return tools.length === 0 && !isOthersTask;
}

export function makeRequestTitle({ messages, conversationId }: ChatRequest): string | undefined {
  if (conversationId !== undefined) return makeChatTitle(messages);
  const title = makeConversationTitle(messages);
  return title === UNTITLED ? undefined : title;
}

/**
 * Makes the title from the user's words. VS Code's agent sends them in an element of their own
 * after the context.
 */
export function makeChatTitle(messages: readonly ApiMessage[]): string | undefined {
  for (const message of messages) {
    if (message.role !== 'user') continue;
    const userText = removeContextAddedByAgent(
      getBlocks(message).flatMap((block) => (isText(block) ? [block.text] : [])),
    );
    const title = userText ? makeConversationTitle([{ role: 'user', content: userText.join('') }]) : UNTITLED;
    if (title !== UNTITLED) return title;
  }
  return undefined;
}
