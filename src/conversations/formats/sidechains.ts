import { ConversationReadError } from '../readError';
import { getSourceName } from '../conversationId';
import type { Conversation, InputSource } from '../types';
import { describeUnansweredCalls } from './unanswered';

/** @throws {ConversationReadError} if the file has no such part */
export function toSidechainConversation(conversation: Conversation, id: string, source: InputSource): Conversation {
  const sidechain = conversation.sidechains.find((each) => each.id === id);
  if (!sidechain) {
    const knownIds = conversation.sidechains.map((each) => each.id).join(', ');
    throw new ConversationReadError({
      problem: 'not-found',
      source: getSourceName(source),
      found: `no subagent "${id}" in the conversation`,
      expected: knownIds === '' ? 'a location without "#": it has none' : `one of ${knownIds}`,
    });
  }
  return {
    ...conversation,
    id: `${conversation.id}:${id}`,
    parent: conversation.id,
    title: sidechain.title,
    messages: sidechain.messages,
    notes: describeUnansweredCalls(sidechain.messages),
    sidechains: [],
  };
}
