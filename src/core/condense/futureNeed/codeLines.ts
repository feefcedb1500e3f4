/**
 * Counts code lines from before a cut that later edits quote and that the view keeps or can recall.
 * Such a line doesn't necessarily help the model.
 */
import type { ApiMessage } from '../../messages/types';
import { chooseSessionCuts } from './cuts';
import { findNeededLines } from './neededLater';
import type { View } from '../edits/view';
import { NeededLineChecker } from './kept';

export interface CodeLineRetention {
  readonly needed: number;
  readonly verbatim: number;
  /** Number of lines that are not in the view but that a reference in it leads to. */
  readonly recallable: number;
}

/** @param condensePrefix must not change the prefix */
export async function measureCodeLineRetention(
  messages: readonly ApiMessage[],
  condensePrefix: (prefix: readonly ApiMessage[]) => Promise<View>,
): Promise<CodeLineRetention> {
  const outcomeCounts = { verbatim: 0, recallable: 0, lost: 0 };
  for (const { cut, end } of chooseSessionCuts(messages)) {
    const neededLines = findNeededLines(messages, cut, end);
    if (neededLines.length === 0) continue;
    const lineChecker = new NeededLineChecker(await condensePrefix(messages.slice(0, cut)));
    for (const line of neededLines) outcomeCounts[lineChecker.checkLine(line)]++;
  }
  const { verbatim, recallable, lost } = outcomeCounts;
  return { needed: verbatim + recallable + lost, verbatim, recallable };
}
