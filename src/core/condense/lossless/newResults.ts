/**
 * Condenses new results before they are first sent, so that the vendor's cached prefix stays
 * unchanged.
 */
import { memoizeByObject } from '../../memoizeByObject';
import { isRecallExchange, type ToolExchange } from '../../messages/exchanges';
import { isSamePath } from '../../messages/path';
import { DEFAULT_TOOLS, type ToolTable } from '../../messages/tools';
import { listOriginalExchanges } from '../conversationMemory';
import type { Draft } from '../draft/draft';
import type { MechanicalStep } from '../draft/steps';
import { selectLastEditPerPlace, type CutEdit } from '../edits/edits';
import { createLargeResultsStep } from '../operations/largeResults';
import { runPipeline } from '../pipeline';
import { createRestorerOfBrokenReferences } from './integrity';
import { createMemoryPerLineCache, type LineCache } from './knownLines';
import type { LineId } from '../lines/lineIds';
import { createLineNumbersStep } from './lineNumbers';
import { LINE_OPERATIONS, createRepeatedLinesStep } from './repeatedLines';
import { areSameFile, CurrentLineSources, type LineSource } from './sources';
import { createNewResultsNoiseStep } from './terminal';

/** The agent can be expected to know content from its latest turns. */
const RECENT_RESULT_TURNS = 6;
const RECENT_RESULT_MESSAGES = 2 * RECENT_RESULT_TURNS;
/** In o200k tokens of the view. */
const MAX_RECENT_RESULT_TOKENS = 30_000;
/** A read of this many distinctive lines counts as asking for what a marker replaced. */
const MIN_REREAD_LINES = 3;

/** Does not cut the newest answer's own words, because they may be bound to signed thinking. */
const LINE_OPERATIONS_FOR_RESULTS = LINE_OPERATIONS.filter((operation) => operation !== 'writesReadBack');

export interface NewResultRules {
  readonly lossless: boolean;
  /** Whether to remove terminal noise. Default false. */
  readonly noise?: boolean;
  /** o200k tokens at which a result is too large; absent for no limit. */
  readonly largeTokens?: number;
  /** The user's rules, which override those of all agents. */
  readonly tools?: ToolTable;
  /**
   * If false, also cuts what the agent asks for again, to measure the cost of caution. Default
   * true.
   */
  readonly isCautious?: boolean;
}

export interface CutNewResultsOutcome {
  readonly edits: readonly CutEdit[];
  /**
   * Indexes of messages in which the agent read lines again that a marker had recently replaced.
   */
  readonly rereads: readonly number[];
}

/** Condenses the messages from `draft.sentBefore` on. */
export async function cutNewResults(draft: Draft, rules: NewResultRules): Promise<CutNewResultsOutcome> {
  const { lossless, noise = false, largeTokens, tools = DEFAULT_TOOLS, isCautious = true } = rules;
  let rereadMessages: readonly number[] = [];
  const steps: MechanicalStep[] = [];
  // Noise goes first, so that lines that differ only in it become equal.
  if (noise) steps.push(createNewResultsNoiseStep(tools));
  if (lossless) {
    const decideRemovable = (_: Draft, lineCache: LineCache): ((source: LineSource) => boolean) => {
      const removableTest = createRemovableTest(draft, lineCache, isCautious);
      ({ rereads: rereadMessages } = removableTest);
      return removableTest.isRemovable;
    };
    steps.push(
      ...createRepeatedLinesStep(tools, 'above', LINE_OPERATIONS_FOR_RESULTS, false, decideRemovable),
      createLineNumbersStep(tools),
    );
  }
  if (largeTokens !== undefined) steps.push(createLargeResultsStep(largeTokens));
  await runPipeline(draft, steps, { watchStep: createRestorerOfBrokenReferences(tools) });
  const edits = selectLastEditPerPlace(draft.edits).filter((edit) => edit.kind === 'cut');
  draft.rememberDraftWithEdits(edits);
  return { edits, rereads: rereadMessages };
}

const getLineSourcesForNewResults = createMemoryPerLineCache(
  (lineCache) => new CurrentLineSources(lineCache, 'original'),
);

/**
 * These results stay whole: repeated reads whose earlier read is not near, files read again right
 * after a marker, and recalled content.
 */
