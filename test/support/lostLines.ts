/** For tests and benchmarks: checks strict cuts without knowledge of tools. */
import type { ApiMessage } from '../../src/core/messages/types';
import {
  findCutsWithBrokenReferences,
  type BrokenCut,
  type CutsAtPlace,
} from '../../src/core/condense/lossless/integrity';

/**
 * The first strict cut with a line that is nowhere in the view, even after a number or path. {@link
 * findCutsWithBrokenReferences} alone interprets results by their calls, and after a cut in the command mistakes a
 * numbered line.
 */
export function lostLines(
  original: readonly ApiMessage[],
  view: readonly ApiMessage[],
  cuts: Iterable<CutsAtPlace>,
): BrokenCut | undefined {
  const broken = findCutsWithBrokenReferences(original, view, cuts).filter(({ line }) => line !== '');
  if (broken.length === 0) return undefined;
  const text = JSON.stringify(view);
  return broken.find(({ line }) => !text.includes(JSON.stringify(line).slice(1, -1)));
}
