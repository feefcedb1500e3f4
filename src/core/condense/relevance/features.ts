import type { ToolKind } from '../../agents/types';
import type { FilePart } from '../../messages/fileParts';
import type { ContentType } from '../../messages/types';
import { LineIds, copyToLargerArray, NO_LINE_ID } from '../lines/lineIds';
import { findErrorLines } from '../operations/errorLines';
import { FEATURE_NAMES, type FeatureName } from './featureNames';
import type { FileUseHistory, ConversationFileHistory } from './fileHistory';
import { forEachWord, WORD_SOURCES, type ConversationFocus } from './focus';
import type { BlockWithLines, TextBlock } from './textBlocks';

export interface ContentFacts {
  readonly type: ContentType;
  /** Undefined for unknown tools and for text. */
  readonly kind: ToolKind | undefined;
  readonly isError: boolean;
  /** In o200k tokens. */
  readonly tokens: number;
  readonly message: number;
  readonly turns: number;
  readonly resultsAfter: number;
  readonly path: string | undefined;
}

export interface PlacedBlock {
  readonly block: TextBlock;
  readonly facts: ContentFacts;
}

/** In the order of {@link FEATURE_NAMES}. */
export interface BlockWithFeatures extends PlacedBlock {
  readonly features: Float32Array;
}

export interface FeatureContext {
  readonly focus: ConversationFocus;
  readonly files: ConversationFileHistory;
  readonly turnsSince: (message: number) => number;
}

/**
 * How the text got into the conversation; for example, `printed` by a command or `put` into a file.
 */
export type BlockOrigin = 'read' | 'printed' | 'found' | 'put' | 'other';

export function getBlockOrigin({ type, kind, isError }: ContentFacts, part: FilePart | undefined): BlockOrigin {
  if (type === 'toolParameters') {
    const isWritten =
      part?.linePrefix === 'diff' || kind === 'edit' || kind === 'write' || (kind === 'command' && part);
    return isWritten ? 'put' : 'other';
  }
  if (isError) return 'other';
  if (kind === 'read') return 'read';
  if (part?.linePrefix === 'search' || kind === 'search') return 'found';
  return part && kind !== 'edit' && kind !== 'write' ? 'printed' : 'other';
}

const FEATURE_INDEX = Object.fromEntries(FEATURE_NAMES.map((name, index) => [name, index])) as Readonly<
  Record<FeatureName, number>
>;

const DOCUMENT_FILE_NAME = /\.(?:md|mdx|markdown|txt|rst|adoc)$/i;

/** After so many turns, an error is probably no longer what the agent works on. */
const MAX_UNSOLVED_TURNS = 5;

/** Lines about errors in a file are code, not output. */
export const isCommandOutput = ({ type, kind, isError }: ContentFacts, { part }: TextBlock): boolean =>
  type === 'toolResults' && !part && (isError || kind === 'command');

/** Distance in lines from a quoted block at which nearness has halved. */
const MAX_NEAR_LINES = 12;

const FEATURE_ROWS_PER_CHUNK = 64;

export class BlockFeatureRows {
  private sharedRows = new Float32Array(0);
  private nextRowStart = 0;

  constructor(private readonly featureContext: FeatureContext) {}

  /** Computes what depends on no other block; {@link finishBlocks} adds the rest. */
  computeFeatures({ block, lines }: BlockWithLines, facts: ContentFacts): Float32Array {
    const { featureContext: surroundings } = this;
    const path = block.part?.path ?? facts.path;
    const fileUse = path === undefined ? undefined : surroundings.files.getFileUse(path);
    const row = this.allocateRow();
    const setFeature = (name: FeatureName, value: number): void => {
      row[FEATURE_INDEX[name]] = value;
    };
    addContentFeatures(setFeature, block, facts, path, surroundings);
    if (fileUse) addFileFeatures(setFeature, lines, facts, fileUse, surroundings);
    return row;
  }

  /** @param blocks in the order of the conversation, those of one content together */
  finishBlocks(blocks: readonly BlockWithFeatures[]): void {
    addSharedWords(blocks, this.featureContext.focus);
    for (const { from, to } of listRangesOfContents(blocks)) {
      addTextFeatures(blocks, from, to);
    }
  }

  /** Rows share arrays, because an array for each would double the memory. */
  private allocateRow(): Float32Array {
    const rowLength = FEATURE_NAMES.length;
    if (this.nextRowStart === this.sharedRows.length) {
      this.sharedRows = new Float32Array(FEATURE_ROWS_PER_CHUNK * rowLength);
      this.nextRowStart = 0;
    }
    return this.sharedRows.subarray(this.nextRowStart, (this.nextRowStart += rowLength));
  }
}