function createRemovableTest(
  draft: Draft,
  lineCache: LineCache,
  isCautious: boolean,
): { readonly isRemovable: (source: LineSource) => boolean; readonly rereads: readonly number[] } {
  const shownSources = getLineSourcesForNewResults(lineCache).getCurrentSources(
    listOriginalExchanges(draft.original),
    draft.task,
  );
  const reads = shownSources.filter(({ kind, path }) => kind === 'read' && path !== undefined);
  const isNewSource = ({ content }: LineSource): boolean =>
    content.message >= draft.sentCount && content.type === 'toolResults';
  const rereadsByPath = new Map<string | undefined, readonly LineSource[]>();
  for (const read of reads) {
    if (!isNewSource(read) || rereadsByPath.has(read.path)) continue;
    const readsOfFile = reads.filter((other) => areSameFile(other, read));
    rereadsByPath.set(read.path, listReadsOfRemovedLines(draft, lineCache, readsOfFile));
  }
  const isRemovableSource = (source: LineSource): boolean => {
    const { kind, path, exchange } = source;
    if (!isNewSource(source) || isRecallExchange(exchange)) return false;
    const wasReread = (rereadsByPath.get(path)?.length ?? 0) > 0;
    return kind !== 'read' || !isCautious || !(isSameCallMadeAgain(draft, exchange) || wasReread);
  };
  const rereads = [...rereadsByPath.values()].flat().filter(isNewSource);
  return { isRemovable: isRemovableSource, rereads: [...new Set(rereads.map(({ content }) => content.message))] };
}

const makeCallKey = memoizeByObject(({ tool, input }: ToolExchange) => `${tool} ${JSON.stringify(input)}`);

function isSameCallMadeAgain(draft: Draft, exchange: ToolExchange): boolean {
  const key = makeCallKey(exchange);
  const earlierReads = draft.exchanges.filter(
    (other) => other.callMessage < exchange.callMessage && other.tool === exchange.tool && makeCallKey(other) === key,
  );
  const lastRead = earlierReads.at(-1);
  if (!lastRead || exchange.callMessage - lastRead.callMessage <= RECENT_RESULT_MESSAGES) return false;
  const uncutRead = earlierReads.findLast((other) => areResultsUncut(draft, other));
  return uncutRead?.resultMessage === undefined || !isRecentMessage(draft, uncutRead.resultMessage);
}

const areResultsUncut = ({ shown }: Draft, { results }: ToolExchange): boolean =>
  results.every(
    ({ message, path }) =>
      !shown[message]?.some(
        ({ place, cuts }) => isSamePath(place.path, path) && cuts.some(({ reference }) => reference !== undefined),
      ),
  );

function isRecentMessage({ messages, counter, sentCount: sentBefore }: Draft, message: number): boolean {
  const messagesSince = messages.slice(message, sentBefore);
  let remainingTokens = MAX_RECENT_RESULT_TOKENS;
  return messagesSince.toReversed().every((each) => (remainingTokens -= counter.countMessage(each)) >= 0);
}

/** @param reads all reads of one file in order, as received */
function listReadsOfRemovedLines(draft: Draft, { ids }: LineCache, reads: readonly LineSource[]): LineSource[] {
  const sources: LineSource[] = [];
  /** The message in which a marker last replaced each line. */
  const cutMessageByLine = new Map<LineId, number>();
  for (const read of reads) {
    const { content, lines } = read;
    let rereadLineCount = 0;
    for (let line = 0; line < lines.count && cutMessageByLine.size > 0; line++) {
      const cutMessage = cutMessageByLine.get(lines.getId(line));
      if (cutMessage === undefined || cutMessage >= content.message) continue;
      if (content.message - cutMessage <= RECENT_RESULT_MESSAGES) rereadLineCount++;
      // From here on the line is visible, unless it is cut again.
      cutMessageByLine.delete(lines.getId(line));
    }
    if (rereadLineCount >= MIN_REREAD_LINES) sources.push(read);
    const shownState = draft.shown[content.message]?.find(({ place }) => isSamePath(place.path, content.path));
    for (const { reference, start, end } of shownState?.cuts ?? []) {
      if (reference === undefined) continue;
      for (let line = 0; line < lines.count; line++) {
        const isLineCut = content.start + lines.getStart(line) < end && content.start + lines.getEnd(line) > start;
        const id = lines.getId(line);
        if (isLineCut && ids.isDistinctive(id)) cutMessageByLine.set(id, content.message);
      }
    }
  }
  return sources;
}
