import { titleOf, UNTITLED } from '../conversations/title';
import { between } from '../core/between';
import { blocksOf, isText } from '../core/messages/blocks';
import type { ApiMessage } from '../core/messages/types';

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
