import { Exchanges, type ToolExchange } from '../messages/exchanges';
import type { ApiMessage } from '../messages/types';

/**
 * Caches that outlive a run, so that the next run reads only new messages. They never change
 * results.
 */
export class ConversationMemory {
  private readonly parts = new Map<() => unknown, unknown>();

  getOrCreate<T>(make: () => T): T {
    const known = this.parts.get(make) as T | undefined;
    if (known !== undefined) return known;
    const made = make();
    this.parts.set(make, made);
    return made;
  }
}

/** Keyed by the first message, so the memory is freed with the conversation. */
const memoryByFirstMessage = new WeakMap<ApiMessage, ConversationMemory>();

export function getConversationMemory([first]: readonly ApiMessage[]): ConversationMemory {
  const known = first && memoryByFirstMessage.get(first);
  if (known) return known;
  const made = new ConversationMemory();
  if (first) memoryByFirstMessage.set(first, made);
  return made;
}

const createEmptyExchanges = (): Exchanges => new Exchanges();

export const listOriginalExchanges = (original: readonly ApiMessage[]): readonly ToolExchange[] =>
  getConversationMemory(original).getOrCreate(createEmptyExchanges).getExchanges(original);
