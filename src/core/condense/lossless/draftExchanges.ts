import { toolExchanges, type ToolExchange } from '../../messages/exchanges';
import type { Draft } from '../draft';

interface Remembered {
  readonly tokens: number;
  readonly exchanges: readonly ToolExchange[];
}

const remembered = new WeakMap<Draft, Remembered>();

/** The exchanges of a draft's view; most steps change nothing, and a change always changes the number of tokens. */
export function exchangesOf(draft: Draft): readonly ToolExchange[] {
  const known = remembered.get(draft);
  if (known?.tokens === draft.tokens) return known.exchanges;
  const exchanges = toolExchanges(draft.messages);
  remembered.set(draft, { tokens: draft.tokens, exchanges });
  return exchanges;
}
