/** The features of a block when a conversation is condensed: numbers that mean the same in every session. */
import type { ToolKind } from '../../agents/types';
import type { FilePart } from '../../messages/fileParts';
import type { ContentType } from '../../messages/types';
import { LineIds, longer, NOTHING } from '../lines/lineIds';
import { errorLines } from '../operations/errorLines';
import { FEATURE_NAMES, type FeatureName } from './featureNames';
import type { FileFacts, FileHistory } from './fileHistory';
import { forEachWord, VOICES, type Focus } from './focus';
import type { ReadBlock, TextBlock } from './textBlocks';

/** Facts about the content that a block is part of. */
export interface Standing {
  readonly type: ContentType;
  /** The kind of its call's tool; undefined for others, and for text. */
  readonly kind: ToolKind | undefined;
  readonly isError: boolean;
  /** o200k tokens of the content. */
  readonly tokens: number;
  /** Index of its message. */
  readonly message: number;
  /** Turns since it was said. */
  readonly turns: number;
  /** Results that came after it. */
  readonly resultsAfter: number;
  /** The file that its call names. */
  readonly path: string | undefined;
}

/** A block that may go, and the content it stands in. */
export interface Placed {
  readonly block: TextBlock;
  readonly standing: Standing;
}

/** A block with its features, in the order of {@link FEATURE_NAMES}. */
export interface Featured extends Placed {
  readonly features: Float32Array;
}

/** The material of features, beside the blocks. */
export interface Surroundings {
  readonly focus: Focus;
  readonly files: FileHistory;
  readonly turnsSince: (message: number) => number;
}

/** Where a block's text comes from: read from a file, printed from one, found in several, put into one, or anything else. */
export type Origin = 'read' | 'printed' | 'found' | 'put' | 'other';

export function originOf({ type, kind, isError }: Standing, part: FilePart | undefined): Origin {
  if (type === 'toolParameters') {
    const isPut = part?.head === 'diff' || kind === 'edit' || kind === 'write' || (kind === 'command' && part);
    return isPut ? 'put' : 'other';
  }
  if (isError) return 'other';
  if (kind === 'read') return 'read';
  if (part?.head === 'search' || kind === 'search') return 'found';
  return part && kind !== 'edit' && kind !== 'write' ? 'printed' : 'other';
}

const AT = Object.fromEntries(FEATURE_NAMES.map((name, index) => [name, index])) as Readonly<
  Record<FeatureName, number>
>;

const DOCUMENT = /\.(?:md|mdx|markdown|txt|rst|adoc)$/i;

/** Turns in which an error is likely to be what is worked on. */
const UNSOLVED_TURNS = 5;

/** What a command or a failed call said; in a file lines that speak of errors are code. */
export const isOutput = ({ type, kind, isError }: Standing, { part }: TextBlock): boolean =>
  type === 'toolResults' && !part && (isError || kind === 'command');

/** Lines between a block and one that was quoted after which it is half as near. */
const NEAR_LINES = 12;

/** Rows that lie in one list each. */
const ROWS = 64;

/** Makes the features of blocks, row by row. */
export class FeatureRows {
  private rows = new Float32Array(0);
  private at = 0;

  constructor(private readonly surroundings: Surroundings) {}

  /**
   * Those of a block by itself and of its file. The others follow from all blocks ({@link finish}).
   * @param lines of the block.
   */
  of({ block, lines }: ReadBlock, standing: Standing): Float32Array {
    const { surroundings } = this;
    const path = block.part?.path ?? standing.path;
    const file = path === undefined ? undefined : surroundings.files.of(path);
    const row = this.next();
    const set = (name: FeatureName, value: number): void => {
      row[AT[name]] = value;
    };
    standingFeatures(set, block, standing, path, surroundings);
    if (file) fileFeatures(set, lines, standing, file, surroundings);
    return row;
  }

