/** What was shown last stays, whatever its score says. */
import { originOf, type Placed } from './features';

/**
 * Of the newest results that fit into the room, the share whose lines of files are guarded. Of half, one session fewer of the
 * corpora loses more than by masking, at the cost of all others (docs/research/relevance.md).
 */
const GUARDED = 0.3;

/** More than any score: what is guarded goes only if nothing else is left. */
const LAST = 1_000;

/** A block as the guard sees it. */
export interface GuardedBlock {
  readonly tokens: number;
  /** Index of the message with the result that it is part of; undefined for parameters. */
  readonly result: number | undefined;
  /** It shows lines of a file. */
  readonly showsFile: boolean;
}

export function asGuardedBlock({ block, standing }: Placed): GuardedBlock {
  const origin = originOf(standing, block.part);
  return {
    tokens: block.tokens,
    result: standing.type === 'toolResults' ? standing.message : undefined,
    showsFile: origin === 'read' || origin === 'printed',
  };
}

/**
 * Raises the scores of the lines of files in the newest results. A rule that keeps the newest results whole never loses what was read
 * a few turns ago, and neither may a score.
 * @param room tokens of the blocks that may stay.
 */
export function guardNewest(
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
  const count = Math.floor(GUARDED * (fitting < 0 ? newest.length : fitting));
  const oldest = newest[count - 1]?.[0] ?? Infinity;
  return relevance.map((own, at) => {
    const { result = -1, showsFile = false } = blocks[at] ?? {};
    return showsFile && result >= oldest ? own + LAST : own;
  });
}
