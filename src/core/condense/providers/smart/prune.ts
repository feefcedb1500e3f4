/**
 * Removes the blocks that are least likely to be needed. If many must go, also removes the oldest
 * of the agent's own words.
 */
import type { PlacedContent } from '../../../messages/exchanges';
import type { Draft } from '../../draft/draft';
import { makePlaceKey } from '../../edits/edits';
import { yieldBetweenSteps } from '../../../betweenSteps';
import {
  chooseLeastNeededBlocks,
  MARKER_TOKENS,
  MAX_REMOVED_SHARE_WITH_NAMES,
  computeShareRemovedWithoutWords,
} from '../../relevance/choice';
import { toGuardedBlock, protectNewestResults } from '../../relevance/guard';
import { blendWithNeighbors, computeRelevance } from '../../relevance/relevance';
import type { TextBlock } from '../../relevance/textBlocks';
import { collectAgentTexts, findPruneCandidates, type PruneCandidate } from './candidates';
import { chooseDeclaredNames, type DeclaredNameByBlock } from './declaredNames';
import { chooseKeptErrors, type ErrorsByBlock } from './keptErrors';
import type { ContentItem } from './items';
import type { PassDependencies } from './passParts';
import { applyCutRequests, createCutsForOperation, type MarkedSlice } from './requests';

export async function pruneItems(
  name: string,
  draft: Draft,
  { tools, targetTokens, weights }: Pick<PassDependencies, 'tools' | 'targetTokens' | 'weights'>,
  isWantedItem: (item: ContentItem) => boolean,
  signal?: AbortSignal,
): Promise<void> {
  if (targetTokens === undefined || draft.tokens <= targetTokens) return;
  // Reading, scoring and cutting a million tokens take a quarter of a second each, so other work
  // may run in between.
  const candidatesBefore = await findPruneCandidates(draft, tools, isWantedItem, signal);
  await yieldBetweenSteps(signal);
  const removedShareWithoutWords = computeShareRemovedWithoutWords(
    draft.tokens - targetTokens,
    candidatesBefore.map(({ block }) => block.tokens),
  );
  const removeWords = (part: number): ReadonlySet<string> =>
    removeOldAgentText(name, draft, targetTokens, part, isWantedItem);
  const changedKeys = removeWords(removedShareWithoutWords);
  if (draft.tokens <= targetTokens) return;
  // A call written as text shares a string with the words before it, so its offsets have changed if
  // these words were removed.
  const hasMoved = candidatesBefore.some(({ content }) => changedKeys.has(makePlaceKey(content)));
  const candidates = hasMoved ? await findPruneCandidates(draft, tools, isWantedItem, signal) : candidatesBefore;
  const followsPrevious = candidates.map((candidate, at) => directlyFollowsBlock(candidates[at - 1], candidate));
  const scores = computeRelevance(
    candidates.map(({ features }) => features),
    weights,
  );
  const totalTokens = candidates.reduce((sum, { block }) => sum + block.tokens, 0);
  const relevance = protectNewestResults(
    blendWithNeighbors(scores, followsPrevious),
    candidates.map(toGuardedBlock),
    totalTokens - (draft.tokens - targetTokens),
  );
  await yieldBetweenSteps(signal);
  const namesByBlock =
    removedShareWithoutWords > MAX_REMOVED_SHARE_WITH_NAMES
      ? new Map()
      : chooseDeclaredNames(candidates, draft.counter);
  // Savings are estimates; if they were too high, another round removes the rest.
  let excessTokens = draft.tokens - targetTokens;
  const chooseCandidates = (markerInfo: PrunedMarkerTexts): readonly PruneCandidate[] =>
    chooseBlocksToPrune(candidates, excessTokens, { relevance, neighbors: followsPrevious, markerInfo });
  const chooseErrors = (chosen: readonly PruneCandidate[]): ErrorsByBlock => {
    const chosenBlocks = new Set(chosen.map(({ block }) => block));
    return chooseKeptErrors(candidates, (block) => chosenBlocks.has(block), draft.counter, targetTokens);
  };
  let markerInfo: PrunedMarkerTexts = {
    names: namesByBlock,
    errors: chooseErrors(chooseCandidates({ ...EMPTY_PRUNED_MARKER_TEXTS, names: namesByBlock })),
  };
  const checkpoint = draft.saveState();
  for (let round = 0; round < MAX_PRUNE_ROUNDS; round++) {
    await yieldBetweenSteps(signal);
    const chosen = chooseCandidates(markerInfo);
    // Kept error lines take tokens, so more blocks must be removed, and these may contain further
    // error lines.
    if (markerInfo !== EMPTY_PRUNED_MARKER_TEXTS) markerInfo = { names: namesByBlock, errors: chooseErrors(chosen) };
    draft.restoreState(checkpoint);
    for (const [{ content, item }, blocks] of groupBlocksByContent(chosen)) {
      const requests = createCutsForOperation('thin', content, item, joinAdjacentRemovedBlocks(blocks, markerInfo));
      applyCutRequests(name, draft, requests);
    }
    const remainingExcess = draft.tokens - targetTokens;
    if (remainingExcess <= 0) return;
    if (excessTokens >= totalTokens && markerInfo === EMPTY_PRUNED_MARKER_TEXTS) break;
    excessTokens += remainingExcess + MARKER_TOKENS;
    // Drop names and errors rather than miss the target.
    if (excessTokens >= totalTokens || round >= MIN_INFORMATIVE_ROUNDS) markerInfo = EMPTY_PRUNED_MARKER_TEXTS;
  }
  removeWords(1);
}

