import { isText } from './blocks';
import type { ApiMessage, Block, TextBlock } from './types';

export interface FoldedMessages {
  /** System messages before the first other message. */
  readonly prompt: readonly TextBlock[];
  readonly messages: readonly (ApiMessage & { readonly role: 'user' | 'assistant' })[];
}

/**
 * For vendors that reject system messages between others: appends their text to user messages,
 * never between a call and its results.
 */
export function foldSystemMessages(
  messages: readonly ApiMessage[],
  makeNote: (text: string) => Block = wrapSystemText,
): FoldedMessages {
  const prompt: TextBlock[] = [];
  const foldedMessages: FoldedMessages['messages'][number][] = [];
  let waitingNotes: Block[] = [];
  for (const message of messages) {
    const { role } = message;
    if (role !== 'system') {
      const takesNotes = role === 'user' && waitingNotes.length > 0;
      foldedMessages.push(
        takesNotes ? { ...message, role, content: [...listBlocks(message), ...waitingNotes] } : { ...message, role },
      );
      if (takesNotes) waitingNotes = [];
    } else if (foldedMessages.length === 0) {
      prompt.push(...listTextBlocks(message));
    } else {
      const notes = listTextBlocks(message).map(({ text }) => makeNote(text));
      const lastMessage = foldedMessages.at(-1);
      if (lastMessage?.role === 'user')
        foldedMessages.splice(-1, 1, { ...lastMessage, content: [...listBlocks(lastMessage), ...notes] });
      else waitingNotes.push(...notes);
    }
  }
  if (waitingNotes.length > 0) foldedMessages.push({ role: 'user', content: waitingNotes });
  return { prompt, messages: foldedMessages };
}

const wrapSystemText = (text: string): Block => ({ type: 'text', text: `<system>\n${text}\n</system>` });

const listBlocks = ({ content }: ApiMessage) =>
  typeof content === 'string' ? [{ type: 'text', text: content } as const] : content;

const listTextBlocks = (message: ApiMessage): TextBlock[] =>
  listBlocks(message).filter((block) => isText(block) && block.text.trim() !== '') as TextBlock[];
