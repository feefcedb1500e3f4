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
import { TURN_WINDOWS, type NeedTally } from './needBench';

/** The value was chosen by cross-validation (docs/decisions/0028-fitted-relevance.md). */
export const PENALTY = 0.03;

/** Estimates for each block how likely it is needed. */
export type ScoreBlocks = (cut: FitCut) => readonly number[];

export const getProjectKey = ({ project }: { readonly project: string }): string => project;

/** Returns weights by key, each fitted without the cuts that have this key. */
export function fitWeightsLeavingOut(
  cuts: readonly FitCut[],
  keyOf: (cut: FitCut) => string,
  isUsed: (feature: number) => boolean = () => true,
): Map<string, readonly number[]> {
  const weightsByKey = new Map<string, readonly number[]>();
  for (const key of new Set(cuts.map(keyOf))) {
    const otherCuts = cuts.filter((cut) => keyOf(cut) !== key);
    weightsByKey.set(key, fitWeights(otherCuts, { isUsed, penalty: PENALTY }));
  }
  return weightsByKey;
}

/** Scores each cut with weights that were fitted without all cuts that have its key. */
export function createScorerLeavingOut(
  cuts: readonly FitCut[],
  keyOf: (cut: FitCut) => string,
  isUsed: (feature: number) => boolean = () => true,
): ScoreBlocks {
  const weightsByKey = fitWeightsLeavingOut(cuts, keyOf, isUsed);
  return (cut) => computeScores(cut, weightsByKey.get(keyOf(cut)) ?? []);
}

const computeScores = ({ features }: FitCut, weights: readonly number[]): number[] =>
  features.map((row) => weights.reduce((sum, weight, at) => sum + weight * (row[at] ?? 0), 0));

/**
 * Returns sizes to which a cut's prefix is condensed, and the lines that a rule loses at each size.
 */
export type GetSizes = (cut: FitCut) => FitCut['rules'];

/** Uses exactly the sizes that the rules reach. */
const ruleSizes: GetSizes = ({ rules }) => rules;

/**
 * Counts the lines that are lost if the lowest-scored blocks are removed until these sizes are
 * reached; the resulting tokens are estimates.
 */
export function simulateRemoval(
  cuts: readonly FitCut[],
  scores: ScoreBlocks,
  sizes: GetSizes = ruleSizes,
): NeedTally[] {
  return cuts.flatMap((cut) => {
    const ownScores = blendWithNeighbors(scores(cut), cut.follows);
    const totalTokens = cut.tokens.reduce((sum, tokens) => sum + tokens, 0);
    return sizes(cut).flatMap(({ rule, tokens, lost }) => {
      const excess = cut.afterLossless - tokens;
      const freedTextTokens = countOldTextTokens(cut, excess);
      const showsNames = computeShareRemovedWithoutWords(excess, cut.tokens) <= MAX_REMOVED_SHARE_WITH_NAMES;
      const gains = showsNames ? cut.tokens.map((own, block) => own - (cut.names[block] ?? 0)) : cut.tokens;
      const relevance = protectNewestResults(ownScores, cut.guarded, totalTokens - (excess - freedTextTokens));
      const removedBlocks = chooseLeastNeededBlocks(excess - freedTextTokens, relevance, gains, cut.follows);
      const tokensLeft = gains.reduce(
        (sum, own, block) => sum - (removedBlocks.isRemoved(block) ? own : 0),
        cut.afterLossless - freedTextTokens,
      );
      return TURN_WINDOWS.map((turns, at): NeedTally => {
        const needed = cut.lines.filter(({ windows }) => windows[at]);
        const isLost = ({ isSafe, blocks }: FitCut['lines'][number]): boolean =>
          !isSafe && blocks.every((block) => removedBlocks.isRemoved(block));
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
          afterUs: tokensLeft,
        };
      });
    });
  });
}

/**
 * Returns the tokens freed by those of the agent's oldest texts that are removed to get rid of this
 * excess.
 */
function countOldTextTokens({ tokens, words }: FitCut, excess: number): number {
  const removedShare = computeShareRemovedWithoutWords(excess, tokens);
  let freedTokens = 0;
  for (const { gain, textAfter } of words) {
    if (freedTokens >= excess || textAfter < 1 - removedShare) break;
    freedTokens += gain;
  }
  return freedTokens;
}
