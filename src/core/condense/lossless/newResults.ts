/**
 * Condenses new results before they are first sent: what stands above them in the view becomes a reference, and what a
 * vendor's cache holds stays byte for byte. Strict; it uses the line index of Lossless, so that a request costs what is new.
 */
import { memoizeByObject } from '../../memoizeByObject';
import { isRecall, type ToolExchange } from '../../messages/exchanges';
import { isSamePath } from '../../messages/path';
import { DEFAULT_TOOLS, type ToolTable } from '../../messages/tools';
import { originalExchanges } from '../conversationMemory';
import type { Draft } from '../draft/draft';
import type { MechanicalStep } from '../draft/steps';
import { lastByPlace, type CutEdit } from '../edits/edits';
import { largeResults } from '../operations/largeResults';
import { runPipeline } from '../pipeline';
import { watchReferences } from './integrity';
import { stepMemory, type KnownLines } from './knownLines';
import type { LineId } from '../lines/lineIds';
import { lineNumbers } from './lineNumbers';
import { LINE_OPERATIONS, repeatedLines } from './repeatedLines';
import { isOfSameFile, Sources, type Source } from './sources';
import { newResultsNoise } from './terminal';

/** Content shown no more than so many of the agent's turns ago is still before its eyes; a turn is a call and its result. */
const RECENT_TURNS = 6;
const RECENT_MESSAGES = 2 * RECENT_TURNS;
/** So is what stands no more than so many o200k tokens of the view ago. */
const RECENT_TOKENS = 30_000;
/** Lines that say something, from which on a read is taken to ask for what a marker stood for. */
const MIN_LINES_AGAIN = 3;

/** The agent's own words in the newest answer stay as it said them: they may be bound to signed thinking. */
const OF_RESULTS = LINE_OPERATIONS.filter((operation) => operation !== 'writesReadBack');

/** The rules for new results. */
export interface NewResultRules {
  /** Leave out what stands above. */
  readonly lossless: boolean;
  /** Leave out what a terminal shows for a moment or in colours; default false. */
  readonly noise?: boolean;
  /** O200k tokens from which on a single result is too large; absent: none is. */
  readonly largeTokens?: number;
  /** The user's rows for tools, over those of all agents. */
  readonly tools?: ToolTable;
  /** False: what the agent asks for once more is left out, too; to measure what answering it costs. Default true. */
  readonly isCautious?: boolean;
}

/** What became of new results. */
export interface CutResults {
  /** One for each place. */
  readonly edits: readonly CutEdit[];
  /** The messages with new reads that asked for lines which a marker stood for shortly before. */
  readonly rereads: readonly number[];
}

/**
 * Condenses the messages of a draft that were not sent before (`draft.sentBefore`).
 */
export async function cutNewResults(draft: Draft, rules: NewResultRules): Promise<CutResults> {
  const { lossless, noise = false, largeTokens, tools = DEFAULT_TOOLS, isCautious = true } = rules;
  let rereads: readonly number[] = [];
  const steps: MechanicalStep[] = [];
  // Noise goes first: lines that it told apart are then the same.
  if (noise) steps.push(newResultsNoise(tools));
  if (lossless) {
    const decide = (_: Draft, known: KnownLines): ((source: Source) => boolean) => {
      const decided = mayGo(draft, known, isCautious);
      ({ rereads } = decided);
      return decided.may;
    };
    steps.push(...repeatedLines(tools, 'above', OF_RESULTS, false, decide), lineNumbers(tools));
  }
  if (largeTokens !== undefined) steps.push(largeResults(largeTokens));
  await runPipeline(draft, steps, { watch: watchReferences(tools) });
  const edits = lastByPlace(draft.edits).filter((edit) => edit.kind === 'cut');
  draft.remember(edits);
  return { edits, rereads };
}

const getSources = stepMemory((known) => new Sources(known, 'original'));

