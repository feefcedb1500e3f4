import { AGENT_LIST } from '../core/agents';
import {
  listAskingTools,
  type BlockPlace,
  markAnswersAt,
  markAnswers,
  listPersonsAnswers,
} from '../core/messages/personsAnswers';
import { markProgramsResults } from '../core/messages/programs';
import type { ApiMessage } from '../core/messages/types';
import type { Conversation } from './types';

/**
 * Formats without an agent stay unmarked, because any server may offer a tool called `ask_user`.
 */
export function markPersonsAnswers(conversation: Conversation): Conversation {
  const asking = listAskingTools(
    AGENT_LIST.filter(({ formats }) => formats.some((format) => format === conversation.format)),
  );
  return withMarked(conversation, (messages) => markAnswers(asking, messages));
}

export type PersonsAnswers = readonly (readonly BlockPlace[])[];

export const findPersonsAnswers = ({ messages, sidechains }: Conversation): PersonsAnswers =>
  [messages, ...sidechains.map((side) => side.messages)].map(listPersonsAnswers);

export function markPersonsAnswersAt(conversation: Conversation, [own = [], ...sides]: PersonsAnswers): Conversation {
  const places = new Map(conversation.sidechains.map(({ messages }, index) => [messages, sides[index] ?? []]));
  return withMarked(conversation, (messages) => markAnswersAt(places.get(messages) ?? own, messages));
}

const withMarked = (
  conversation: Conversation,
  mark: (messages: readonly ApiMessage[]) => readonly ApiMessage[],
): Conversation => ({
  ...conversation,
  messages: markProgramsResults(mark(conversation.messages)),
  sidechains: conversation.sidechains.map((side) => ({ ...side, messages: markProgramsResults(mark(side.messages)) })),
});
