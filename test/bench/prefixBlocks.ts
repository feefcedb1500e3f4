/** The beginning of a session after Lossless as blocks, and which of them hold what is needed behind it: what relevance is fitted to. */
import type { ApiMessage } from '../../src/core/messages/types';
import { DEFAULT_TOOLS } from '../../src/core/messages/tools';
import type { MessageCounter } from '../../src/core/tokens/messageCounter';
import type { Draft } from '../../src/core/condense/draft/draft';
import { placeKey } from '../../src/core/condense/edits/edits';
import { losslessConfigSchema, runLossless } from '../../src/core/condense/lossless/run';
import { candidatesOf, type Candidate } from '../../src/core/condense/providers/smart/candidates';
import type { Item } from '../../src/core/condense/providers/smart/items';
import { follows } from '../../src/core/condense/providers/smart/prune';
import type { FitLine, FitSample } from './fitWeights';
import type { NeededLine } from '../../src/core/condense/futureNeed/neededLater';
import type { ShownLine } from '../../src/core/condense/lines/shownLines';

/** As File-Aware's pass has it. */
const MIN_TOKENS = 36;
const NEWEST = 2;

export interface PrefixBlocks {
  /** After Lossless. */
  readonly draft: Draft;
  readonly candidates: readonly Candidate[];
  /** True for the items that may be pruned. */
  readonly isWanted: (item: Item) => boolean;
}

export async function prefixBlocks(prefix: readonly ApiMessage[], counter: MessageCounter): Promise<PrefixBlocks> {
  const context = { messages: prefix, edits: [], counter };
  const { draft } = await runLossless(context, losslessConfigSchema.parse({}), {});
  const isWanted = ({ message, tokens }: Item): boolean => message < prefix.length - NEWEST && tokens >= MIN_TOKENS;
  return { draft, candidates: await candidatesOf(draft, DEFAULT_TOOLS, isWanted), isWanted };
}

/** A line that is needed behind the prefix, and in which of the stretches that are looked at. */
export interface NeededThere {
  readonly line: NeededLine;
  readonly windows: readonly boolean[];
}

/** The facts of the blocks that weights are fitted to. */
export const sampleOf = (
  { draft, candidates }: PrefixBlocks,
  lines: readonly NeededThere[],
): Pick<FitSample, 'features' | 'tokens' | 'lines'> => ({
  features: candidates.map(({ features }) => features),
  tokens: candidates.map(({ block }) => block.tokens),
  lines: fitLines(lines, draft, candidates),
});

/** For each block, whether the block before it is its neighbour in the same text. */
export const neighboursOf = (candidates: readonly Candidate[]): boolean[] =>
  candidates.map((candidate, at) => follows(candidates[at - 1], candidate));

function fitLines(lines: readonly NeededThere[], draft: Draft, candidates: readonly Candidate[]): FitLine[] {
  const byPlace = new Map<string, number[]>();
  for (const [index, { content }] of candidates.entries()) {
    const key = placeKey(content);
    const known = byPlace.get(key);
    if (known) known.push(index);
    else byPlace.set(key, [index]);
  }
  return lines.map(({ line, windows }) => {
    const blocks = new Set<number>();
    let isSafe = false;
    for (const shown of line.shown) {
      const at = inView(draft, shown);
      if (at === undefined) continue;
      const block = byPlace.get(placeKey(shown))?.find((index) => {
        const { content, block: own } = candidates[index] as Candidate;
        return content.start + own.start <= at && at < content.start + own.end;
      });
      if (block === undefined) isSafe = true;
      else blocks.add(block);
    }
    return { blocks: [...blocks], isSafe, windows };
  });
}

/** Where in its string a line stands in the draft's view; undefined where it was taken out. */
function inView(draft: Draft, shown: ShownLine): number | undefined {
  const key = placeKey(shown);
  const state = draft.shown[shown.message]?.find(({ place }) => placeKey(place) === key);
  let shift = 0;
  for (const { start, end, text } of state?.cuts ?? []) {
    if (start < shown.end && end > shown.start) return undefined;
    if (end <= shown.start) shift += text.length - (end - start);
  }
  return shown.start + shift;
}
