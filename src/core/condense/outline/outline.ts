import { placeOf, toolExchanges, type PlacedContent, type ToolExchange } from '../../messages/exchanges';
import { DEFAULT_TOOLS, type ToolTable } from '../../messages/tools';
import type { CutRequest, Draft } from '../draft';
import type { Pace } from '../pace';
import type { DraftStep } from '../steps';
import { fileReads, turnCounter, type FileRead } from './fileAge';
import { fileLines, type FileLine, type FileLines, type FileRules } from './fileLines';
import { focusOf } from './focus';
import { quotedLines } from './quotedLines';
import { relevanceOf, type FileBlock } from './relevance';

export interface OutlineOptions extends FileRules {
  /** Turns for which a file was neither read nor edited before its reads are outlined. */
  readonly coldTurns: number;
  /** Reads with fewer tokens are left alone. */
  readonly minimumTokens: number;
  /** Take out what is needed least first, until the draft has no more tokens than this; undefined: all that is cold. */
  readonly targetTokens?: number | undefined;
  /** What may be touched: the selection and the protections of the pass. */
  readonly mayTouch: (content: PlacedContent, exchange: ToolExchange) => boolean;
  readonly tools?: ToolTable;
}

/** Of file reads gone cold, declarations and lines that edits quoted stay; the rest is a reference. */
export const outlineStep = (name: string, options: OutlineOptions): DraftStep => ({
  name,
  async run(draft, pace) {
    const { targetTokens } = options;
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const before = draft.tokens;
      if (targetTokens !== undefined && before <= targetTokens) return;
      await outlineColdReads(name, draft, options, pace);
      if (draft.tokens === before || targetTokens === undefined) return;
    }
  },
});

/** What is taken out is chosen by its estimated size: what is missing to the target goes in another round. */
const MAX_ROUNDS = 4;

/** A block that may go. */
interface Candidate {
  readonly read: FileRead;
  readonly file: FileLines;
  readonly block: FileBlock;
}

async function outlineColdReads(name: string, draft: Draft, options: OutlineOptions, pace: Pace): Promise<void> {
  const tools = options.tools ?? DEFAULT_TOOLS;
  const turnsSince = turnCounter(draft.messages);
  const exchanges = toolExchanges(draft.messages);
  const cold = fileReads(exchanges, tools, turnsSince).filter(({ turns }) => turns >= options.coldTurns);
  if (cold.length === 0) return;
  // Of the original: what another pass took out of an edit's parameters was quoted all the same.
  const quoted = quotedLines(toolExchanges(draft.original), tools);
  const candidates: Candidate[] = [];
  for (const read of cold) {
    const sets = read.paths.map((path) => quoted.get(path)).filter((set) => set !== undefined);
    for (const content of read.exchange.results) {
      if (content.message <= draft.task || !options.mayTouch(content, read.exchange)) continue;
      const tokens = draft.counter.text(content.text);
      if (tokens < options.minimumTokens) continue;
      const isQuoted = (line: string): boolean => sets.some((set) => set.has(line));
      const file = fileLines(content, tokens, read.paths[0], isQuoted, options);
      for (const block of file.blocks) candidates.push({ read, file, block });
      await pace.breathe();
    }
  }
  const focus = focusOf(draft.messages, exchanges, tools, turnsSince);
  const relevance = relevanceOf(
    candidates.map(({ read, block }) => ({
      block,
      file: { turns: read.turns, isEdited: read.isEdited, isNamed: read.paths.some(focus.names) },
    })),
    focus,
  );
  await pace.breathe();
  const order = candidates.map((candidate, index) => ({ candidate, relevance: relevance[index] ?? 0 }));
  order.sort((a, b) => a.relevance - b.relevance);
  const excess = options.targetTokens === undefined ? Number.POSITIVE_INFINITY : draft.tokens - options.targetTokens;
  for (const [file, blocks] of chosen(
    order.map(({ candidate }) => candidate),
    excess,
  )) {
    cutBlocks(name, draft, file, blocks.blocks, blocks.read);
    await pace.breathe();
  }
}

/** About what a marker takes. */
const MARKER_TOKENS = 16;

/** The first of the candidates that together have so many tokens, by file; of one text the last first, for their offsets. */
function chosen(
  candidates: readonly Candidate[],
  excess: number,
): (readonly [FileLines, { readonly read: FileRead; readonly blocks: Set<FileBlock> }])[] {
  const files = new Map<FileLines, { readonly read: FileRead; readonly blocks: Set<FileBlock> }>();
  let left = excess;
  for (const { read, file, block } of candidates) {
    if (left <= 0) break;
    const gain = gainOf(file, block);
    if (gain <= 0) continue;
    left -= gain;
    const known = files.get(file);
    if (known) known.blocks.add(block);
    else files.set(file, { read, blocks: new Set([block]) });
  }
  return [...files].sort(([a], [b]) => b.content.message - a.content.message || b.content.start - a.content.start);
}

/** About how many tokens go with a block. */
function gainOf({ stays, content }: FileLines, { first, last, tokens, text }: FileBlock): number {
  if (content.text === '' || text === '') return 0;
  let gone = 0;
  for (let line = first; line <= last; line++) if (stays[line] !== true) gone++;
  return (tokens * gone) / (last - first + 1) - MARKER_TOKENS;
}

function cutBlocks(
  name: string,
  draft: Draft,
  { content, lines, stays, blocks }: FileLines,
  chosenBlocks: ReadonlySet<FileBlock>,
  { turns }: FileRead,
): void {
  const goes = new Array<boolean>(lines.length).fill(false);
  for (const block of blocks) {
    if (!chosenBlocks.has(block)) continue;
    for (let line = block.first; line <= block.last; line++) goes[line] = stays[line] !== true;
  }
  // The call beside the result names the file.
  const requests = runsOf(goes, lines).map(({ start, end, what }): CutRequest => ({
    start: content.start + start,
    end: content.start + end,
    marker: what,
  }));
  if (requests.length === 0) return;
  draft.cut(name, placeOf(content), requests, {
    contentType: content.type,
    reason: `the file was neither read nor edited for ${turns} turns`,
    strict: false,
  });
}

/** Fewer lines are not worth a marker. */
const MIN_RUN = 4;

/** The runs of lines that go, with the words for their markers; a run's last newline stays. */
function runsOf(goes: readonly boolean[], lines: readonly FileLine[]): { start: number; end: number; what: string }[] {
  const runs: { start: number; end: number; what: string }[] = [];
  for (let at = 0; at < lines.length; at++) {
    const from = lines[at];
    if (goes[at] !== true || !from) continue;
    const first = at;
    while (at + 1 < lines.length && goes[at + 1] === true) at++;
    const to = lines[at] ?? from;
    const count = at - first + 1;
    if (count < MIN_RUN) continue;
    const isNumbered = from.number !== undefined && to.number === from.number + count - 1;
    const what = isNumbered ? `lines ${from.number}-${to.number}` : `${count} lines`;
    runs.push({ start: from.start, end: to.end, what });
  }
  return runs;
}
