export const MARKER_TOKENS = 21;

/** If at most this share of the calls' tokens must go, the agent's own words stay. */
const MAX_REMOVED_SHARE_WITH_WORDS = 0.5;

/**
 * Share of the conversation, from its beginning, in which the agent's own words go
 * (docs/decisions/0028-fitted-relevance.md).
 * @param tokens of the blocks that may go
 * @returns 0 to 1
 */
export function computeShareRemovedWithoutWords(excessTokens: number, tokens: readonly number[]): number {
  const removedShare =
    excessTokens /
    Math.max(
      1,
      tokens.reduce((sum, one) => sum + one, 0),
    );
  return removedShare > MAX_REMOVED_SHARE_WITH_WORDS ? Math.min(1, removedShare) : 0;
}

/**
 * If a larger share must be removed, markers contain no names, because names would displace the
 * last lines.
 */
export const MAX_REMOVED_SHARE_WITH_NAMES = 0.85;

/** Adjacent removed blocks share a marker. */
export class RemovedBlocks {
  private readonly isRemovedByBlock: Uint8Array;

  /** @param followsPrevious for each block, whether it directly follows another in the same text */
  constructor(
    private readonly tokens: readonly number[],
    private readonly followsPrevious: readonly boolean[],
  ) {
    this.isRemovedByBlock = new Uint8Array(tokens.length);
  }

  isRemoved(block: number): boolean {
    return this.isRemovedByBlock[block] === 1;
  }

  /** @returns approximate tokens saved; negative if the block is put back */
  setRemoved(block: number, isRemoved: boolean): number {
    const savedTokens = this.computeSavingOfRemoval(block);
    this.isRemovedByBlock[block] = isRemoved ? 1 : 0;
    return isRemoved ? savedTokens : -savedTokens;
  }

  /** The saving depends on the block's neighbors, because adjacent blocks share a marker. */
  computeSavingOfRemoval(block: number): number {
    const isPreviousRemoved = this.followsPrevious[block] === true && this.isRemoved(block - 1);
    const isNextRemoved = this.followsPrevious[block + 1] === true && this.isRemoved(block + 1);
    return (this.tokens[block] ?? 0) + (Number(isPreviousRemoved) + Number(isNextRemoved) - 1) * MARKER_TOKENS;
  }
}

/**
 * Always removes the block with the least relevance per token saved.
 * @param relevance for each block: logarithm of the expected need per token
 */
export function chooseLeastNeededBlocks(
  excessTokens: number,
  relevance: readonly number[],
  tokens: readonly number[],
  follows: readonly boolean[],
): RemovedBlocks {
  const removedBlocks = new RemovedBlocks(tokens, follows);
  const queue = new RemovalOfferQueue();
  const getPrice = (block: number): number =>
    (relevance[block] ?? 0) + Math.log((tokens[block] ?? 0) / removedBlocks.computeSavingOfRemoval(block));
  const offerBlock = (block: number): void => {
    if (removedBlocks.computeSavingOfRemoval(block) > 0) queue.addOffer({ block, price: getPrice(block) });
  };
  for (const block of tokens.keys()) offerBlock(block);
  let spareTokens = -excessTokens;
  const chosenBlocks: number[] = [];
  while (spareTokens < 0) {
    const cheapestOffer = queue.takeCheapest();
    if (!cheapestOffer) break;
    const { block, price } = cheapestOffer;
    // Removing a neighbor has lowered the block's price, so the block was offered again at the new
    // price.
    if (removedBlocks.isRemoved(block) || price !== getPrice(block)) continue;
    spareTokens += removedBlocks.setRemoved(block, true);
    chosenBlocks.push(block);
    if (follows[block] === true && !removedBlocks.isRemoved(block - 1)) offerBlock(block - 1);
    if (follows[block + 1] === true && !removedBlocks.isRemoved(block + 1)) offerBlock(block + 1);
  }
  // Puts back blocks that need not be removed, and those that cost more than they save.
  for (const block of chosenBlocks.toSorted((a, b) => (relevance[b] ?? 0) - (relevance[a] ?? 0) || b - a)) {
    const gain = removedBlocks.computeSavingOfRemoval(block);
    if (spareTokens >= gain || gain <= 0) spareTokens += removedBlocks.setRemoved(block, false);
  }
  return removedBlocks;
}

interface RemovalOffer {
  readonly block: number;
  readonly price: number;
}

const isCheaperOffer = (a: RemovalOffer, b: RemovalOffer): boolean =>
  a.price < b.price || (a.price === b.price && a.block < b.block);

class RemovalOfferQueue {
  private readonly heap: RemovalOffer[] = [];

  addOffer(offer: RemovalOffer): void {
    let heapIndex = this.heap.push(offer) - 1;
    for (
      let parentIndex = (heapIndex - 1) >> 1;
      heapIndex > 0 && isCheaperOffer(offer, this.heap[parentIndex] as RemovalOffer);
      parentIndex = (heapIndex - 1) >> 1
    ) {
      this.heap[heapIndex] = this.heap[parentIndex] as RemovalOffer;
      this.heap[parentIndex] = offer;
      heapIndex = parentIndex;
    }
  }

  takeCheapest(): RemovalOffer | undefined {
    const [cheapest] = this.heap;
    const lastOffer = this.heap.pop();
    if (!lastOffer || this.heap.length === 0) return cheapest;
    let heapIndex = 0;
    for (;;) {
      let childIndex = 2 * heapIndex + 1;
      const [left, right] = [this.heap[childIndex], this.heap[childIndex + 1]];
      if (!left) break;
      if (right && isCheaperOffer(right, left)) childIndex++;
      const cheapestChild = this.heap[childIndex] as RemovalOffer;
      if (!isCheaperOffer(cheapestChild, lastOffer)) break;
      this.heap[heapIndex] = cheapestChild;
      heapIndex = childIndex;
    }
    this.heap[heapIndex] = lastOffer;
    return cheapest;
  }
}
