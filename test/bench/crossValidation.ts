/** Cross-validation of fitted weights: losses with weights fitted without the tested cuts. */
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

/** Chosen by cross-validation (docs/decisions/0028-fitted-relevance.md). */
export const PENALTY = 0.03;

/** Each block's likelihood of being needed. */
export type Scores = (cut: FitCut) => readonly number[];

export const keyOfProject = ({ project }: { readonly project: string }): string => project;

/** Weights by key, fitted without that key's cuts. */
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

/** Weights per cut, fitted without cuts that share a key. */
export function leavingOut(
  cuts: readonly FitCut[],
  keyOf: (cut: FitCut) => string,
  isUsed: (feature: number) => boolean = () => true,
): Scores {
  const byKey = weightsLeavingOut(cuts, keyOf, isUsed);
  return (cut) => computeScores(cut, byKey.get(keyOf(cut)) ?? []);
}

const computeScores = ({ features }: FitCut, weights: readonly number[]): number[] =>
  features.map((row) => weights.reduce((sum, weight, at) => sum + weight * (row[at] ?? 0), 0));

/** A size of a cut's prefix, and the loss of a rule that reaches it. */
export type Sizes = (cut: FitCut) => FitCut['rules'];

/** Exactly the rules' sizes. */
const ruleSizes: Sizes = ({ rules }) => rules;

/** Lines lost if the lowest-scored blocks are removed down to these sizes; tokens are estimates. */
export function simulated(cuts: readonly FitCut[], scores: Scores, sizes: Sizes = ruleSizes): NeedTally[] {
  return cuts.flatMap((cut) => {
    const own = blendWithNeighbors(scores(cut), cut.follows);
    const all = cut.tokens.reduce((sum, tokens) => sum + tokens, 0);
    return sizes(cut).flatMap(({ rule, tokens, lost }) => {
      const excess = cut.afterLossless - tokens;
      const words = oldWords(cut, excess);
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

/** Tokens freed by the agent's oldest texts, if enough must be removed. */
function oldWords({ tokens, words }: FitCut, excess: number): number {
  const part = computeShareRemovedWithoutWords(excess, tokens);
  let freed = 0;
  for (const { gain, textAfter } of words) {
    if (freed >= excess || textAfter < 1 - part) break;
    freed += gain;
  }
  return freed;
}