type SetFeature = (name: FeatureName, value: number) => void;

function addContentFeatures(
  set: SetFeature,
  block: TextBlock,
  facts: ContentFacts,
  path: string | undefined,
  { focus }: FeatureContext,
): void {
  const origin = getBlockOrigin(facts, block.part);
  set('results', Math.log1p(facts.resultsAfter));
  set('lately', Math.exp(-facts.turns / 20));
  set('block', Math.log(Math.max(1, block.tokens)));
  if (origin === 'printed' || origin === 'found') set(origin, 1);
  if (origin === 'put') set('putTurns', Math.log1p(facts.turns));
  if (facts.turns <= MAX_UNSOLVED_TURNS && isCommandOutput(facts, block) && findErrorLines(block.text).length > 0)
    set('unsolved', 1);
  if (path === undefined) return;
  if (DOCUMENT_FILE_NAME.test(path)) set('document', 1);
  if (focus.isNamed(path)) set('named', 1);
  if (focus.isNamedRecently(path)) set('namedLately', 1);
  if (focus.isInOutput(path)) set('putOut', 1);
}

function addFileFeatures(
  set: SetFeature,
  lines: readonly string[],
  { message }: ContentFacts,
  file: FileUseHistory,
  { turnsSince: countTurnsSince }: FeatureContext,
): void {
  const lastChange = file.changed.at(-1);
  set('file', 1);
  set('touchedLately', Math.exp(-countTurnsSince(file.touched) / 20));
  if ((lastChange ?? -1) < (file.shown.at(-1) ?? -1)) set('open', 1);
  if (lastChange !== undefined) set('changedLately', Math.exp(-countTurnsSince(lastChange) / 10));
  set('changesAfter', Math.log1p(countLaterIndexes(file.changed, message)));
  set('shows', Math.log1p(file.shown.length));
  let staleLineCount = 0;
  let isQuoted = false;
  const isRewritten = file.written > message;
  for (const line of lines) {
    const lineHistory = file.lines.get(line);
    if (!lineHistory) {
      if (isRewritten) staleLineCount++;
      continue;
    }
    // A line that the agent has put back counts as present.
    if (
      lineHistory.removedAt > Math.max(message, lineHistory.writtenAt) ||
      (isRewritten && lineHistory.writtenAt < file.written)
    )
      staleLineCount++;
    if (
      (lineHistory.quotedAt >= 0 && lineHistory.quotedAt !== message) ||
      (lineHistory.writtenAt >= 0 && lineHistory.writtenAt !== message)
    )
      isQuoted = true;
  }
  set('stale', staleLineCount / Math.max(1, lines.length));
  // The neighboring blocks get a share of the value later.
  if (isQuoted) set('near', 1);
}

/** @param indexes in ascending order */
function countLaterIndexes(indexes: readonly number[], index: number): number {
  let count = 0;
  for (let position = indexes.length - 1; position >= 0 && (indexes[position] ?? 0) > index; position--) count++;
  return count;
}

function listRangesOfContents(placedBlocks: readonly PlacedBlock[]): { from: number; to: number }[] {
  const ranges: { from: number; to: number }[] = [];
  for (let from = 0; from < placedBlocks.length;) {
    let to = from + 1;
    while (to < placedBlocks.length && placedBlocks[to]?.facts === placedBlocks[from]?.facts) to++;
    ranges.push({ from, to });
    from = to;
  }
  return ranges;
}

function addTextFeatures(blocks: readonly BlockWithFeatures[], firstBlock: number, endBlock: number): void {
  let proseSum = 0;
  for (let blockIndex = firstBlock; blockIndex < endBlock; blockIndex++)
    proseSum += blocks[blockIndex]?.features[FEATURE_INDEX.prose] ?? 0;
  const isQuotedByBlock = blocks.slice(firstBlock, endBlock).map(({ features }) => features[FEATURE_INDEX.near] === 1);
  const addDecayingNearness = (start: number, end: number, step: number): void => {
    let nearness = 0;
    for (let blockIndex = start; blockIndex !== end; blockIndex += step) {
      const { features: row, block } = blocks[blockIndex] as BlockWithFeatures;
      if (isQuotedByBlock[blockIndex - firstBlock] === true) nearness = 1;
      row[FEATURE_INDEX.near] = Math.max(row[FEATURE_INDEX.near] ?? 0, nearness);
      nearness *= 0.5 ** (block.count / MAX_NEAR_LINES);
    }
  };
  addDecayingNearness(firstBlock, endBlock, 1);
  addDecayingNearness(endBlock - 1, firstBlock - 1, -1);
  for (let blockIndex = firstBlock; blockIndex < endBlock; blockIndex++) {
    const row = blocks[blockIndex]?.features;
    if (row) row[FEATURE_INDEX.textProse] = proseSum / (endBlock - firstBlock);
  }
}

