import { mayReferToSource, RANK_BY_SOURCE_KIND, type KeptCopy, type LineSource, type LineSourceKind } from './sources';
import { copyToLargerArray, NO_LINE_ID, type LineId, type LineIds } from '../lines/lineIds';

/** Limits, for each line, the matching places to try and the places in other files to skip. */
const MAX_MATCHES_TRIED_PER_LINE = 6;
const MAX_MATCHES_SKIPPED_IN_OTHER_FILES = 30;

/** Shorter runs may be equal by chance. */
const MIN_CHARS_OF_MATCHING_LINES = 40;

const NO_INDEXED_LINE = -1;

const NUMBER_OF_UNDOABLE_ARRAYS = 3;
const ARRAY_ID_OF_KEPT_LINES = 0;
const ARRAY_ID_OF_PREVIOUS_LINES = 1;
const ARRAY_ID_OF_NEWEST_LINES = 2;

/** Numbers the lines of all sources consecutively. */
export type IndexedLineNumber = number;

/**
 * Finds lines that occur again. Of two equal lines, the one that stays is the keeper of the other.
 */
export class RepeatedLineIndex {
  readonly sources: LineSource[] = [];
  readonly bases: number[] = [];
  /** For each source, how many of its lines are kept elsewhere instead. */
  private readonly keptElsewhereCounts: number[] = [];
  size = 0;
  private keptLines = new Int32Array(1_024);
  private sourceIndexes = new Int32Array(1_024);
  /** For each line, the previous line with the same ID. */
  private previousEqualLines = new Int32Array(1_024);
  /** For each line ID, the number of its latest line, plus one. */
  private newestLineById = new Int32Array(1_024);
  /**
   * Changes to undo, in pairs: which entry changed (three times its index plus the number of the
   * list), and its previous value.
   */
  private undoLog = new Int32Array(1_024);
  private undoSize = 0;
  private readonly undoBases: number[] = [];
  private touchedSources = new Set<number>();
  private removedSources = new Set<LineSource>();

  constructor(
    readonly keep: KeptCopy,
    readonly removableKinds: ReadonlySet<LineSourceKind>,
    private readonly ids: LineIds,
    readonly acrossFiles = false,
    /**
     * Whether to link single lines that belong to no run. This splits runs that a later source
     * would find, so remove those first.
     */
    private readonly linksSingleLines = false,
  ) {}

  /** Sources must be added in the order of the conversation. */
  addSource(source: LineSource, isRemovable = this.removableKinds.has(source.kind)): void {
    const base = this.size;
    this.growTables(base + source.lines.count);
    const sourceIndex = this.sources.push(source) - 1;
    this.bases.push(base);
    this.keptElsewhereCounts.push(0);
    this.touchedSources.add(sourceIndex);
    this.undoBases.push(this.undoSize);
    this.keptLines.fill(NO_INDEXED_LINE, base, this.size);
    this.previousEqualLines.fill(NO_INDEXED_LINE, base, this.size);
    this.sourceIndexes.fill(sourceIndex, base, this.size);
    this.linkMatchingLinesOfSource(source, base, isRemovable);
    if (this.linksSingleLines && this.keep !== 'above') this.linkMatchingSingleLines(source, base, isRemovable);
    this.addLinesOfSource(source, base);
  }

  /** Undoes the changes of all sources after the first `count`. */
  truncateSources(count: number): void {
    if (count >= this.sources.length) return;
    const remainingSize = this.bases[count] as number;
    const remainingUndoSize = this.undoBases[count] as number;
    while (this.undoSize > remainingUndoSize) {
      const previousValue = this.undoLog[--this.undoSize] as number;
      const entryId = this.undoLog[--this.undoSize] as number;
      const index = Math.floor(entryId / NUMBER_OF_UNDOABLE_ARRAYS);
      if (entryId % NUMBER_OF_UNDOABLE_ARRAYS === ARRAY_ID_OF_KEPT_LINES) this.setKeptLine(index, previousValue);
      else
        (entryId % NUMBER_OF_UNDOABLE_ARRAYS === ARRAY_ID_OF_PREVIOUS_LINES
          ? this.previousEqualLines
          : this.newestLineById
        )[index] = previousValue;
    }
    // Must come after the undo, which puts hidden lines back into the chains.
    for (let sourceIndex = this.sources.length - 1; sourceIndex >= count; sourceIndex--) {
      this.removeLinesOfSource(this.sources[sourceIndex] as LineSource, this.bases[sourceIndex] ?? 0);
      this.touchedSources.delete(sourceIndex);
      this.removedSources.add(this.sources[sourceIndex] as LineSource);
    }
    for (const resizedList of [this.sources, this.bases, this.keptElsewhereCounts, this.undoBases])
      resizedList.length = count;
    this.size = remainingSize;
  }