  /**
   * Adds the features that blocks have beside each other. May be interrupted behind each block.
   * @param blocks in the order of the conversation; those of one content one after the other.
   */
  finish(blocks: readonly Featured[]): void {
    shareWords(blocks, this.surroundings.focus);
    for (const { from, to } of contentRanges(blocks)) {
      textFeatures(blocks, from, to);
    }
  }

  /** A list for each row would take as much again as what stands in it. */
  private next(): Float32Array {
    const length = FEATURE_NAMES.length;
    if (this.at === this.rows.length) {
      this.rows = new Float32Array(ROWS * length);
      this.at = 0;
    }
    return this.rows.subarray(this.at, (this.at += length));
  }
}

type SetFeature = (name: FeatureName, value: number) => void;

function standingFeatures(
  set: SetFeature,
  block: TextBlock,
  standing: Standing,
  path: string | undefined,
  { focus }: Surroundings,
): void {
  const origin = originOf(standing, block.part);
  set('results', Math.log1p(standing.resultsAfter));
  set('lately', Math.exp(-standing.turns / 20));
  set('block', Math.log(Math.max(1, block.tokens)));
  if (origin === 'printed' || origin === 'found') set(origin, 1);
  if (origin === 'put') set('putTurns', Math.log1p(standing.turns));
  if (standing.turns <= UNSOLVED_TURNS && isOutput(standing, block) && errorLines(block.text).length > 0)
    set('unsolved', 1);
  if (path === undefined) return;
  if (DOCUMENT.test(path)) set('document', 1);
  if (focus.isNamed(path)) set('named', 1);
  if (focus.isNamedLately(path)) set('namedLately', 1);
  if (focus.isPutOut(path)) set('putOut', 1);
}

function fileFeatures(
  set: SetFeature,
  lines: readonly string[],
  { message }: Standing,
  file: FileFacts,
  { turnsSince }: Surroundings,
): void {
  const last = file.changed.at(-1);
  set('file', 1);
  set('touchedLately', Math.exp(-turnsSince(file.touched) / 20));
  if ((last ?? -1) < (file.shown.at(-1) ?? -1)) set('open', 1);
  if (last !== undefined) set('changedLately', Math.exp(-turnsSince(last) / 10));
  set('changesAfter', Math.log1p(after(file.changed, message)));
  set('shows', Math.log1p(file.shown.length));
  let stale = 0;
  let isQuoted = false;
  const isRewritten = file.written > message;
  for (const line of lines) {
    const facts = file.lines.get(line);
    if (!facts) {
      if (isRewritten) stale++;
      continue;
    }
    // Lines that the agent put in again are there again.
    if (facts.gone > Math.max(message, facts.put) || (isRewritten && facts.put < file.written)) stale++;
    if ((facts.quoted >= 0 && facts.quoted !== message) || (facts.put >= 0 && facts.put !== message)) isQuoted = true;
  }
  set('stale', stale / Math.max(1, lines.length));
  // The blocks around it get their share of this in the end.
  if (isQuoted) set('near', 1);
}

/** How many of the indexes, in order, lie behind one. */
function after(indexes: readonly number[], index: number): number {
  let count = 0;
  for (let at = indexes.length - 1; at >= 0 && (indexes[at] ?? 0) > index; at--) count++;
  return count;
}

function contentRanges(placed: readonly Placed[]): { from: number; to: number }[] {
  const ranges: { from: number; to: number }[] = [];
  for (let from = 0; from < placed.length;) {
    let to = from + 1;
    while (to < placed.length && placed[to]?.standing === placed[from]?.standing) to++;
    ranges.push({ from, to });
    from = to;
  }
  return ranges;
}

