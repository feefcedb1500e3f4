import { Exchanges, type ToolExchange } from '../messages/exchanges';
import type { ApiMessage } from '../messages/types';

/**
 * Caches of a conversation that last from run to run. Messages never change, so a run over a grown
 * conversation reads only new ones. Affects speed only, never results.
 */
export class ConversationMemory {
  private readonly parts = new Map<() => unknown, unknown>();

  /** The cache that a function creates on first use. */
  getPart<T>(make: () => T): T {
    const known = this.parts.get(make) as T | undefined;
    if (known !== undefined) return known;
    const made = make();
    this.parts.set(make, made);
    return made;
  }
}

/** Keyed by the first message, so the memory is released with the conversation. */
const byFirstMessage = new WeakMap<ApiMessage, ConversationMemory>();

/** The memory of a conversation, whatever its current length. */
export function getConversationMemory([first]: readonly ApiMessage[]): ConversationMemory {
  const known = first && byFirstMessage.get(first);
  if (known) return known;
  const made = new ConversationMemory();
  if (first) byFirstMessage.set(first, made);
  return made;
}

const createExchanges = (): Exchanges => new Exchanges();

/** The exchanges of a conversation's original messages. */
export const listOriginalExchanges = (original: readonly ApiMessage[]): readonly ToolExchange[] =>
  getConversationMemory(original).getPart(createExchanges).getExchanges(original);
