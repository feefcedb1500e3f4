/** Recognizes the kinds of requests that VS Code's chat sends, and names conversations. */
import { makeTitle, UNTITLED } from '../conversations/title';
import { between } from '../core/between';
import { getBlocks, isText } from '../core/messages/blocks';
import type { ApiMessage } from '../core/messages/types';

/** How the system prompt of VS Code's own summaries begins, as seen in 1.139. */
const SUMMARY_SYSTEM = 'Your task is to create a comprehensive, detailed summary of the entire conversation';

/** A request as this file looks at it. */
export interface ChatRequest {
  readonly system: string | undefined;
  readonly messages: readonly ApiMessage[];
  readonly tools: readonly unknown[];
  /** VS Code's id of the conversation; other extensions send none. */
  readonly conversationId: string | undefined;
}

/**
 * Whether a request is no step of an agent's task and goes to the model as it came: titles and progress messages (no tools), and
 * VS Code's own summaries, with tools (`/compact`) or without (by itself). Other extensions may write their tools' calls in the text
 * (Cline, Roo): of those a request without tools is a step once the model has answered.
 */
export function isSmallRequest({ system, messages, tools, conversationId }: ChatRequest): boolean {
  if (system?.trimStart().startsWith(SUMMARY_SYSTEM) === true) return true;
  const isOthersTask = conversationId === undefined && messages.some(({ role }) => role === 'assistant');
  return tools.length === 0 && !isOthersTask;
}

/** A conversation's title; undefined where nothing says one. */
export function titleOfRequest({ messages, conversationId }: ChatRequest): string | undefined {
  if (conversationId !== undefined) return titleOfChat(messages);
  const title = makeTitle(messages);
  return title === UNTITLED ? undefined : title;
}

/**
 * A title from the first words that the user typed, which VS Code's agent puts into an element of its own behind context;
 * undefined where there are none.
 */
export function titleOfChat(messages: readonly ApiMessage[]): string | undefined {
  for (const message of messages) {
    if (message.role !== 'user') continue;
    for (const block of getBlocks(message)) {
      const words = isText(block) ? between(block.text, '<userRequest>', '</userRequest>') : undefined;
      const title = words === undefined ? UNTITLED : makeTitle([{ role: 'user', content: words }]);
      if (title !== UNTITLED) return title;
    }
  }
  return undefined;
}
