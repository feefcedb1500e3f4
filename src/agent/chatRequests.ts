/** Recognizes the kinds of requests that VS Code's chat sends, and names conversations. */
import { titleOf, UNTITLED } from '../conversations/title';
import { between } from '../core/between';
import { blocksOf, isText } from '../core/messages/blocks';
import type { ApiMessage } from '../core/messages/types';

/** How the system prompt of VS Code's own summaries begins, as seen in 1.139. */
const SUMMARY_SYSTEM = 'Your task is to create a comprehensive, detailed summary of the entire conversation';

/**
 * Whether a request is no step of an agent's task and goes to the model as it came: titles and progress messages (no tools), and
 * VS Code's own summaries, with tools (`/compact`) or without (by itself).
 */
export const isSmallRequest = (system: string | undefined, tools: readonly unknown[]): boolean =>
  tools.length === 0 || system?.trimStart().startsWith(SUMMARY_SYSTEM) === true;

/**
 * A title from the first words that the user typed, which VS Code's agent puts into an element of its own behind context;
 * undefined where there are none.
 */
export function titleOfChat(messages: readonly ApiMessage[]): string | undefined {
  for (const message of messages) {
    if (message.role !== 'user') continue;
    for (const block of blocksOf(message)) {
      const words = isText(block) ? between(block.text, '<userRequest>', '</userRequest>') : undefined;
      const title = words === undefined ? UNTITLED : titleOf([{ role: 'user', content: words }]);
      if (title !== UNTITLED) return title;
    }
  }
  return undefined;
}
