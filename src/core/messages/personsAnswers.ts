/**
 * Marks results with the user's answers. Only the reader of an agent's own format knows this, since
 * any result could imitate the text.
 */
import type { Agent } from '../agents/types';
import { isToolResult, isToolUse } from './blocks';
import type { ApiMessage, Block, ToolResultBlock } from './types';

/** A symbol survives edits but is never written to a file or sent. */
const PERSONS_ANSWER_MARK = Symbol('a person speaks in this result');

export const markPersonsAnswer = <T extends Block>(block: T): T => ({ ...block, [PERSONS_ANSWER_MARK]: true });

export const isPersonsAnswer = (block: Block): boolean => PERSONS_ANSWER_MARK in block;

export const listToolsAskingPerson = (agents: readonly Pick<Agent, 'tools'>[]): ReadonlySet<string> =>
  new Set(
    agents.flatMap(({ tools }) =>
      Object.entries(tools)
        .filter(([, tool]) => tool.person)
        .map(([name]) => name),
    ),
  );

/** Returns messages without marked results as the same objects. */
export function markAnswersToTools(
  askingTools: ReadonlySet<string>,
  messages: readonly ApiMessage[],
): readonly ApiMessage[] {
  if (askingTools.size === 0) return messages;
  const questionIds = new Set<string>();
  return messages.map((message) => {
    const { role, content } = message;
    if (typeof content === 'string') return message;
    if (role === 'assistant') {
      for (const block of content) {
        if (!isToolUse(block)) continue;
        // If a model reuses an ID, it refers to the last call.
        if (askingTools.has(block.name.toLowerCase())) questionIds.add(block.id);
        else questionIds.delete(block.id);
      }
      return message;
    }
    const isAnswer = (block: Block): block is ToolResultBlock =>
      isToolResult(block) && questionIds.has(block.tool_use_id);
    if (!content.some(isAnswer)) return message;
    return { ...message, content: content.map((block) => (isAnswer(block) ? markPersonsAnswer(block) : block)) };
  });
}

export type MessageAndBlockIndex = readonly [message: number, block: number];

/** Lists the places of the marks, which can be sent to another thread; symbols would be lost. */
export const listPersonsAnswers = (messages: readonly ApiMessage[]): readonly MessageAndBlockIndex[] =>
  messages.flatMap(({ content }, message) =>
    typeof content === 'string'
      ? []
      : content.flatMap((block, at): MessageAndBlockIndex[] => (isPersonsAnswer(block) ? [[message, at]] : [])),
  );

export function markAnswersAtPlaces(
  places: readonly MessageAndBlockIndex[],
  messages: readonly ApiMessage[],
): readonly ApiMessage[] {
  const blocksByMessage = new Map<number, Set<number>>();
  for (const [message, block] of places)
    blocksByMessage.set(message, (blocksByMessage.get(message) ?? new Set()).add(block));
  if (blocksByMessage.size === 0) return messages;
  return messages.map((message, index) => {
    const answerBlocks = blocksByMessage.get(index);
    if (!answerBlocks || typeof message.content === 'string') return message;
    const content = message.content.map((block, at) => (answerBlocks.has(at) ? markPersonsAnswer(block) : block));
    return { ...message, content };
  });
}
