/**
 * Cross-validates fitted weights: computes the losses of cuts with weights that were fitted without
 * them.
 */
import {
  chooseLeastNeededBlocks,
  MAX_REMOVED_SHARE_WITH_NAMES,
  computeShareRemovedWithoutWords,
} from '../../src/core/condense/relevance/choice';
import { fitWeights } from './fitWeights';
import { protectNewestResults } from '../../src/core/condense/relevance/guard';
import { blendWithNeighbors } from '../../src/core/condense/relevance/relevance';
import type { FitCut } from './fitCuts';
import { WINDOWS, type NeedTally } from './needBench';

/** The value was chosen by cross-validation (docs/decisions/0028-fitted-relevance.md). */
export const PENALTY = 0.03;

/** Estimates for each block how likely it is needed. */
export type Scores = (cut: FitCut) => readonly number[];

export const keyOfProject = ({ project }: { readonly project: string }): string => project;

/** Returns weights by key, each fitted without the cuts that have this key. */
export function weightsLeavingOut(
  cuts: readonly FitCut[],
  keyOf: (cut: FitCut) => string,
  isUsed: (feature: number) => boolean = () => true,
): Map<string, readonly number[]> {
  const byKey = new Map<string, readonly number[]>();
  for (const key of new Set(cuts.map(keyOf))) {
    const others = cuts.filter((cut) => keyOf(cut) !== key);
    byKey.set(key, fitWeights(others, { isUsed, penalty: PENALTY }));
  }
  return byKey;
}

/** Scores each cut with weights that were fitted without all cuts that have its key. */
export function scoreLeavingOut(
  cuts: readonly FitCut[],
  keyOf: (cut: FitCut) => string,
  isUsed: (feature: number) => boolean = () => true,
): Scores {
  const byKey = weightsLeavingOut(cuts, keyOf, isUsed);
  return (cut) => computeScores(cut, byKey.get(keyOf(cut)) ?? []);
}

const computeScores = ({ features }: FitCut, weights: readonly number[]): number[] =>
  features.map((row) => weights.reduce((sum, weight, at) => sum + weight * (row[at] ?? 0), 0));

/**
 * Returns sizes to which a cut's prefix is condensed, and the lines that a rule loses at each size.
 */
export type Sizes = (cut: FitCut) => FitCut['rules'];

/** Uses exactly the sizes that the rules reach. */
const ruleSizes: Sizes = ({ rules }) => rules;

/**
 * Counts the lines that are lost if the lowest-scored blocks are removed until these sizes are
 * reached; the resulting tokens are estimates.
 */
export function simulateRemoval(cuts: readonly FitCut[], scores: Scores, sizes: Sizes = ruleSizes): NeedTally[] {
  return cuts.flatMap((cut) => {
    const own = blendWithNeighbors(scores(cut), cut.follows);
    const all = cut.tokens.reduce((sum, tokens) => sum + tokens, 0);
    return sizes(cut).flatMap(({ rule, tokens, lost }) => {
      const excess = cut.afterLossless - tokens;
      const words = countOldTextTokens(cut, excess);
      const isNamed = computeShareRemovedWithoutWords(excess, cut.tokens) <= MAX_REMOVED_SHARE_WITH_NAMES;
      const gains = isNamed ? cut.tokens.map((own, block) => own - (cut.names[block] ?? 0)) : cut.tokens;
      const relevance = protectNewestResults(own, cut.guarded, all - (excess - words));
      const gone = chooseLeastNeededBlocks(excess - words, relevance, gains, cut.follows);
      const left = gains.reduce(
        (sum, own, block) => sum - (gone.isRemoved(block) ? own : 0),
        cut.afterLossless - words,
      );
      return WINDOWS.map((turns, at): NeedTally => {
        const needed = cut.lines.filter(({ windows }) => windows[at]);
        const isLost = ({ isSafe, blocks }: FitCut['lines'][number]): boolean =>
          !isSafe && blocks.every((block) => gone.isRemoved(block));
        return {
          agent: cut.agent,
          project: cut.project,
          rule,
          turns,
          needed: needed.length,
          lostByRule: lost[at] ?? 0,
          lostByUs: needed.filter(isLost).length,
          before: cut.before,
          afterRule: tokens,
          afterUs: left,
        };
      });
    });
  });
}

/**
 * Returns the tokens that the agent's oldest texts free, if so much must be removed that they are.
 */
function countOldTextTokens({ tokens, words }: FitCut, excess: number): number {
  const part = computeShareRemovedWithoutWords(excess, tokens);
  let freed = 0;
  for (const { gain, textAfter } of words) {
    if (freed >= excess || textAfter < 1 - part) break;
    freed += gain;
  }
  return freed;
}
