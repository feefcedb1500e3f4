/**
 * Removes the blocks that are least likely to be needed. If many must go, also removes the oldest
 * of the agent's own words.
 */
import type { PlacedContent } from '../../../messages/exchanges';
import type { Draft } from '../../draft/draft';
import { placeKey } from '../../edits/edits';
import { yieldBetweenSteps } from '../../../betweenSteps';
import {
  chooseLeastNeeded,
  MARKER_TOKENS,
  MAX_REMOVED_SHARE_WITH_NAMES,
  getWordlessShare,
} from '../../relevance/choice';
import { toGuardedBlock, protectNewest } from '../../relevance/guard';
import { blendWithNeighbors, computeRelevance } from '../../relevance/relevance';
import type { TextBlock } from '../../relevance/textBlocks';
import { collectAgentWords, findCandidates, type Candidate } from './candidates';
import { chooseDeclaredNames, type DeclaredNames } from './declaredNames';
import { chooseErrors, type ErrorsByBlock } from './keptErrors';
import type { Item } from './items';
import type { PassDependencies } from './passParts';
import { applyCuts, createCuts, type MarkedSlice } from './requests';

export async function pruneItems(
  name: string,
  draft: Draft,
  { tools, targetTokens, weights }: Pick<PassDependencies, 'tools' | 'targetTokens' | 'weights'>,
  isWanted: (item: Item) => boolean,
  signal?: AbortSignal,
): Promise<void> {
  if (targetTokens === undefined || draft.tokens <= targetTokens) return;
  // Reading, scoring and cutting a million tokens take a quarter of a second each.
  const before = await findCandidates(draft, tools, isWanted, signal);
  await yieldBetweenSteps(signal);
  const wordless = getWordlessShare(
    draft.tokens - targetTokens,
    before.map(({ block }) => block.tokens),
  );
  const takeWords = (part: number): ReadonlySet<string> =>
    removeOldAgentText(name, draft, targetTokens, part, isWanted);
  const changed = takeWords(wordless);
  if (draft.tokens <= targetTokens) return;
  // A call written as text shares a string with the words before it, so its offsets have changed.
  const hasMoved = before.some(({ content }) => changed.has(placeKey(content)));
  const candidates = hasMoved ? await findCandidates(draft, tools, isWanted, signal) : before;
  const neighbours = candidates.map((candidate, at) => isAdjacent(candidates[at - 1], candidate));
  const scores = computeRelevance(
    candidates.map(({ features }) => features),
    weights,
  );
  const all = candidates.reduce((sum, { block }) => sum + block.tokens, 0);
  const relevance = protectNewest(
    blendWithNeighbors(scores, neighbours),
    candidates.map(toGuardedBlock),
    all - (draft.tokens - targetTokens),
  );
  await yieldBetweenSteps(signal);
  const names = wordless > MAX_REMOVED_SHARE_WITH_NAMES ? new Map() : chooseDeclaredNames(candidates, draft.counter);
  // Savings are estimates; if they were too high, another round removes the rest.
  let excess = draft.tokens - targetTokens;
  const choose = (told: MarkerInfo): readonly Candidate[] =>
    chooseBlocks(candidates, excess, { relevance, neighbours, told });
  const errorsOf = (chosen: readonly Candidate[]): ErrorsByBlock => {
    const going = new Set(chosen.map(({ block }) => block));
    return chooseErrors(candidates, (block) => going.has(block), draft.counter, targetTokens);
  };
  let told: MarkerInfo = { names, errors: errorsOf(choose({ ...NO_MARKER_INFO, names })) };
  const checkpoint = draft.checkpoint();
  for (let round = 0; round < MAX_PRUNE_ROUNDS; round++) {
    await yieldBetweenSteps(signal);
    const chosen = choose(told);
    // Kept error lines take tokens, so other blocks must go, which may contain other error lines.
    if (told !== NO_MARKER_INFO) told = { names, errors: errorsOf(chosen) };
    draft.rollback(checkpoint);
    for (const [{ content, item }, blocks] of groupByContent(chosen)) {
      const requests = createCuts('thin', content, item, joinBlocks(blocks, told));
      applyCuts(name, draft, requests);
    }
    const missing = draft.tokens - targetTokens;
    if (missing <= 0) return;
    if (excess >= all && told === NO_MARKER_INFO) break;
    excess += missing + MARKER_TOKENS;
    // Drop names and errors rather than miss the target.
    if (excess >= all || round >= MIN_INFORMATIVE_ROUNDS) told = NO_MARKER_INFO;
  }
  takeWords(1);
}

