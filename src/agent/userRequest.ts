import { titleOf, UNTITLED } from '../conversations/title';
import { blocksOf, isText } from '../core/messages/blocks';
import type { ApiMessage } from '../core/messages/types';

/** VS Code's agent puts what the user typed into this element, behind context of its own. */
const USER_REQUEST = /<userRequest>([\s\S]*?)<\/userRequest>/;

/** A title from the first words that the user typed; undefined where there are none. */
export function titleOfChat(messages: readonly ApiMessage[]): string | undefined {
  for (const message of messages) {
    if (message.role !== 'user') continue;
    for (const block of blocksOf(message)) {
      const words = isText(block) ? USER_REQUEST.exec(block.text)?.[1] : undefined;
      const title = words === undefined ? UNTITLED : titleOf([{ role: 'user', content: words }]);
      if (title !== UNTITLED) return title;
    }
  }
  return undefined;
}
