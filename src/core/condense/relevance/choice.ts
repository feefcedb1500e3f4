/** About what a marker takes. Tokens. */
export const MARKER_TOKENS = 21;

/** Of what calls hold: where no more than this share has to go, the agent's own words stay. */
const WORDS_STAY = 0.5;

/**
 * How large a part of the conversation's text, from its beginning on, gives up the agent's own words: as large a share as has to go of
 * what calls hold. Without them so little of the calls would be left that recency alone kept more of what is needed
 * (docs/decisions/0028-fitted-relevance.md).
 * @param excess tokens that must go.
 * @param tokens of the blocks that may go.
 * @returns 0 to 1.
 */
export function wordlessPart(excess: number, tokens: readonly number[]): number {
  const share =
    excess /
    Math.max(
      1,
      tokens.reduce((sum, one) => sum + one, 0),
    );
  return share > WORDS_STAY ? Math.min(1, share) : 0;
}

/** The removed blocks, chosen one by one. Neighbours that go share a marker. */
export class Choice {
  private readonly gone: Uint8Array;

  /**
   * @param tokens of each block.
   * @param follows for each block, whether the one before it is its neighbour in the same text.
   */
  constructor(
    private readonly tokens: readonly number[],
    private readonly follows: readonly boolean[],
  ) {
    this.gone = new Uint8Array(tokens.length);
  }

  has(block: number): boolean {
    return this.gone[block] === 1;
  }

  /**
   * Takes a block out or puts it back.
   * @returns the tokens that are saved by it, about; of one that comes back less than 0.
   */
  change(block: number, goes: boolean): number {
    const gain = this.gain(block);
    this.gone[block] = goes ? 1 : 0;
    return goes ? gain : -gain;
  }

  /** A block's saving beside its neighbours as they are. */
  gain(block: number): number {
    const isBehind = this.follows[block] === true && this.has(block - 1);
    const isBefore = this.follows[block + 1] === true && this.has(block + 1);
    return (this.tokens[block] ?? 0) + (Number(isBehind) + Number(isBefore) - 1) * MARKER_TOKENS;
  }
}

/**
 * Chooses what goes for so many tokens.
 * @param order the blocks in the order in which they go.
 */
export function leastFor(
  excess: number,
  order: readonly number[],
  tokens: readonly number[],
  follows: readonly boolean[],
): Choice {
  const choice = new Choice(tokens, follows);
  let over = -excess;
  let count = 0;
  for (const block of order) {
    if (over >= 0) break;
    over += choice.change(block, true);
    count++;
  }
  // Blocks that need not go stay, the likeliest to be needed first; so do those that cost more than they save.
  for (let at = count - 1; at >= 0; at--) {
    const block = order[at] as number;
    const gain = choice.gain(block);
    if (over >= gain || gain <= 0) over += choice.change(block, false);
  }
  return choice;
}