  /**
   * `touched`: indexes of sources that are new or that have a line now replaced by a different
   * line.
   */
  takeSourcesChangedSinceLastCall(): {
    readonly touched: ReadonlySet<number>;
    readonly removed: ReadonlySet<LineSource>;
  } {
    const { touchedSources: touched, removedSources: removed } = this;
    this.touchedSources = new Set();
    this.removedSources = new Set();
    return { touched, removed };
  }

  /** True if another line replaces a line of this source. */
  hasReplacedLines(at: number): boolean {
    return (this.keptElsewhereCounts[at] ?? 0) > 0;
  }

  /** Returns the line that stays in place of this one, or the line itself. */
  findKeptLine(line: IndexedLineNumber): IndexedLineNumber {
    let root = line;
    for (let next = this.getKeptLine(root); next !== NO_INDEXED_LINE; next = this.getKeptLine(root)) root = next;
    // Path compression keeps chains short, however often a file was read.
    let copyLine = line;
    while (copyLine !== root) {
      const next = this.getKeptLine(copyLine);
      if (next !== root) this.changeKeptLineUndoably(copyLine, root);
      copyLine = next;
    }
    return root;
  }

  getSourceAt(line: IndexedLineNumber): LineSource {
    return this.sources[this.sourceIndexes[line] as number] as LineSource;
  }

  getLineInSource(line: IndexedLineNumber): number {
    return line - (this.bases[this.sourceIndexes[line] as number] as number);
  }

  getIdAt(line: IndexedLineNumber): LineId {
    return this.getSourceAt(line).lines.getId(this.getLineInSource(line));
  }

  getSignAt(line: IndexedLineNumber): number {
    return this.getSourceAt(line).lines.getDiffSign(this.getLineInSource(line));
  }

  private linkMatchingLinesOfSource(source: LineSource, base: number, isRemovable: boolean): void {
    const { lines } = source;
    let searchStart = 0;
    for (let line = 0; line < lines.count; line++) {
      const match = this.canStartMatchAtLine(lines.getId(line))
        ? this.findLongestMatchingLines(source, line, searchStart)
        : undefined;
      if (!match) continue;
      for (let step = 0; step < match.length; step++)
        this.linkRepeatedLines(match.oldLine + step, base + match.line + step, isRemovable);
      searchStart = match.line + match.length;
      line = searchStart - 1;
    }
  }

  /**
   * Links the remaining lines to all older equal lines; {@link linkMatchingLinesOfSource} links each to only one.
   */
  private linkMatchingSingleLines(source: LineSource, base: number, isRemovable: boolean): void {
    for (let line = 0; line < source.lines.count; line++) {
      const id = source.lines.getId(line);
      if (!this.canStartMatchAtLine(id)) continue;
      let skippedMatches = 0;
      let oldLine = this.findOlderEqualLine(id);
      for (
        ;
        oldLine !== NO_INDEXED_LINE &&
        this.getKeptLine(base + line) === NO_INDEXED_LINE &&
        skippedMatches < MAX_MATCHES_SKIPPED_IN_OTHER_FILES;
        oldLine = this.findOlderEqualLine(id, oldLine)
      ) {
        const run =
          this.chooseRemovedSource(this.getSourceAt(oldLine), source, isRemovable) === 'older'
            ? this.extendMatchInBothDirections(source, line, oldLine, 0, base)
            : NO_MATCHING_LINES;
        if (run.chars < MIN_CHARS_OF_MATCHING_LINES) skippedMatches++;
        else
          for (let step = 0; step < run.length; step++)
            this.changeKeptLineUndoably(run.oldLine + step, base + run.line + step);
      }
    }
  }

  private mayReferTo(source: LineSource, keeper: LineSource): boolean {
    return this.acrossFiles || mayReferToSource(source, keeper);
  }