/** A block's features from its neighbours in the same text. */
function textFeatures(blocks: readonly Featured[], from: number, to: number): void {
  let prose = 0;
  for (let at = from; at < to; at++) prose += blocks[at]?.features[AT.prose] ?? 0;
  const isQuoted = blocks.slice(from, to).map(({ features }) => features[AT.near] === 1);
  const decayed = (start: number, end: number, step: number): void => {
    let near = 0;
    for (let at = start; at !== end; at += step) {
      const { features: row, block } = blocks[at] as Featured;
      if (isQuoted[at - from] === true) near = 1;
      row[AT.near] = Math.max(row[AT.near] ?? 0, near);
      near *= 0.5 ** (block.count / NEAR_LINES);
    }
  };
  decayed(from, to, 1);
  decayed(to - 1, from - 1, -1);
  for (let at = from; at < to; at++) {
    const row = blocks[at]?.features;
    if (row) row[AT.textProse] = prose / (to - from);
  }
}

/** The words that voices used, by ids. */
interface SaidWords {
  /** What each voice makes of each word: at word × voices + voice, in the order of {@link VOICES}. */
  readonly said: Float64Array;
  /** How many words there are. */
  readonly count: number;
  /** Tells those of a text, each once, in their order. */
  readonly eachIn: (text: string, tell: (word: number) => void) => void;
}

/** Words are found where they stand: a string for each word of each block would cost the most here. */
function saidWords(words: Focus['words']): SaidWords {
  const ids = new LineIds();
  let count = 0;
  const weights: (readonly [place: number, weight: number])[] = [];
  for (const [at, voice] of VOICES.entries())
    for (const [word, weight] of words[voice]) {
      const id = ids.idOf(word, 0, word.length, false);
      count = Math.max(count, id + 1);
      weights.push([id * VOICES.length + at, weight]);
    }
  const said = new Float64Array(count * VOICES.length);
  for (const [place, weight] of weights) said[place] = weight;
  /** By word, the last text that it was found in. */
  const foundIn = new Uint32Array(count);
  let texts = 0;
  const eachIn: SaidWords['eachIn'] = (text, tell) => {
    texts++;
    forEachWord(text, (start, end) => {
      const word = ids.find(text, start, end);
      if (word === NOTHING || foundIn[word] === texts) return;
      foundIn[word] = texts;
      tell(word);
    });
  };
  return { said, count, eachIn };
}

/** Adds for each block the rare words that it shares with each voice. Looks each word of a block up once. */
function shareWords(blocks: readonly Featured[], focus: Focus): void {
  const { said, count, eachIn } = saidWords(focus.words);
  /** By word, how many blocks say it. */
  const spread = new Uint32Array(count);
  // The words of all blocks stand in one list: one for each block would be most of what a condensation takes.
  let all = new Int32Array(1_024);
  let size = 0;
  const ends = new Int32Array(blocks.length);
  const add = (word: number): void => {
    if (size === all.length) all = longer(all, 2 * size);
    all[size++] = word;
    spread[word] = (spread[word] as number) + 1;
  };
  for (const [index, { block }] of blocks.entries()) {
    eachIn(block.text, add);
    ends[index] = size;
  }
  const rarity = Float64Array.from(spread, (own) => Math.log(1 + blocks.length / own));
  const sums = new Float64Array(VOICES.length);
  for (const [index, { block, features }] of blocks.entries()) {
    sums.fill(0);
    const found = all.subarray(index === 0 ? 0 : ends[index - 1], ends[index]);
    const declares = new Set<number>();
    if (block.head !== '' && found.length > 0) eachIn(block.head, (word) => declares.add(word));
    let declared = 0;
    for (const word of found) {
      const first = word * sums.length;
      const rare = rarity[word] as number;
      for (let at = 0; at < sums.length; at++) sums[at] = (sums[at] as number) + rare * (said[first + at] as number);
      if (declares.has(word)) declared += rare * Math.max(said[first + PROSE] as number, said[first + CALLS] as number);
    }
    for (const [at, voice] of VOICES.entries()) features[AT[voice]] = Math.log1p(sums[at] as number);
    features[AT.declared] = Math.log1p(declared);
  }
}

const PROSE = VOICES.indexOf('prose');
const CALLS = VOICES.indexOf('calls');
