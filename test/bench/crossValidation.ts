/** Cross-validation of fitted weights: what is lost by weights that were fitted without the cuts they are judged on. */
import { leastFor, NAMES_UP_TO, wordlessPart } from '../../src/core/condense/relevance/choice';
import { fitWeights } from './fitWeights';
import { guardNewest } from '../../src/core/condense/relevance/guard';
import { besideNeighbours } from '../../src/core/condense/relevance/relevance';
import type { FitCut } from './fitCuts';
import { WINDOWS, type NeedTally } from './needBench';

/** Chosen by cross-validation (docs/decisions/0028-fitted-relevance.md). */
export const PENALTY = 0.03;

/** How likely each block of a cut is to be needed. */
export type Scores = (cut: FitCut) => readonly number[];

export const keyOfProject = ({ project }: { readonly project: string }): string => project;

/** Weights by key, each fitted without the cuts that have the key. */
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

/** Weights for each cut that were fitted without those that share a key with it. */
export function leavingOut(
  cuts: readonly FitCut[],
  keyOf: (cut: FitCut) => string,
  isUsed: (feature: number) => boolean = () => true,
): Scores {
  const byKey = weightsLeavingOut(cuts, keyOf, isUsed);
  return (cut) => scoresOf(cut, byKey.get(keyOf(cut)) ?? []);
}

const scoresOf = ({ features }: FitCut, weights: readonly number[]): number[] =>
  features.map((row) => weights.reduce((sum, weight, at) => sum + weight * (row[at] ?? 0), 0));

/** A size of a cut's prefix, and what a rule loses that leaves it. */
export type Sizes = (cut: FitCut) => FitCut['rules'];

/** The very sizes that the rules leave. */
const ruleSizes: Sizes = ({ rules }) => rules;

/** The lines that are lost at sizes if the blocks of the lowest scores go; tokens are estimates. */
export function simulated(cuts: readonly FitCut[], scores: Scores, sizes: Sizes = ruleSizes): NeedTally[] {
  return cuts.flatMap((cut) => {
    const own = besideNeighbours(scores(cut), cut.follows);
    const all = cut.tokens.reduce((sum, tokens) => sum + tokens, 0);
    return sizes(cut).flatMap(({ rule, tokens, lost }) => {
      const excess = cut.afterLossless - tokens;
      const words = oldWords(cut, excess);
      const isNamed = wordlessPart(excess, cut.tokens) <= NAMES_UP_TO;
      const gains = isNamed ? cut.tokens.map((own, block) => own - (cut.names[block] ?? 0)) : cut.tokens;
      const relevance = guardNewest(own, cut.guarded, all - (excess - words));
      const gone = leastFor(excess - words, relevance, gains, cut.follows);
      const left = gains.reduce((sum, own, block) => sum - (gone.has(block) ? own : 0), cut.afterLossless - words);
      return WINDOWS.map((turns, at): NeedTally => {
        const needed = cut.lines.filter(({ windows }) => windows[at]);
        const isLost = ({ isSafe, blocks }: FitCut['lines'][number]): boolean =>
          !isSafe && blocks.every((block) => gone.has(block));
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

/** Tokens that the agent's oldest words free, where so much has to go that they do, too. */
function oldWords({ tokens, words }: FitCut, excess: number): number {
  const part = wordlessPart(excess, tokens);
  let freed = 0;
  for (const { gain, textAfter } of words) {
    if (freed >= excess || textAfter < 1 - part) break;
    freed += gain;
  }
  return freed;
}
