import { Exchanges, type ToolExchange } from '../messages/exchanges';
import type { ApiMessage } from '../messages/types';

/**
 * Caches that outlive a run, so that the next run reads only new messages. They never change
 * results.
 */
export class ConversationMemory {
  private readonly partByCreator = new Map<() => unknown, unknown>();

  getOrCreate<T>(make: () => T): T {
    const existingPart = this.partByCreator.get(make) as T | undefined;
    if (existingPart !== undefined) return existingPart;
    const newPart = make();
    this.partByCreator.set(make, newPart);
    return newPart;
  }
}

/** Keyed by the first message, so the memory is freed with the conversation. */
const memoryByFirstMessage = new WeakMap<ApiMessage, ConversationMemory>();

export function getConversationMemory([firstMessage]: readonly ApiMessage[]): ConversationMemory {
  const existingMemory = firstMessage && memoryByFirstMessage.get(firstMessage);
  if (existingMemory) return existingMemory;
  const newMemory = new ConversationMemory();
  if (firstMessage) memoryByFirstMessage.set(firstMessage, newMemory);
  return newMemory;
}

const createEmptyExchanges = (): Exchanges => new Exchanges();

export const listOriginalExchanges = (original: readonly ApiMessage[]): readonly ToolExchange[] =>
  getConversationMemory(original).getOrCreate(createEmptyExchanges).getExchanges(original);