/**
 * @param part share of the conversation, from its beginning, in which the agent's text may be
 *   removed: 0 to 1
 */
function removeOldAgentText(
  name: string,
  draft: Draft,
  targetTokens: number,
  part: number,
  isWantedItem: (item: ContentItem) => boolean,
): ReadonlySet<string> {
  const changedKeys = new Set<string>();
  if (part === 0) return changedKeys;
  for (const { texts, textAfter } of collectAgentTexts(draft, isWantedItem)) {
    if (draft.tokens <= targetTokens || textAfter < 1 - part) break;
    const requests = texts.flatMap(({ content, item }) =>
      createCutsForOperation('thin', content, item, [{ start: 0, end: content.text.length, marker: undefined }]),
    );
    applyCutRequests(name, draft, requests);
    for (const { place } of requests) changedKeys.add(makePlaceKey(place));
  }
  return changedKeys;
}

const MAX_PRUNE_ROUNDS = 5;
const MIN_INFORMATIVE_ROUNDS = 2;
/** A shorter block is probably the head of the next one, such as a path. */
const MAX_TOKENS_OF_KEPT_TITLE_BLOCK = 60;

interface PrunedMarkerTexts {
  readonly names: DeclaredNameByBlock;
  readonly errors: ErrorsByBlock;
}
const EMPTY_PRUNED_MARKER_TEXTS: PrunedMarkerTexts = { names: new Map(), errors: new Map() };

interface PruneContext {
  readonly relevance: readonly number[];
  /** Whether each candidate directly follows the one before in the same text. */
  readonly neighbors: readonly boolean[];
  readonly markerInfo: PrunedMarkerTexts;
}

function chooseBlocksToPrune(
  candidates: readonly PruneCandidate[],
  excessTokens: number,
  { relevance, neighbors, markerInfo: { names, errors } }: PruneContext,
): readonly PruneCandidate[] {
  const gains = candidates.map(
    ({ block }) => block.tokens - (names.get(block)?.tokens ?? 0) - (errors.get(block)?.tokens ?? 0),
  );
  const removedBlocks = chooseLeastNeededBlocks(excessTokens, relevance, gains, neighbors);
  for (const [candidateIndex, { block, content }] of candidates.entries()) {
    const nextCandidate = candidates[candidateIndex + 1];
    const isTitleBlock =
      !block.part &&
      block.tokens <= MAX_TOKENS_OF_KEPT_TITLE_BLOCK &&
      nextCandidate?.block.part &&
      nextCandidate.content === content;
    if (isTitleBlock && removedBlocks.isRemoved(candidateIndex) && !removedBlocks.isRemoved(candidateIndex + 1))
      removedBlocks.setRemoved(candidateIndex, false);
  }
  return candidates.filter((_, at) => removedBlocks.isRemoved(at));
}

export const directlyFollowsBlock = (before: PruneCandidate | undefined, { content, block }: PruneCandidate): boolean =>
  before?.content === content && before.block.index === block.index - 1;

/** Of several contents in one string the last comes first, so that offsets stay valid. */
function groupBlocksByContent(chosen: readonly PruneCandidate[]): (readonly [PruneCandidate, readonly TextBlock[]])[] {
  const groups = new Map<PlacedContent, { readonly first: PruneCandidate; readonly blocks: TextBlock[] }>();
  for (const candidate of chosen) {
    const group = groups.get(candidate.content);
    if (group) group.blocks.push(candidate.block);
    else groups.set(candidate.content, { first: candidate, blocks: [candidate.block] });
  }
  return [...groups.values()]
    .toSorted(
      (a, b) => b.first.content.message - a.first.content.message || b.first.content.start - a.first.content.start,
    )
    .map(({ first, blocks }) => [first, blocks] as const);
}

function joinAdjacentRemovedBlocks(
  blocks: readonly TextBlock[],
  { names: namesByBlock, errors }: PrunedMarkerTexts,
): MarkedSlice[] {
  const blockRuns: TextBlock[][] = [];
  for (const block of blocks.toSorted((a, b) => a.index - b.index)) {
    const lastRun = blockRuns.at(-1);
    if (lastRun?.at(-1)?.index === block.index - 1) lastRun.push(block);
    else blockRuns.push([block]);
  }
  return blockRuns.flatMap((run) => {
    const [firstBlock, lastBlock] = [run[0], run.at(-1)];
    if (!firstBlock || !lastBlock) return [];
    const isNumbered = run.every(({ numbers }) => numbers);
    const marker = isNumbered ? `lines ${firstBlock.numbers?.[0]}-${lastBlock.numbers?.[1]}` : undefined;
    const errorTexts = run.flatMap((block) => errors.get(block)?.text ?? []);
    return [
      {
        start: firstBlock.start,
        end: lastBlock.end,
        marker,
        names: run.flatMap((block) => namesByBlock.get(block) ?? []),
        ...(errorTexts.length > 0 && { textInFront: errorTexts.join('\n') }),
      },
    ];
  });
}
