/** Keeps lines that were shown last, whatever their score. */
import { getOrigin, type PlacedBlock } from './features';

/**
 * Share of the newest results that fit into the budget whose lines of files are kept. Half would
 * make one session fewer lose more than masking does, but all others lose more
 * (docs/research/relevance.md).
 */
const GUARDED_RESULT_SHARE = 0.3;

/** Greater than any score, so guarded blocks go last. */
const GUARD_BONUS = 1_000;

export interface GuardedBlock {
  readonly tokens: number;
  /** Index of the message with the block's result; undefined for parameters. */
  readonly result: number | undefined;
  /** True if it shows lines of a file. */
  readonly showsFile: boolean;
}

export function toGuardedBlock({ block, standing }: PlacedBlock): GuardedBlock {
  const origin = getOrigin(standing, block.part);
  return {
    tokens: block.tokens,
    result: standing.type === 'toolResults' ? standing.message : undefined,
    showsFile: origin === 'read' || origin === 'printed',
  };
}

/**
 * Raises the scores of file lines in the newest results: a rule that keeps the newest results never
 * loses what was just read, and a score should not either.
 * @param room tokens that may stay
 */
export function protectNewest(
  relevance: readonly number[],
  blocks: readonly GuardedBlock[],
  room: number,
): readonly number[] {
  const sizes = new Map<number, number>();
  for (const { result, tokens } of blocks)
    if (result !== undefined) sizes.set(result, (sizes.get(result) ?? 0) + tokens);
  const newest = [...sizes].sort(([a], [b]) => b - a);
  let left = room;
  const fitting = newest.findIndex(([, tokens]) => (left -= tokens) < 0);
  const count = Math.floor(GUARDED_RESULT_SHARE * (fitting < 0 ? newest.length : fitting));
  const oldest = newest[count - 1]?.[0] ?? Infinity;
  return relevance.map((own, at) => {
    const { result = -1, showsFile = false } = blocks[at] ?? {};
    return showsFile && result >= oldest ? own + GUARD_BONUS : own;
  });
}
