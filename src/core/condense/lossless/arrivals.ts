/**
 * Condenses new results before they are first sent: what stands above them in the view becomes a reference, and what a
 * vendor's cache holds stays byte for byte. Strict; it uses the line index of Lossless, so that a request costs what is new.
 */
import { memoizeByObject } from '../../memoizeByObject';
import { Exchanges, isRecall, type ToolExchange } from '../../messages/exchanges';
import { isSamePath } from '../../messages/path';
import { DEFAULT_TOOLS } from '../../messages/tools';
import type { Pace } from '../../pace';
import type { Draft } from '../draft/draft';
import type { DraftStep } from '../draft/steps';
import { lastByPlace, type CutEdit } from '../edits/edits';
import { exchangesOf } from '../draft/exchanges';
import { largeResults } from '../operations/largeResults';
import { keepingReferences } from './integrity';
import { stepMemory, type KnownLines } from './knownLines';
import type { LineId } from './lineIds';
import { lineNumbers } from './lineNumbers';
import { LINE_OPERATIONS, repeatedLines } from './repeatedLines';
import { isOfSameFile, Sources, type Source } from './sources';

/** Content shown no more than so many of the agent's turns ago is still before its eyes; a turn is a call and its result. */
const RECENT_TURNS = 6;
const RECENT_MESSAGES = 2 * RECENT_TURNS;
/** Lines that say something, from which on a read is taken to ask for what a marker stood for. */
const MIN_LINES_AGAIN = 3;

/** The agent's own words in the newest answer stay as it said them: they may be bound to signed thinking. */
const OF_RESULTS = LINE_OPERATIONS.filter((operation) => operation !== 'writesReadBack');

const LOSSLESS: readonly DraftStep[] = [
  ...repeatedLines(DEFAULT_TOOLS, 'above', OF_RESULTS, false, (draft, known, pace) => mayGo(draft, known, pace)),
  lineNumbers(DEFAULT_TOOLS),
].map((step) => keepingReferences(step));

/** The rules for new results. */
export interface ArrivalRules {
  /** Leave out what stands above. */
  readonly lossless: boolean;
  /** O200k tokens from which on a single result is too large; absent: none is. */
  readonly largeTokens?: number;
}

/**
 * Condenses the messages of a draft that were not sent before (`draft.sentBefore`).
 * @returns the edits, one for each place.
 * @throws the reason of the pace's signal where it was aborted.
 */
export async function condenseArrivals(
  draft: Draft,
  { lossless, largeTokens }: ArrivalRules,
  pace: Pace,
): Promise<readonly CutEdit[]> {
  const steps = [
    ...(lossless ? LOSSLESS : []),
    ...(largeTokens === undefined ? [] : [keepingReferences(largeResults(largeTokens))]),
  ];
  for (const step of steps) await step.run(draft, pace);
  const edits = lastByPlace(draft.edits).filter((edit) => edit.kind === 'cut');
  draft.remember(edits);
  return edits;
}

interface Memory {
  readonly exchanges: Exchanges;
  readonly sources: Sources;
}

const memoryOf = stepMemory((known): Memory => ({
  exchanges: new Exchanges(),
  sources: new Sources(known, 'original'),
}));

/**
 * Decides which new texts may be cut. An agent that reads the same range of a file once more has a reason: it is answered in
 * full unless it still sees what it asks for; a file that it read again right after a marker is left alone; and what it recalled
 * comes whole.
 */
async function mayGo(draft: Draft, known: KnownLines, pace: Pace): Promise<(source: Source) => boolean> {
  const { exchanges, sources } = memoryOf(known);
  const shown = await sources.of(exchanges.of(draft.original), draft.task, pace);
  const reads = shown.filter(({ kind, path }) => kind === 'read' && path !== undefined);
  const alone = new Map<string, boolean>();
  const isLeftAlone = (source: Source): boolean => {
    const key = source.path ?? '';
    const is =
      alone.get(key) ??
      wasReadAgain(
        draft,
        known,
        reads.filter((read) => isOfSameFile(read, source)),
      );
    alone.set(key, is);
    return is;
  };
  return (source) => {
    const { kind, content, exchange } = source;
    if (content.message < draft.sentBefore || content.type !== 'toolResults') return false;
    if (isRecall(exchange)) return false;
    return kind !== 'read' || !(isAskedAgain(draft, exchange) || isLeftAlone(source));
  };
}

const callKey = memoizeByObject(({ tool, input }: ToolExchange) => `${tool} ${JSON.stringify(input)}`);

/** Whether the same was asked for before, and longer ago than the agent may be expected to look back. */
function isAskedAgain(draft: Draft, exchange: ToolExchange): boolean {
  const key = callKey(exchange);
  const before = exchangesOf(draft).findLast(
    (other) => other.callMessage < exchange.callMessage && other.tool === exchange.tool && callKey(other) === key,
  );
  return before !== undefined && exchange.callMessage - before.callMessage > RECENT_MESSAGES;
}

/**
 * Whether a read of a file asked for lines that a marker stood for shortly before.
 * @param reads all reads of the file, as they came, in order.
 */
function wasReadAgain(draft: Draft, { ids }: KnownLines, reads: readonly Source[]): boolean {
  /** For each line that was cut, the message. */
  const cutIn = new Map<LineId, number>();
  for (const { content, lines } of reads) {
    let again = 0;
    for (let line = 0; line < lines.count && cutIn.size > 0; line++) {
      const cut = cutIn.get(lines.id(line));
      if (cut === undefined || cut >= content.message || content.message - cut > RECENT_MESSAGES) continue;
      if (++again >= MIN_LINES_AGAIN) return true;
    }
    const state = draft.shown[content.message]?.find(({ place }) => isSamePath(place.path, content.path));
    for (const { reference, start, end } of state?.cuts ?? []) {
      if (reference === undefined) continue;
      for (let line = 0; line < lines.count; line++) {
        const isCut = content.start + lines.start(line) < end && content.start + lines.end(line) > start;
        const id = lines.id(line);
        if (isCut && ids.isTelling(id)) cutIn.set(id, content.message);
      }
    }
  }
  return false;
}
