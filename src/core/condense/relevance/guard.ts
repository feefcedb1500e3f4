import { getBlockOrigin, type PlacedBlock } from './features';

/**
 * Share of the newest results within the budget whose lines of files are protected
 * (docs/research/relevance.md).
 */
const GUARDED_RESULT_SHARE = 0.3;

/** Greater than any score, so guarded blocks are removed last. */
const GUARDED_RELEVANCE_BONUS = 1_000;

export interface BlockToGuard {
  readonly tokens: number;
  /** Index of the result's message; undefined for parameters. */
  readonly result: number | undefined;
  readonly showsFile: boolean;
}

export function toGuardedBlock({ block, facts }: PlacedBlock): BlockToGuard {
  const origin = getBlockOrigin(facts, block.part);
  return {
    tokens: block.tokens,
    result: facts.type === 'toolResults' ? facts.message : undefined,
    showsFile: origin === 'read' || origin === 'printed',
  };
}

/**
 * Raises the scores of file lines in the newest results, which the agent has just read.
 * @param roomTokens tokens that may stay
 */
export function protectNewestResults(
  relevance: readonly number[],
  blocks: readonly BlockToGuard[],
  roomTokens: number,
): readonly number[] {
  const tokensByResult = new Map<number, number>();
  for (const { result, tokens } of blocks)
    if (result !== undefined) tokensByResult.set(result, (tokensByResult.get(result) ?? 0) + tokens);
  const resultsNewestFirst = [...tokensByResult].sort(([a], [b]) => b - a);
  let remainingTokens = roomTokens;
  const firstBeyondRoom = resultsNewestFirst.findIndex(([, tokens]) => (remainingTokens -= tokens) < 0);
  const guardedCount = Math.floor(
    GUARDED_RESULT_SHARE * (firstBeyondRoom < 0 ? resultsNewestFirst.length : firstBeyondRoom),
  );
  const oldestGuarded = resultsNewestFirst[guardedCount - 1]?.[0] ?? Infinity;
  return relevance.map((ownRelevance, at) => {
    const { result = -1, showsFile = false } = blocks[at] ?? {};
    return showsFile && result >= oldestGuarded ? ownRelevance + GUARDED_RELEVANCE_BONUS : ownRelevance;
  });
}