interface WordTable {
  /**
   * Weight of each word for each source of {@link WORD_SOURCES}, at index word × sources + source.
   */
  readonly weightBySource: Float64Array;
  readonly count: number;
  readonly forEachWord: (text: string, tell: (word: number) => void) => void;
}

/** Creating a string for each word would dominate the cost. */
function createWordTable(wordWeights: ConversationFocus['words']): WordTable {
  const wordIds = new LineIds();
  let count = 0;
  const placedWeights: (readonly [place: number, weight: number])[] = [];
  for (const [sourceIndex, voice] of WORD_SOURCES.entries())
    for (const [word, weight] of wordWeights[voice]) {
      const wordId = wordIds.getOrCreateId(word, 0, word.length, false);
      count = Math.max(count, wordId + 1);
      placedWeights.push([wordId * WORD_SOURCES.length + sourceIndex, weight]);
    }
  const weightBySource = new Float64Array(count * WORD_SOURCES.length);
  for (const [place, weight] of placedWeights) weightBySource[place] = weight;
  const lastTextByWord = new Uint32Array(count);
  let textCount = 0;
  const visitWords: WordTable['forEachWord'] = (text, tell) => {
    textCount++;
    forEachWord(text, (start, end) => {
      const word = wordIds.findId(text, start, end);
      if (word === NO_LINE_ID || lastTextByWord[word] === textCount) return;
      lastTextByWord[word] = textCount;
      tell(word);
    });
  };
  return { weightBySource, count, forEachWord: visitWords };
}

/** Scores the rare words that a block shares with each source of {@link WORD_SOURCES}. */
function addSharedWords(blocks: readonly BlockWithFeatures[], focus: ConversationFocus): void {
  const { weightBySource: weightByVoice, count, forEachWord: visitWords } = createWordTable(focus.words);
  /** For each word, the number of blocks that contain it. */
  const blockCountByWord = new Uint32Array(count);
  // An array for each block would dominate the cost of a condensation.
  let wordsOfBlocks = new Int32Array(1_024);
  let size = 0;
  const wordEndByBlock = new Int32Array(blocks.length);
  const addWord = (word: number): void => {
    if (size === wordsOfBlocks.length) wordsOfBlocks = copyToLargerArray(wordsOfBlocks, 2 * size);
    wordsOfBlocks[size++] = word;
    blockCountByWord[word] = (blockCountByWord[word] as number) + 1;
  };
  for (const [index, { block }] of blocks.entries()) {
    visitWords(block.text, addWord);
    wordEndByBlock[index] = size;
  }
  const rarityByWord = Float64Array.from(blockCountByWord, (own) => Math.log(1 + blocks.length / own));
  const scoreBySource = new Float64Array(WORD_SOURCES.length);
  for (const [index, { block, features }] of blocks.entries()) {
    scoreBySource.fill(0);
    const blockWords = wordsOfBlocks.subarray(index === 0 ? 0 : wordEndByBlock[index - 1], wordEndByBlock[index]);
    const wordsInDeclarations = new Set<number>();
    if (block.head !== '' && blockWords.length > 0) visitWords(block.head, (word) => wordsInDeclarations.add(word));
    let declaredScore = 0;
    for (const word of blockWords) {
      const firstWeight = word * scoreBySource.length;
      const wordRarity = rarityByWord[word] as number;
      for (let sourceIndex = 0; sourceIndex < scoreBySource.length; sourceIndex++)
        scoreBySource[sourceIndex] =
          (scoreBySource[sourceIndex] as number) + wordRarity * (weightByVoice[firstWeight + sourceIndex] as number);
      if (wordsInDeclarations.has(word))
        declaredScore +=
          wordRarity *
          Math.max(
            weightByVoice[firstWeight + PROSE_SOURCE_INDEX] as number,
            weightByVoice[firstWeight + CALLS_SOURCE_INDEX] as number,
          );
    }
    for (const [at, voice] of WORD_SOURCES.entries())
      features[FEATURE_INDEX[voice]] = Math.log1p(scoreBySource[at] as number);
    features[FEATURE_INDEX.declared] = Math.log1p(declaredScore);
  }
}

const PROSE_SOURCE_INDEX = WORD_SOURCES.indexOf('prose');
const CALLS_SOURCE_INDEX = WORD_SOURCES.indexOf('calls');
