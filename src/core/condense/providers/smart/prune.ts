/**
 * Takes out, block by block, what is least likely to be needed of calls and results, until the target is met; where much of them has to
 * go, also the oldest of the agent's own words and of its subagents' reports.
 */
import type { PlacedContent } from '../../../messages/exchanges';
import type { Draft } from '../../draft/draft';
import { placeKey } from '../../edits/edits';
import { betweenSteps } from '../../../betweenSteps';
import { leastFor, MARKER_TOKENS, NAMES_UP_TO, wordlessPart } from '../../relevance/choice';
import { asGuardedBlock, guardNewest } from '../../relevance/guard';
import { besideNeighbours, relevanceOf } from '../../relevance/relevance';
import type { TextBlock } from '../../relevance/textBlocks';
import { agentWordsOf, candidatesOf, type Candidate } from './candidates';
import { declaredNames, type DeclaredNames } from './declaredNames';
import { keptErrors, type ErrorsOfBlocks } from './keptErrors';
import type { Item } from './items';
import type { PassParts } from './passParts';
import { cutAll, leftOut, type MarkedSlice } from './requests';

/**
 * @param isWanted true for the items that may be pruned.
 */
export async function prune(
  name: string,
  draft: Draft,
  { tools, targetTokens, weights }: Pick<PassParts, 'tools' | 'targetTokens' | 'weights'>,
  isWanted: (item: Item) => boolean,
  signal?: AbortSignal,
): Promise<void> {
  if (targetTokens === undefined || draft.tokens <= targetTokens) return;
  // Reading, judging and cutting each take a quarter of a second of a million tokens.
  const before = await candidatesOf(draft, tools, isWanted, signal);
  await betweenSteps(signal);
  const wordless = wordlessPart(
    draft.tokens - targetTokens,
    before.map(({ block }) => block.tokens),
  );
  const takeWords = (part: number): ReadonlySet<string> => takeOldWords(name, draft, targetTokens, part, isWanted);
  const changed = takeWords(wordless);
  if (draft.tokens <= targetTokens) return;
  // A call that is written as text stands in one string with the words in front of it, and has moved.
  const hasMoved = before.some(({ content }) => changed.has(placeKey(content)));
  const candidates = hasMoved ? await candidatesOf(draft, tools, isWanted, signal) : before;
  const neighbours = candidates.map((candidate, at) => follows(candidates[at - 1], candidate));
  const scores = relevanceOf(
    candidates.map(({ features }) => features),
    weights,
  );
  const all = candidates.reduce((sum, { block }) => sum + block.tokens, 0);
  const relevance = guardNewest(
    besideNeighbours(scores, neighbours),
    candidates.map(asGuardedBlock),
    all - (draft.tokens - targetTokens),
  );
  await betweenSteps(signal);
  const names = wordless > NAMES_UP_TO ? new Map() : declaredNames(candidates, draft.counter);
  // The gains are estimates: where they were too high, another round takes out the rest.
  let excess = draft.tokens - targetTokens;
  const choose = (told: Told): readonly Candidate[] => leastOf(candidates, excess, { relevance, neighbours, told });
  const errorsOf = (chosen: readonly Candidate[]): ErrorsOfBlocks => {
    const going = new Set(chosen.map(({ block }) => block));
    return keptErrors(candidates, (block) => going.has(block), draft.counter, targetTokens);
  };
  let told: Told = { names, errors: errorsOf(choose({ ...NOTHING, names })) };
  const checkpoint = draft.checkpoint();
  for (let round = 0; round < MAX_ROUNDS; round++) {
    await betweenSteps(signal);
    const chosen = choose(told);
    // What stays of errors takes room of its own: other blocks go for it, and other lines with them.
    if (told !== NOTHING) told = { names, errors: errorsOf(chosen) };
    draft.rollback(checkpoint);
    for (const [{ content, item }, blocks] of byContent(chosen)) {
      const requests = leftOut('thin', content, item, joined(blocks, told));
      cutAll(name, draft, requests);
    }
    const missing = draft.tokens - targetTokens;
    if (missing <= 0) return;
    if (excess >= all && told === NOTHING) break;
    excess += missing + MARKER_TOKENS;
    // Names and errors give way before the target is missed.
    if (excess >= all || round >= ROUNDS_THAT_TELL) told = NOTHING;
  }
  takeWords(1);
}

/**
 * Takes the agent's own words out, the oldest first, until the target is met.
 * @param part the part of the conversation's text, from its beginning on, that gives them up: 0 to 1.
 * @returns the keys of the places in which words went.
 */
function takeOldWords(
  name: string,
  draft: Draft,
  targetTokens: number,
  part: number,
  isWanted: (item: Item) => boolean,
): ReadonlySet<string> {
  const changed = new Set<string>();
  if (part === 0) return changed;
  for (const { texts, textAfter } of agentWordsOf(draft, isWanted)) {
    if (draft.tokens <= targetTokens || textAfter < 1 - part) break;
    const requests = texts.flatMap(({ content, item }) =>
      leftOut('thin', content, item, [{ start: 0, end: content.text.length, marker: undefined }]),
    );
    cutAll(name, draft, requests);
    for (const { place } of requests) changed.add(placeKey(place));
  }
  return changed;
}

const MAX_ROUNDS = 5;
const ROUNDS_THAT_TELL = 2;
/** A block with no more stays with the block below it, for it is likely its head: a path, the signs of a hunk. Tokens. */
const HEAD_TOKENS = 60;

/** What is told of blocks where they go. */
interface Told {
  readonly names: DeclaredNames;
  readonly errors: ErrorsOfBlocks;
}
const NOTHING: Told = { names: new Map(), errors: new Map() };

/** Of each candidate how likely it is to be needed, and whether it follows the one before. */
interface Known {
  readonly relevance: readonly number[];
  readonly neighbours: readonly boolean[];
  readonly told: Told;
}

/** The blocks that go for so many tokens, in their order. */
function leastOf(
  candidates: readonly Candidate[],
  excess: number,
  { relevance, neighbours, told: { names, errors } }: Known,
): readonly Candidate[] {
  const gains = candidates.map(
    ({ block }) => block.tokens - (names.get(block)?.tokens ?? 0) - (errors.get(block)?.tokens ?? 0),
  );
  const choice = leastFor(excess, relevance, gains, neighbours);
  for (const [at, { block, content }] of candidates.entries()) {
    const next = candidates[at + 1];
    const isHead = !block.part && block.tokens <= HEAD_TOKENS && next?.block.part && next.content === content;
    if (isHead && choice.has(at) && !choice.has(at + 1)) choice.change(at, false);
  }
  return candidates.filter((_, at) => choice.has(at));
}

/** Whether one block comes right behind another in the same text. */
export const follows = (before: Candidate | undefined, { content, block }: Candidate): boolean =>
  before?.content === content && before.block.index === block.index - 1;

/** The blocks by what they are part of; of a string that holds several contents the last first, for its offsets. */
function byContent(chosen: readonly Candidate[]): (readonly [Candidate, readonly TextBlock[]])[] {
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

/** Neighbours go as one. */
function joined(blocks: readonly TextBlock[], { names, errors }: Told): MarkedSlice[] {
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
