/** Recognizes the kinds of requests of VS Code's chat, and titles its conversations. */
import { makeTitle, UNTITLED } from '../conversations/title';
import { extractBetween } from '../core/between';
import { getBlocks, isText } from '../core/messages/blocks';
import type { ApiMessage } from '../core/messages/types';

/** Start of the system prompt for VS Code's own summaries, as seen in 1.139. */
const CHAT_SUMMARY_SYSTEM_TEXT = 'Your task is to create a comprehensive, detailed summary of the entire conversation';

export interface ChatRequest {
  readonly system: string | undefined;
  readonly messages: readonly ApiMessage[];
  readonly tools: readonly unknown[];
  /** VS Code's id of the conversation; other extensions send none. */
  readonly conversationId: string | undefined;
}

/**
 * True for requests that are no step of an agent's task and are sent unchanged: titles and progress
 * messages (no tools), and VS Code's own summaries with tools (`/compact`) or without (automatic).
 * Extensions that write calls as text (Cline, Roo) send no tools either; theirs are steps after the
 * model's first answer.
 */
export function isSmallRequest({ system, messages, tools, conversationId }: ChatRequest): boolean {
  if (system?.trimStart().startsWith(CHAT_SUMMARY_SYSTEM_TEXT) === true) return true;
  const isOthersTask = conversationId === undefined && messages.some(({ role }) => role === 'assistant');
  return tools.length === 0 && !isOthersTask;
}

/** Undefined if the conversation has no words for a title. */
export function makeRequestTitle({ messages, conversationId }: ChatRequest): string | undefined {
  if (conversationId !== undefined) return makeChatTitle(messages);
  const title = makeTitle(messages);
  return title === UNTITLED ? undefined : title;
}

/**
 * A title from the user's first words, which VS Code's agent puts into an element of its own after
 * the context.
 */
export function makeChatTitle(messages: readonly ApiMessage[]): string | undefined {
  for (const message of messages) {
    if (message.role !== 'user') continue;
    for (const block of getBlocks(message)) {
      const words = isText(block) ? extractBetween(block.text, '<userRequest>', '</userRequest>') : undefined;
      const title = words === undefined ? UNTITLED : makeTitle([{ role: 'user', content: words }]);
      if (title !== UNTITLED) return title;
    }
  }
  return undefined;
}
