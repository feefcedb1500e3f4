/**
 * Takes out, block by block, what the conversation is least about, whatever content it stands in, until the target is
 * met.
 */
import type { PlacedContent } from '../../../messages/exchanges';
import { ruleFor } from '../../../messages/tools';
import type { Draft } from '../../draft/draft';
import { exchangesOf } from '../../draft/exchanges';
import { lastTouches, turnCounter } from '../../outline/fileAge';
import { quotedLines } from '../../outline/quotedLines';
import type { Pace } from '../../../pace';
import { focusOf } from '../../relevance/focus';
import { relevanceOf, type Standing } from '../../relevance/relevance';
import { textBlocks, type TextBlock } from '../../relevance/textBlocks';
import { pathsOf } from '../../summary/filesTouched';
import { itemsOf, type Item } from './items';
import type { PassParts } from './passParts';
import { cutAll, leftOut, removable, type MarkedSlice } from './requests';

/** A block that may go. */
interface Candidate {
  readonly item: Item;
  readonly content: PlacedContent;
  readonly block: TextBlock;
  readonly standing: Standing;
}

/**
 * @param isWanted true for the items that may be thinned.
 * @throws the signal's reason where it was aborted.
 */
export async function prune(
  name: string,
  draft: Draft,
  pace: Pace,
  { tools, targetTokens }: Pick<PassParts, 'tools' | 'targetTokens'>,
  isWanted: (item: Item) => boolean,
): Promise<void> {
  if (targetTokens === undefined || draft.tokens <= targetTokens) return;
  const candidates = await leastRelevantFirst(draft, pace, tools, isWanted);
  const before = draft.checkpoint();
  // The gains are estimates: where they were too high, another round takes out the rest.
  let excess = draft.tokens - targetTokens;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const chosen = leastOf(candidates, excess);
    draft.rollback(before);
    for (const [{ content, item }, blocks] of byContent(chosen)) {
      cutAll(name, draft, leftOut(content, item, joined(blocks)));
    }
    await pace.yieldIfDue();
    const missing = draft.tokens - targetTokens;
    if (missing <= 0 || chosen.length === candidates.length) return;
    excess += missing + MARKER_TOKENS / 2;
  }
}

const MAX_ROUNDS = 5;
/** About what a marker takes. Tokens. */
const MARKER_TOKENS = 16;
/** Shorter blocks are not worth a marker. Tokens. */
const MIN_TOKENS = 30;

async function leastRelevantFirst(
  draft: Draft,
  pace: Pace,
  tools: PassParts['tools'],
  isWanted: (item: Item) => boolean,
): Promise<Candidate[]> {
  const exchanges = exchangesOf(draft);
  const turnsSince = turnCounter(draft.messages);
  const focus = focusOf(draft.messages, exchanges, tools, turnsSince);
  const parts: Surroundings = {
    tools,
    turnsSince,
    focus,
    touched: lastTouches(exchanges, tools),
    quoted: quotedLines(exchanges, tools),
    tokensOf: (text) => draft.counter.text(text),
  };
  const items = itemsOf(draft);
  const candidates: Candidate[] = [];
  for (let message = draft.task + 1; message < draft.messages.length; message++) {
    for (const item of items(message).filter(isWanted)) candidates.push(...candidatesIn(item, message, parts));
    await pace.yieldIfDue();
  }
  const relevance = relevanceOf(candidates, focus);
  const order = candidates.map((candidate, index) => ({ candidate, relevance: relevance[index] ?? 0 }));
  return order.toSorted((a, b) => a.relevance - b.relevance).map(({ candidate }) => candidate);
}

/** The neighbourhood by which a block is judged. */
interface Surroundings {
  readonly tools: PassParts['tools'];
  readonly turnsSince: ReturnType<typeof turnCounter>;
  readonly focus: ReturnType<typeof focusOf>;
  readonly touched: ReturnType<typeof lastTouches>;
  readonly quoted: ReturnType<typeof quotedLines>;
  readonly tokensOf: (text: string) => number;
}

function candidatesIn(item: Item, message: number, parts: Surroundings): Candidate[] {
  const { tools, turnsSince, focus, touched, quoted, tokensOf } = parts;
  const { type, exchange } = item;
  const kind = exchange && ruleFor(tools, exchange)?.kind;
  const paths = exchange ? pathsOf(tools, exchange) : [];
  const sets = paths.flatMap((path) => quoted.get(path) ?? []);
  const isQuoted = (line: string): boolean => sets.some((set) => set.has(line));
  const turns = turnsSince(Math.max(message, ...paths.map((path) => touched.get(path) ?? 0)));
  const isNamed = paths.some(focus.names);
  return item.contents.flatMap((content) => {
    const slice = removable(content, item);
    const tokens = slice ? tokensOf(content.text) : 0;
    if (!slice || tokens < MIN_TOKENS) return [];
    const standing: Standing = { type, kind, tokens, turns, isNamed };
    return textBlocks(content, { tokens, path: paths[0], isQuoted, from: slice.start }).map((block) => ({
      item,
      content,
      block,
      standing,
    }));
  });
}

/** The first candidates that together have so many tokens; of those, what need not go for it stays. */
function leastOf(candidates: readonly Candidate[], excess: number): readonly Candidate[] {
  let over = -excess;
  let count = 0;
  for (const candidate of candidates) {
    if (over >= 0) break;
    over += gainOf(candidate);
    count++;
  }
  const goes = candidates.slice(0, count).map(() => true);
  for (let at = count - 1; at >= 0; at--) {
    const candidate = candidates[at];
    const gain = candidate ? gainOf(candidate) : 0;
    if (over < gain) continue;
    over -= gain;
    goes[at] = false;
  }
  return candidates.filter((_, at) => goes[at]);
}

const gainOf = ({ block }: Candidate): number => Math.max(0, block.tokens - MARKER_TOKENS / 2);

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
function joined(blocks: readonly TextBlock[]): MarkedSlice[] {
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
    return [{ start: first.start, end: last.end, marker }];
  });
}
