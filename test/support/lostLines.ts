/** Shared by tests and benchmarks: the check of strict cuts, as somebody would make it who knows nothing of tools. */
import type { ApiMessage } from '../../src/core/messages/types';
import { brokenCuts, type BrokenCut, type PlaceCuts } from '../../src/core/condense/lossless/integrity';

/**
 * The first strict cut of which a line stands nowhere in the view, not even behind a number or a path. {@link brokenCuts} alone
 * reads a result by its call, and where the call's command was cut it takes a numbered line for another one.
 */
export function lostLines(
  original: readonly ApiMessage[],
  view: readonly ApiMessage[],
  cuts: Iterable<PlaceCuts>,
): BrokenCut | undefined {
  const broken = brokenCuts(original, view, cuts).filter(({ line }) => line !== '');
  if (broken.length === 0) return undefined;
  const text = JSON.stringify(view);
  return broken.find(({ line }) => !text.includes(JSON.stringify(line).slice(1, -1)));
}
