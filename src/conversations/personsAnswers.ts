import { AGENT_LIST } from '../core/agents';
import {
  listToolsAskingPerson,
  type MessageAndBlockIndex,
  markAnswersAtPlaces,
  markAnswersToTools,
  listPersonsAnswers,
} from '../core/messages/personsAnswers';
import { markResultsReadByPrograms } from '../core/messages/programs';
import type { ApiMessage } from '../core/messages/types';
import type { Conversation } from './types';

/**
 * In formats that belong to no agent nothing is marked, because any server may offer a tool called
 * `ask_user`.
 */
export function markAnswersOfPerson(conversation: Conversation): Conversation {
  const askingTools = listToolsAskingPerson(
    AGENT_LIST.filter(({ formats }) => formats.some((format) => format === conversation.format)),
  );
  return markBlocksAt(conversation, (messages) => markAnswersToTools(askingTools, messages));
}

export type PlacesOfPersonsAnswers = readonly (readonly MessageAndBlockIndex[])[];

export const findPersonsAnswers = ({ messages, sidechains }: Conversation): PlacesOfPersonsAnswers =>
  [messages, ...sidechains.map((side) => side.messages)].map(listPersonsAnswers);

export function markPersonsAnswersAt(
  conversation: Conversation,
  [ownAnswers = [], ...sidechainAnswers]: PlacesOfPersonsAnswers,
): Conversation {
  const answersByMessages = new Map(
    conversation.sidechains.map(({ messages }, index) => [messages, sidechainAnswers[index] ?? []]),
  );
  return markBlocksAt(conversation, (messages) =>
    markAnswersAtPlaces(answersByMessages.get(messages) ?? ownAnswers, messages),
  );
}

const markBlocksAt = (
  conversation: Conversation,
  mark: (messages: readonly ApiMessage[]) => readonly ApiMessage[],
): Conversation => ({
  ...conversation,
  messages: markResultsReadByPrograms(mark(conversation.messages)),
  sidechains: conversation.sidechains.map((side) => ({
    ...side,
    messages: markResultsReadByPrograms(mark(side.messages)),
  })),
});
