import { Exchanges, type ToolExchange } from '../messages/exchanges';
import type { ApiMessage } from '../messages/types';

/**
 * What is remembered about one conversation from run to run, in one place. Messages never change, so a run over a conversation that has
 * grown reads only what is new. It changes no result, only the time that one takes.
 */
export class ConversationMemory {
  private readonly parts = new Map<() => unknown, unknown>();

  /** The part that a function makes: made when it is first asked for. */
  part<T>(make: () => T): T {
    const known = this.parts.get(make) as T | undefined;
    if (known !== undefined) return known;
    const made = make();
    this.parts.set(make, made);
    return made;
  }
}

/** A conversation is known by its first message: its memory goes when that goes. */
const byFirstMessage = new WeakMap<ApiMessage, ConversationMemory>();

/** The memory of a conversation, at whatever length it is now. */
export function conversationMemory([first]: readonly ApiMessage[]): ConversationMemory {
  const known = first && byFirstMessage.get(first);
  if (known) return known;
  const made = new ConversationMemory();
  if (first) byFirstMessage.set(first, made);
  return made;
}

const newExchanges = (): Exchanges => new Exchanges();

/** The exchanges of a conversation's original messages. */
export const originalExchanges = (original: readonly ApiMessage[]): readonly ToolExchange[] =>
  conversationMemory(original).part(newExchanges).of(original);
