/** Marks the results in which a person speaks, by what the format of an agent says, and those that a program reads. */
import { AGENT_LIST } from '../core/agents';
import {
  askingTools,
  type BlockPlace,
  markAnswersAt,
  markAnswers,
  personsAnswersIn,
} from '../core/messages/personsAnswers';
import { markProgramsResults } from '../core/messages/programs';
import type { ApiMessage } from '../core/messages/types';
import type { Conversation } from './types';

/**
 * A conversation with the answers marked that its own agents' question tools brought. Formats of no agent (messages of the APIs,
 * records of runs) have none: any server may offer a tool called `ask_user`.
 */
export function withPersonsAnswers(conversation: Conversation): Conversation {
  const asking = askingTools(
    AGENT_LIST.filter(({ formats }) => formats.some((format) => format === conversation.format)),
  );
  return withMarked(conversation, (messages) => markAnswers(asking, messages));
}

/** The marks of a conversation and of its side conversations, in order. */
export type PersonsAnswers = readonly (readonly BlockPlace[])[];

export const personsAnswersOf = ({ messages, sidechains }: Conversation): PersonsAnswers =>
  [messages, ...sidechains.map((side) => side.messages)].map(personsAnswersIn);

/** A conversation that came from a worker, with its marks. */
export function withPersonsAnswersAt(conversation: Conversation, [own = [], ...sides]: PersonsAnswers): Conversation {
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