  private canStartMatchAtLine(id: LineId): boolean {
    return id !== NO_LINE_ID && this.newestLineById[id] !== 0 && this.ids.isDistinctive(id);
  }

  private findLongestMatchingLines(source: LineSource, line: number, searchStart: number): MatchingLines | undefined {
    let bestMatch: MatchingLines | undefined;
    const id = source.lines.getId(line);
    let skippedMatches = 0;
    let triedMatches = 0;
    let candidate = this.findOlderEqualLine(id);
    for (
      ;
      candidate !== NO_INDEXED_LINE && triedMatches < MAX_MATCHES_TRIED_PER_LINE;
      candidate = this.findOlderEqualLine(id, candidate)
    ) {
      const candidateSource = this.getSourceAt(candidate);
      // Neither file may refer to lines of the other.
      if (!this.mayReferTo(source, candidateSource) && !this.mayReferTo(candidateSource, source)) {
        if (++skippedMatches > MAX_MATCHES_SKIPPED_IN_OTHER_FILES) break;
        continue;
      }
      triedMatches++;
      const match = this.extendMatchInBothDirections(source, line, candidate, searchStart);
      if (!bestMatch || match.chars > bestMatch.chars) bestMatch = match;
      if (bestMatch.line + bestMatch.length === source.lines.count) break;
    }
    return bestMatch && bestMatch.chars >= MIN_CHARS_OF_MATCHING_LINES ? bestMatch : undefined;
  }

  /**
   * Returns the next older line with the same ID that no other line replaces, and removes replaced
   * lines from the chain.
   */
  private findOlderEqualLine(id: LineId, newer: IndexedLineNumber = NO_INDEXED_LINE): IndexedLineNumber {
    const firstPlace =
      newer === NO_INDEXED_LINE ? (this.newestLineById[id] as number) - 1 : (this.previousEqualLines[newer] as number);
    let place = firstPlace;
    while (place !== NO_INDEXED_LINE && this.getKeptLine(place) !== NO_INDEXED_LINE)
      place = this.previousEqualLines[place] as number;
    if (place === firstPlace) return place;
    if (newer === NO_INDEXED_LINE) {
      this.recordPreviousValueForUndo(id * NUMBER_OF_UNDOABLE_ARRAYS + ARRAY_ID_OF_NEWEST_LINES, firstPlace + 1);
      this.newestLineById[id] = place + 1;
    } else {
      this.recordPreviousValueForUndo(newer * NUMBER_OF_UNDOABLE_ARRAYS + ARRAY_ID_OF_PREVIOUS_LINES, firstPlace);
      this.previousEqualLines[newer] = place;
    }
    return place;
  }

  /** @param base index of the source's first line, if replaced lines do not count */
  private extendMatchInBothDirections(
    { lines }: LineSource,
    line: number,
    candidate: IndexedLineNumber,
    searchStart: number,
    base?: number,
  ): MatchingLines {
    const candidateLines = this.getSourceAt(candidate).lines;
    const candidateLine = this.getLineInSource(candidate);
    const isSameLine = (offset: number): boolean => {
      const id = lines.getId(line + offset);
      if (id === NO_LINE_ID || id !== candidateLines.getId(candidateLine + offset)) return false;
      if (base === undefined) return true;
      return (
        this.getKeptLine(base + line + offset) === NO_INDEXED_LINE &&
        this.getKeptLine(candidate + offset) === NO_INDEXED_LINE
      );
    };
    const getLineLength = (offset: number): number =>
      lines.getEnd(line + offset) - lines.getStartAfterPrefix(line + offset);
    let matchedChars = getLineLength(0);
    let lengthFromLine = 1;
    for (
      ;
      line + lengthFromLine < lines.count &&
      candidateLine + lengthFromLine < candidateLines.count &&
      isSameLine(lengthFromLine);
      lengthFromLine++
    )
      matchedChars += getLineLength(lengthFromLine);
    let linesBefore = 0;
    for (
      ;
      line - linesBefore > searchStart && candidateLine - linesBefore > 0 && isSameLine(-linesBefore - 1);
      linesBefore++
    )
      matchedChars += getLineLength(-linesBefore - 1);
    return {
      line: line - linesBefore,
      oldLine: candidate - linesBefore,
      length: linesBefore + lengthFromLine,
      chars: matchedChars,
    };
  }

