/**
 * Future-need recall of code lines: the conversation is cut where it went on, what stands before is condensed, and then: of
 * the lines that the agent's next edits quoted from before the cut, how many still stand in the view, and how many can be
 * recalled? Necessary, not sufficient: that a line stands there doesn't prove that a model uses it.
 */
import type { ApiMessage } from '../../messages/types';
import { cutsOf } from './cuts';
import { neededLinesOf } from './neededLater';
import { KeptParts, type CondensedPrefix } from './kept';

export interface CodeLineRetention {
  /** Lines that were needed later; 0 where the conversation has no such edits. */
  readonly needed: number;
  /** How many of them still stand in the view. */
  readonly verbatim: number;
  /** How many don't, and can be had back by a reference that stands in the view. */
  readonly recallable: number;
}

/**
 * @param condense condenses a prefix, which is never changed.
 * @throws what `condense` throws
 */
export async function codeLineRetention(
  messages: readonly ApiMessage[],
  condense: (prefix: readonly ApiMessage[]) => Promise<CondensedPrefix>,
): Promise<CodeLineRetention> {
  const found = { verbatim: 0, recallable: 0, lost: 0 };
  for (const { cut, end } of cutsOf(messages)) {
    const lines = neededLinesOf(messages, cut, end);
    if (lines.length === 0) continue;
    const prefix = messages.slice(0, cut);
    const kept = new KeptParts(prefix, await condense(prefix));
    for (const line of lines) found[kept.line(line)]++;
  }
  const { verbatim, recallable, lost } = found;
  return { needed: verbatim + recallable + lost, verbatim, recallable };
}
