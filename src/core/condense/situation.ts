import type { ApiMessage } from '../messages/types';
import type { MessageCounter } from '../tokens/messageCounter';
import type { CondensationRequest } from './condensation';
import { applyEdits } from './edits/applyEdits';
import { editKey } from './edits/edits';
import type { ConversationContext } from './types';

/** A conversation as a request finds it. */
export interface Situation {
  /** What a provider gets. */
  readonly context: ConversationContext;
  /** The view so far. */
  readonly current: readonly ApiMessage[];
  /** How many earlier edits were left out, for they are of a history that has gone another way since. */
  readonly staleEdits: number;
}

export function situationOf(request: CondensationRequest, counter: MessageCounter): Situation {
  const { messages, edits = [], system, vendor, pinned } = request;
  const { messages: current, stale } = applyEdits(messages, edits);
  const gone = new Set(stale.map(editKey));
  const known = {
    ...(system !== undefined && { system }),
    ...(vendor !== undefined && { vendor }),
    ...(pinned && { pinned }),
  };
  const context = { messages, edits: edits.filter((edit) => !gone.has(editKey(edit))), counter, ...known };
  return { context, current, staleEdits: stale.length };
}

/** What a person should know of edits that were left out. */
export const staleNotes = (staleEdits: number): string[] =>
  staleEdits === 0
    ? []
    : [`${staleEdits} earlier edits don't fit the conversation any more and were left out: it went another way.`];

/**
 * What a person should know where nothing can bring a conversation under its target, for the task alone is above it.
 * @param tokens o200k tokens of the view so far.
 */
export function floorNote(request: CondensationRequest, tokens: number, counter: MessageCounter): string | undefined {
  const { messages, targetTokens, overheadTokens } = request;
  if (targetTokens === undefined || tokens <= targetTokens) return undefined;
  const task = messages.find((message) => message.role === 'user');
  const floor = task ? counter.message(task) : 0;
  if (floor <= targetTokens) return undefined;
  const beside = overheadTokens ? `, beside ${overheadTokens} of the system prompt and tools` : '';
  return `The task alone has ${floor} tokens${beside}: the messages can't be brought under ${targetTokens}.`;
}
