/**
 * Checks without knowledge of tools that the view still contains the lines of strict cuts, for
 * tests and benchmarks.
 */
import type { ApiMessage } from '../../src/core/messages/types';
import {
  findCutsWithBrokenReferences,
  type BrokenCut,
  type CutsAtPlace,
} from '../../src/core/condense/lossless/integrity';

/**
 * Finds the first strict cut with a line that is nowhere else in the view, not even after a line
 * number or path. {@link findCutsWithBrokenReferences} alone is not enough: it interprets results
 * by their calls, and mistakes numbered lines after a cut in the command.
 */
export function findLostLine(
  original: readonly ApiMessage[],
  view: readonly ApiMessage[],
  cuts: Iterable<CutsAtPlace>,
): BrokenCut | undefined {
  const brokenCuts = findCutsWithBrokenReferences(original, view, cuts).filter(({ line }) => line !== '');
  if (brokenCuts.length === 0) return undefined;
  const text = JSON.stringify(view);
  return brokenCuts.find(({ line }) => !text.includes(JSON.stringify(line).slice(1, -1)));
}