/**
 * @param part share of the conversation, from its beginning, whose words may go: 0 to 1
 * @returns keys of the changed places
 */
function removeOldAgentText(
  name: string,
  draft: Draft,
  targetTokens: number,
  part: number,
  isWanted: (item: Item) => boolean,
): ReadonlySet<string> {
  const changed = new Set<string>();
  if (part === 0) return changed;
  for (const { texts, textAfter } of collectAgentWords(draft, isWanted)) {
    if (draft.tokens <= targetTokens || textAfter < 1 - part) break;
    const requests = texts.flatMap(({ content, item }) =>
      createCuts('thin', content, item, [{ start: 0, end: content.text.length, marker: undefined }]),
    );
    applyCuts(name, draft, requests);
    for (const { place } of requests) changed.add(placeKey(place));
  }
  return changed;
}

const MAX_PRUNE_ROUNDS = 5;
const MIN_INFORMATIVE_ROUNDS = 2;
/** A shorter block is probably the head of the next one, such as a path. */
const MAX_HEAD_TOKENS = 60;

interface MarkerInfo {
  readonly names: DeclaredNames;
  readonly errors: ErrorsByBlock;
}
const NO_MARKER_INFO: MarkerInfo = { names: new Map(), errors: new Map() };

interface PruneContext {
  readonly relevance: readonly number[];
  /** Whether each candidate directly follows the one before in the same text. */
  readonly neighbours: readonly boolean[];
  readonly told: MarkerInfo;
}

function chooseBlocks(
  candidates: readonly Candidate[],
  excess: number,
  { relevance, neighbours, told: { names, errors } }: PruneContext,
): readonly Candidate[] {
  const gains = candidates.map(
    ({ block }) => block.tokens - (names.get(block)?.tokens ?? 0) - (errors.get(block)?.tokens ?? 0),
  );
  const choice = chooseLeastNeeded(excess, relevance, gains, neighbours);
  for (const [at, { block, content }] of candidates.entries()) {
    const next = candidates[at + 1];
    const isHead = !block.part && block.tokens <= MAX_HEAD_TOKENS && next?.block.part && next.content === content;
    if (isHead && choice.has(at) && !choice.has(at + 1)) choice.change(at, false);
  }
  return candidates.filter((_, at) => choice.has(at));
}

export const isAdjacent = (before: Candidate | undefined, { content, block }: Candidate): boolean =>
  before?.content === content && before.block.index === block.index - 1;

/** Of several contents in one string the last comes first, so that offsets stay valid. */
function groupByContent(chosen: readonly Candidate[]): (readonly [Candidate, readonly TextBlock[]])[] {
  const groups = new Map<PlacedContent, { readonly first: Candidate; readonly blocks: TextBlock[] }>();
  for (const candidate of chosen) {
    const known = groups.get(candidate.content);
    if (known) known.blocks.push(candidate.block);
    else groups.set(candidate.content, { first: candidate, blocks: [candidate.block] });
  }
  return [...groups.values()]
    .toSorted(
      (a, b) => b.first.content.message - a.first.content.message || b.first.content.start - a.first.content.start,
    )
    .map(({ first, blocks }) => [first, blocks] as const);
}

function joinBlocks(blocks: readonly TextBlock[], { names, errors }: MarkerInfo): MarkedSlice[] {
  const runs: TextBlock[][] = [];
  for (const block of blocks.toSorted((a, b) => a.index - b.index)) {
    const run = runs.at(-1);
    if (run?.at(-1)?.index === block.index - 1) run.push(block);
    else runs.push([block]);
  }
  return runs.flatMap((run) => {
    const [first, last] = [run[0], run.at(-1)];
    if (!first || !last) return [];
    const isNumbered = run.every(({ numbers }) => numbers);
    const marker = isNumbered ? `lines ${first.numbers?.[0]}-${last.numbers?.[1]}` : undefined;
    const lines = run.flatMap((block) => errors.get(block)?.text ?? []);
    return [
      {
        start: first.start,
        end: last.end,
        marker,
        names: run.flatMap((block) => names.get(block) ?? []),
        ...(lines.length > 0 && { inFront: lines.join('\n') }),
      },
    ];
  });
}