  private linkRepeatedLines(old: IndexedLineNumber, newLine: IndexedLineNumber, isRemovable: boolean): void {
    const root = this.findKeptLine(old);
    const source = this.getSourceAt(newLine);
    const rootSource = this.getSourceAt(root);
    if (rootSource === source) return;
    const removedSide = this.chooseRemovedSource(rootSource, source, isRemovable);
    if (removedSide === 'older') this.changeKeptLineUndoably(root, newLine);
    else if (removedSide === 'newer') this.changeKeptLineUndoably(newLine, root);
  }

  private chooseRemovedSource(
    older: LineSource,
    newer: LineSource,
    isRemovable: boolean,
  ): 'older' | 'newer' | undefined {
    const difference = RANK_BY_SOURCE_KIND[newer.kind] - RANK_BY_SOURCE_KIND[older.kind];
    const prefersNewer = difference === 0 ? this.keep === 'latest' : difference > 0;
    const isOlderRemovable =
      this.keep !== 'above' && this.removableKinds.has(older.kind) && this.mayReferTo(older, newer);
    const isNewerRemovable = isRemovable && this.mayReferTo(newer, older);
    if (prefersNewer ? isOlderRemovable : !isNewerRemovable && isOlderRemovable) return 'older';
    return isNewerRemovable ? 'newer' : undefined;
  }

  private getKeptLine(line: IndexedLineNumber): IndexedLineNumber {
    return this.keptLines[line] as number;
  }

  private changeKeptLineUndoably(line: IndexedLineNumber, keeper: IndexedLineNumber): void {
    this.recordPreviousValueForUndo(line * NUMBER_OF_UNDOABLE_ARRAYS + ARRAY_ID_OF_KEPT_LINES, this.getKeptLine(line));
    this.setKeptLine(line, keeper);
  }

  private recordPreviousValueForUndo(entryId: number, value: number): void {
    if (this.undoSize + 2 > this.undoLog.length)
      this.undoLog = copyToLargerArray(this.undoLog, 2 * this.undoLog.length);
    this.undoLog[this.undoSize++] = entryId;
    this.undoLog[this.undoSize++] = value;
  }

  private setKeptLine(line: IndexedLineNumber, keeper: IndexedLineNumber): void {
    const sourceIndex = this.sourceIndexes[line] as number;
    const countChange = Number(keeper !== NO_INDEXED_LINE) - Number(this.getKeptLine(line) !== NO_INDEXED_LINE);
    this.keptElsewhereCounts[sourceIndex] = (this.keptElsewhereCounts[sourceIndex] ?? 0) + countChange;
    // Shortening a chain does not change what stays.
    if (countChange !== 0) this.touchedSources.add(sourceIndex);
    this.keptLines[line] = keeper;
  }

  private addLinesOfSource({ lines }: LineSource, base: number): void {
    for (let line = 0; line < lines.count; line++) {
      const id = lines.getId(line);
      if (this.getKeptLine(base + line) !== NO_INDEXED_LINE || id === NO_LINE_ID || !this.ids.isDistinctive(id))
        continue;
      this.previousEqualLines[base + line] = (this.newestLineById[id] as number) - 1;
      this.newestLineById[id] = base + line + 1;
    }
  }

  private removeLinesOfSource({ lines }: LineSource, base: number): void {
    for (let line = lines.count - 1; line >= 0; line--) {
      const id = lines.getId(line);
      if (id !== NO_LINE_ID && this.newestLineById[id] === base + line + 1) {
        this.newestLineById[id] = (this.previousEqualLines[base + line] as number) + 1;
      }
    }
  }

  private growTables(size: number): void {
    this.size = size;
    if (this.ids.count > this.newestLineById.length)
      this.newestLineById = copyToLargerArray(this.newestLineById, 2 * this.ids.count);
    if (size <= this.keptLines.length) return;
    const length = Math.max(size, 2 * this.keptLines.length);
    this.keptLines = copyToLargerArray(this.keptLines, length);
    this.sourceIndexes = copyToLargerArray(this.sourceIndexes, length);
    this.previousEqualLines = copyToLargerArray(this.previousEqualLines, length);
  }
}

interface MatchingLines {
  readonly line: number;
  readonly oldLine: IndexedLineNumber;
  readonly length: number;
  readonly chars: number;
}

const NO_MATCHING_LINES: MatchingLines = { line: 0, oldLine: NO_INDEXED_LINE, length: 0, chars: 0 };