/**
 * Decides which new texts may be cut. An agent that reads the same range of a file once more has a reason: it is answered in
 * full unless what it asks for stands not far above; a file that it read again right after a marker is left alone; and what it recalled
 * comes whole.
 * @returns for a text whether it may be cut; and the messages of new reads that asked for lines which a marker stood for.
 */
function mayGo(
  draft: Draft,
  known: KnownLines,
  isCautious: boolean,
): { readonly may: (source: Source) => boolean; readonly rereads: readonly number[] } {
  const shown = getSources(known).of(originalExchanges(draft.original), draft.task);
  const reads = shown.filter(({ kind, path }) => kind === 'read' && path !== undefined);
  const isNew = ({ content }: Source): boolean => content.message >= draft.sentBefore && content.type === 'toolResults';
  const again = new Map<string | undefined, readonly Source[]>();
  for (const read of reads) {
    if (!isNew(read) || again.has(read.path)) continue;
    const ofFile = reads.filter((other) => isOfSameFile(other, read));
    again.set(read.path, readsAgain(draft, known, ofFile));
  }
  const may = (source: Source): boolean => {
    const { kind, path, exchange } = source;
    if (!isNew(source) || isRecall(exchange)) return false;
    const isLeftAlone = (again.get(path)?.length ?? 0) > 0;
    return kind !== 'read' || !isCautious || !(isAskedAgain(draft, exchange) || isLeftAlone);
  };
  const rereads = [...again.values()].flat().filter(isNew);
  return { may, rereads: [...new Set(rereads.map(({ content }) => content.message))] };
}

const callKey = memoizeByObject(({ tool, input }: ToolExchange) => `${tool} ${JSON.stringify(input)}`);

/** Whether the same was asked for before, and what was answered is further back than the agent may be expected to look. */
function isAskedAgain(draft: Draft, exchange: ToolExchange): boolean {
  const key = callKey(exchange);
  const before = draft.exchanges.filter(
    (other) => other.callMessage < exchange.callMessage && other.tool === exchange.tool && callKey(other) === key,
  );
  const last = before.at(-1);
  if (!last || exchange.callMessage - last.callMessage <= RECENT_MESSAGES) return false;
  const whole = before.findLast((other) => isWhole(draft, other));
  return whole?.resultMessage === undefined || !isRecent(draft, whole.resultMessage);
}

/** Whether no line of an answer is left out. */
const isWhole = ({ shown }: Draft, { results }: ToolExchange): boolean =>
  results.every(
    ({ message, path }) =>
      !shown[message]?.some(
        ({ place, cuts }) => isSamePath(place.path, path) && cuts.some(({ reference }) => reference !== undefined),
      ),
  );

/** Whether a message stands in the newest part of what was sent before. */
function isRecent({ messages, counter, sentBefore }: Draft, message: number): boolean {
  const recent = messages.slice(message, sentBefore);
  let left = RECENT_TOKENS;
  return recent.toReversed().every((each) => (left -= counter.message(each)) >= 0);
}

/**
 * The reads of a file that asked for lines which a marker stood for shortly before.
 * @param reads all reads of the file, as they came, in order.
 */
function readsAgain(draft: Draft, { ids }: KnownLines, reads: readonly Source[]): Source[] {
  const found: Source[] = [];
  /** For each line that was cut, the message. */
  const cutIn = new Map<LineId, number>();
  for (const read of reads) {
    const { content, lines } = read;
    let again = 0;
    for (let line = 0; line < lines.count && cutIn.size > 0; line++) {
      const cut = cutIn.get(lines.id(line));
      if (cut === undefined || cut >= content.message) continue;
      if (content.message - cut <= RECENT_MESSAGES) again++;
      // From here on it is shown, unless it is cut once more.
      cutIn.delete(lines.id(line));
    }
    if (again >= MIN_LINES_AGAIN) found.push(read);
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
  return found;
}
