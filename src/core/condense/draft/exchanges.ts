import { Exchanges, toolExchanges, type PlacedContent, type ToolExchange } from '../../messages/exchanges';
import { memoizeByObject } from '../../memoizeByObject';
import type { ApiMessage } from '../../messages/types';
import type { Draft } from './draft';
import { isOneMarker } from '../../messages/markers';

interface Remembered {
  readonly tokens: number;
  readonly exchanges: readonly ToolExchange[];
}

const remembered = new WeakMap<Draft, Remembered>();

/** By a conversation's first message: the next draft's view is mostly what the one before had. */
const byConversation = memoizeByObject<ApiMessage, Exchanges>(() => new Exchanges());

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

/**
 * True for content that no operation touches: the task (the first user message), and what is a marker and nothing else.
 */
export const protectedFrom = (draft: Draft, content: PlacedContent): boolean =>
  content.message <= draft.task || isOneMarker(content.text);
