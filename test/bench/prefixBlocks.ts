/**
 * Splits a session's prefix after Lossless into blocks, and finds those with needed content. This
 * is the data for fitting relevance.
 */
import type { ApiMessage } from '../../src/core/messages/types';
import { DEFAULT_TOOLS } from '../../src/core/messages/tools';
import type { MessageCounter } from '../../src/core/tokens/messageCounter';
import type { Draft } from '../../src/core/condense/draft/draft';
import { makePlaceKey } from '../../src/core/condense/edits/edits';
import { losslessConfigSchema, runLossless } from '../../src/core/condense/lossless/run';
import { findPruneCandidates, type PruneCandidate } from '../../src/core/condense/providers/smart/candidates';
import type { ContentItem } from '../../src/core/condense/providers/smart/items';
import { directlyFollowsBlock } from '../../src/core/condense/providers/smart/prune';
import type { FitLine, FitSample } from './fitWeights';
import type { NeededLine } from '../../src/core/condense/futureNeed/neededLater';
import type { ShownLine } from '../../src/core/condense/lines/shownLines';

/** The values are those of File-Aware's pass. */
const MIN_TOKENS = 36;
const KEPT_NEWEST_MESSAGES = 2;

export interface PrefixBlocks {
  readonly draft: Draft;
  readonly candidates: readonly PruneCandidate[];
  /** True for the items that may be pruned. */
  readonly isWanted: (item: ContentItem) => boolean;
}

export async function prefixBlocks(prefix: readonly ApiMessage[], counter: MessageCounter): Promise<PrefixBlocks> {
  const context = { messages: prefix, edits: [], counter };
  const { draft } = await runLossless(context, losslessConfigSchema.parse({}), {});
  const isPrunable = ({ message, tokens }: ContentItem): boolean =>
    message < prefix.length - KEPT_NEWEST_MESSAGES && tokens >= MIN_TOKENS;
  return { draft, candidates: await findPruneCandidates(draft, DEFAULT_TOOLS, isPrunable), isWanted: isPrunable };
}

/** A line that is needed after the prefix, and the windows in which it is needed. */
export interface NeededAfterPrefix {
  readonly line: NeededLine;
  readonly windows: readonly boolean[];
}

/** Returns the blocks' features and tokens, and the needed lines. */
export const makeSample = (
  { draft, candidates }: PrefixBlocks,
  lines: readonly NeededAfterPrefix[],
): Pick<FitSample, 'features' | 'tokens' | 'lines'> => ({
  features: candidates.map(({ features }) => features),
  tokens: candidates.map(({ block }) => block.tokens),
  lines: fitLines(lines, draft, candidates),
});

/** Returns for each block whether it directly follows the previous one. */
export const findNeighbors = (candidates: readonly PruneCandidate[]): boolean[] =>
  candidates.map((candidate, at) => directlyFollowsBlock(candidates[at - 1], candidate));

function fitLines(lines: readonly NeededAfterPrefix[], draft: Draft, candidates: readonly PruneCandidate[]): FitLine[] {
  const candidatesByPlace = new Map<string, number[]>();
  for (const [index, { content }] of candidates.entries()) {
    const key = makePlaceKey(content);
    const indexesAtPlace = candidatesByPlace.get(key);
    if (indexesAtPlace) indexesAtPlace.push(index);
    else candidatesByPlace.set(key, [index]);
  }
  return lines.map(({ line, windows }) => {
    const blocks = new Set<number>();
    let isSafe = false;
    for (const shown of line.shown) {
      const viewPosition = findPositionInView(draft, shown);
      if (viewPosition === undefined) continue;
      const block = candidatesByPlace.get(makePlaceKey(shown))?.find((index) => {
        const { content, block: own } = candidates[index] as PruneCandidate;
        return content.start + own.start <= viewPosition && viewPosition < content.start + own.end;
      });
      if (block === undefined) isSafe = true;
      else blocks.add(block);
    }
    return { blocks: [...blocks], isSafe, windows };
  });
}

/** Returns the position of a line in the draft's view; undefined if the line was removed. */
function findPositionInView(draft: Draft, shown: ShownLine): number | undefined {
  const key = makePlaceKey(shown);
  const shownContent = draft.shown[shown.message]?.find(({ place }) => makePlaceKey(place) === key);
  let shift = 0;
  for (const { start, end, text } of shownContent?.cuts ?? []) {
    if (start < shown.end && end > shown.start) return undefined;
    if (end <= shown.start) shift += text.length - (end - start);
  }
  return shown.start + shift;
}
