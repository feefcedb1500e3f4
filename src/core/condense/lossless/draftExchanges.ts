import { Exchanges, toolExchanges, type ToolExchange } from '../../messages/exchanges';
import { memoizeByObject } from '../../memoizeByObject';
import type { ApiMessage } from '../../messages/types';
import type { Draft } from '../draft/draft';
import type { Pace } from '../../pace';

interface Remembered {
  readonly tokens: number;
  readonly exchanges: readonly ToolExchange[];
}

const remembered = new WeakMap<Draft, Remembered>();

/** By a conversation's first message: the next draft's view is mostly what the one before had. */
const byConversation = memoizeByObject<ApiMessage, Exchanges>(() => new Exchanges());

/** Reads a draft's view at leisure, so that {@link exchangesOf} has little left to do at once. */
export async function readDraft(draft: Draft, pace: Pace): Promise<void> {
  const [first] = draft.original;
  if (first) await byConversation(first).read(draft.messages, pace);
}

/** The exchanges of a draft's view; most steps change nothing, and a change always changes the number of tokens. */
export function exchangesOf(draft: Draft): readonly ToolExchange[] {
  const known = remembered.get(draft);
  if (known?.tokens === draft.tokens) return known.exchanges;
  const [first] = draft.original;
  const exchanges = first ? byConversation(first).of(draft.messages) : [];
  remembered.set(draft, { tokens: draft.tokens, exchanges });
  return exchanges;
}

/** The exchanges of an original, which never changes. */
export const originalExchanges = memoizeByObject(toolExchanges);
