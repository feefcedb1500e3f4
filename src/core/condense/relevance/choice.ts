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

/** Where a larger share of what calls hold has to go, markers name nothing: names would take the place of the last lines. */
export const NAMES_UP_TO = 0.85;

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
 * Chooses what goes for so many tokens: always the block of which the least is likely to be needed for each token that is really saved.
 * So a block between two that go is likelier to go with them, and one that would take a marker of its own to stay.
 * @param relevance of each block: the logarithm of what is likely to be needed of it, for each of its tokens.
 */
export function leastFor(
  excess: number,
  relevance: readonly number[],
  tokens: readonly number[],
  follows: readonly boolean[],
): Choice {
  const choice = new Choice(tokens, follows);
  const queue = new Queue();
  const priceOf = (block: number): number =>
    (relevance[block] ?? 0) + Math.log((tokens[block] ?? 0) / choice.gain(block));
  const offer = (block: number): void => {
    if (choice.gain(block) > 0) queue.add({ block, price: priceOf(block) });
  };
  for (const block of tokens.keys()) offer(block);
  let over = -excess;
  const chosen: number[] = [];
  while (over < 0) {
    const next = queue.take();
    if (!next) break;
    const { block, price } = next;
    // Offered again since at a lower price, for a neighbour went.
    if (choice.has(block) || price !== priceOf(block)) continue;
    over += choice.change(block, true);
    chosen.push(block);
    if (follows[block] === true && !choice.has(block - 1)) offer(block - 1);
    if (follows[block + 1] === true && !choice.has(block + 1)) offer(block + 1);
  }
  // Blocks that need not go stay, the likeliest to be needed first; so do those that cost more than they save.
  for (const block of chosen.toSorted((a, b) => (relevance[b] ?? 0) - (relevance[a] ?? 0) || b - a)) {
    const gain = choice.gain(block);
    if (over >= gain || gain <= 0) over += choice.change(block, false);
  }
  return choice;
}

interface Offer {
  readonly block: number;
  readonly price: number;
}

const isLess = (a: Offer, b: Offer): boolean => a.price < b.price || (a.price === b.price && a.block < b.block);

/** Gives the offer of the lowest price: a binary heap. */
class Queue {
  private readonly heap: Offer[] = [];

  add(offer: Offer): void {
    let at = this.heap.push(offer) - 1;
    for (let parent = (at - 1) >> 1; at > 0 && isLess(offer, this.heap[parent] as Offer); parent = (at - 1) >> 1) {
      this.heap[at] = this.heap[parent] as Offer;
      this.heap[parent] = offer;
      at = parent;
    }
  }

  take(): Offer | undefined {
    const [first] = this.heap;
    const last = this.heap.pop();
    if (!last || this.heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      const [left, right] = [this.heap[child], this.heap[child + 1]];
      if (!left) break;
      if (right && isLess(right, left)) child++;
      const least = this.heap[child] as Offer;
      if (!isLess(least, last)) break;
      this.heap[at] = least;
      at = child;
    }
    this.heap[at] = last;
    return first;
  }
}
