import { copyWithoutSpareCapacity } from '../../keptList';
import { isSamePath } from '../../messages/path';
import type { LineId } from '../lines/lineIds';
import type { RepeatedLineIndex, IndexedLineNumber } from './lineIndex';
import type { TextLines } from '../lines/lines';
import { areSameFile, type LineSource } from './sources';

export interface KeptRangeInSource {
  readonly source: LineSource;
  readonly first: number;
  readonly last: number;
  /** Number of lines of the run that the range keeps. */
  readonly lineCount: number;
}

export interface RepeatedLineRange {
  readonly source: LineSource;
  readonly first: number;
  readonly last: number;
  /** The places that keep the run's lines, in order. Blank lines may be kept nowhere. */
  readonly places: readonly KeptRangeInSource[];
}

const MIN_CHARS_OF_REPEATED_RANGE = 60;

/** A marker with more places would be hard to follow. */
const MAX_MARKER_PLACES = 2;

/**
 * If the range is longer than the run by more than this factor, the run's lines are hard to find in
 * it.
 */
const MAX_KEPT_RANGE_LENGTH_FACTOR = 2;

interface FirstAndLastLine {
  readonly first: number;
  readonly last: number;
}

export interface RepeatedRangesOfSource {
  readonly source: LineSource;
  readonly runs: readonly RepeatedLineRange[];
  /** True after an attempt to cut these runs saved nothing. */
  isSettled: boolean;
}

export type RangeWorthMarkerTest = (run: RepeatedLineRange) => boolean;

const LINE_MAY_BE_REMOVED = 1;
const LINE_IS_REMOVED = 2;

interface ChosenRepeatedRanges {
  readonly runsByRange: readonly (readonly RepeatedLineRange[])[];
  /** Lines that markers name although they may be removed themselves. */
  readonly namedLines: readonly IndexedLineNumber[];
}

interface RangesReferringToFixedOrRemovableLines {
  /** Markers name only lines that cannot be removed. */
  readonly safe: ChosenRepeatedRanges;
  /**
   * Markers may also name lines that the safe choice keeps although they could be removed, so that
   * one place may be enough instead of two.
   */
  readonly wide: ChosenRepeatedRanges;
  readonly mayBeWide: boolean;
  readonly keepers: readonly LineSource[];
}

export class RepeatedRangeChooser {
  private readonly choices: (RangesReferringToFixedOrRemovableLines | undefined)[] = [];
  private readonly runsBySource: (RepeatedRangesOfSource | undefined)[] = [];
  private readonly repeatedRanges: (readonly FirstAndLastLine[] | undefined)[] = [];
  private readonly cachedRangesBySource = new WeakMap<LineSource, RepeatedRangesOfSource>();
  /** For each line, {@link LINE_MAY_BE_REMOVED}, {@link LINE_IS_REMOVED}, or 0 if the line must stay. */
  private removalStates = new Uint8Array(1_024);

  constructor(
    private readonly index: RepeatedLineIndex,
    private readonly isBlank: (id: LineId) => boolean,
  ) {}

  /** Also recomputes sources whose lines the changed sources keep. */
  updateChoices(isWorthMarker: RangeWorthMarkerTest): void {
    const { index, choices } = this;
    const { touched: touchedSources, removed: removedSources } = index.takeSourcesChangedSinceLastCall();
    if (touchedSources.size === 0 && removedSources.size === 0) return;
    choices.length = Math.min(choices.length, index.sources.length);
    this.growTables(index.size);
    for (const sourceIndex of touchedSources) {
      this.updateRangesOfRepeatedLines(sourceIndex);
    }
    const changedSources = new Set([...removedSources, ...[...touchedSources].map((at) => index.sources[at])]);
    const needsUpdate = (at: number): boolean =>
      touchedSources.has(at) || choices[at]?.keepers.some((keeper) => changedSources.has(keeper)) === true;
    const staleIndexes = index.sources.flatMap((_, at) => (needsUpdate(at) ? [at] : []));
    for (const sourceIndex of staleIndexes) {
      choices[sourceIndex] = this.chooseRangesReferringToFixedLines(sourceIndex, isWorthMarker);
      changedSources.add(index.sources[sourceIndex]);
    }
    for (let sourceIndex = 0; sourceIndex < index.sources.length; sourceIndex++) {
      const choice = choices[sourceIndex];
      if (!choice?.mayBeWide || !needsUpdate(sourceIndex)) continue;
      choices[sourceIndex] = {
        ...choice,
        wide: this.chooseRangesReferringToRemovableLines(sourceIndex, isWorthMarker),
      };
    }
    this.chooseRangesOfAllSources();
  }

  /**
   * Includes all other sources in the same strings, because cuts in one string are made together.
   */
  listUnprocessedRanges(): readonly RepeatedRangesOfSource[] {
    const { sources } = this.index;
    const sourceIndexes = new Set<number>();
    this.runsBySource.forEach((sourceRuns, sourceIndex) => {
      if (!sourceRuns || sourceRuns.isSettled) return;
      for (let index = sourceIndex; areInSameString(sources[index], sourceRuns.source); index--)
        sourceIndexes.add(index);
      for (let index = sourceIndex; areInSameString(sources[index], sourceRuns.source); index++)
        sourceIndexes.add(index);
    });
    return [...sourceIndexes].sort((a, b) => a - b).flatMap((at) => this.runsBySource[at] ?? []);
  }

  private updateRangesOfRepeatedLines(sourceIndex: number): void {
    const { index } = this;
    const base = index.bases[sourceIndex] as number;
    this.removalStates.fill(0, base, base + (index.sources[sourceIndex] as LineSource).lines.count);
    this.repeatedRanges[sourceIndex] = index.hasReplacedLines(sourceIndex)
      ? copyWithoutSpareCapacity(findRangesOfRepeatedLines(index, sourceIndex, this.isBlank))
      : undefined;
    this.markRemovedLines(sourceIndex);
  }

  private markRemovedLines(sourceIndex: number, runs: readonly RepeatedLineRange[] = []): void {
    const base = this.index.bases[sourceIndex] as number;
    for (const { first, last } of this.repeatedRanges[sourceIndex] ?? [])
      this.removalStates.fill(LINE_MAY_BE_REMOVED, base + first, base + last + 1);
    for (const { first, last } of runs) this.removalStates.fill(LINE_IS_REMOVED, base + first, base + last + 1);
  }

  private chooseRangesReferringToFixedLines(
    sourceIndex: number,
    isWorthMarker: RangeWorthMarkerTest,
  ): RangesReferringToFixedOrRemovableLines | undefined {
    const ranges = this.repeatedRanges[sourceIndex];
    if (!ranges || ranges.length === 0) return undefined;
    const keepers = new Set<LineSource>();
    let mayBeWide = false;
    const runsByRange = ranges.map((range) => {
      const keptLines = chooseKeptLineForEachLine(this.index, sourceIndex, range, (line) => {
        const isKept = this.removalStates[line] === 0;
        mayBeWide ||= !isKept;
        return isKept;
      });
      for (const line of keptLines) if (line !== undefined) keepers.add(this.index.getSourceAt(line));
      return copyWithoutSpareCapacity(
        splitIntoRangesWithFewPlaces(this.index, sourceIndex, range, keptLines).filter(isWorthMarker),
      );
    });
    this.markRemovedLines(sourceIndex, runsByRange.flat());
    const safe = { runsByRange, namedLines: [] };
    return { safe, wide: safe, mayBeWide, keepers: copyWithoutSpareCapacity([...keepers]) };
  }

  private chooseRangesReferringToRemovableLines(
    sourceIndex: number,
    isWorthMarker: RangeWorthMarkerTest,
  ): ChosenRepeatedRanges {
    const { index, removalStates } = this;
    const namedLines: IndexedLineNumber[] = [];
    const runsByRange = (this.repeatedRanges[sourceIndex] ?? []).map((range) => {
      const keptLines = chooseKeptLineForEachLine(
        index,
        sourceIndex,
        range,
        (line) => removalStates[line] !== LINE_IS_REMOVED,
      );
      const runs = copyWithoutSpareCapacity(
        splitIntoRangesWithFewPlaces(index, sourceIndex, range, keptLines).filter(isWorthMarker),
      );
      for (const { first, last } of runs) {
        for (const line of keptLines.slice(first - range.first, last - range.first + 1))
          if (line !== undefined && removalStates[line] === LINE_MAY_BE_REMOVED) namedLines.push(line);
      }
      return runs;
    });
    return { runsByRange, namedLines: copyWithoutSpareCapacity(namedLines) };
  }

  /** Takes each range's wide choice, unless it would remove a line that another marker names. */
  private chooseRangesOfAllSources(): void {
    const { index, choices, runsBySource, removalStates } = this;
    const namedLines = new Set<IndexedLineNumber>();
    for (const choice of choices) for (const line of choice?.wide.namedLines ?? []) namedLines.add(line);
    const removesNamedLine = (base: number, { first, last }: RepeatedLineRange): boolean => {
      for (let line = base + first; line <= base + last; line++)
        if (removalStates[line] === LINE_MAY_BE_REMOVED && namedLines.has(line)) return true;
      return false;
    };
    runsBySource.length = index.sources.length;
    index.sources.forEach((source, sourceIndex) => {
      const choice = choices[sourceIndex];
      const base = index.bases[sourceIndex] as number;
      runsBySource[sourceIndex] =
        choice &&
        this.makeRangesOfSource(
          source,
          copyWithoutSpareCapacity(
            choice.wide.runsByRange.flatMap((runs, range) =>
              choice.wide !== choice.safe && runs.some((run) => removesNamedLine(base, run))
                ? (choice.safe.runsByRange[range] ?? [])
                : runs,
            ),
          ),
        );
    });
  }

  private makeRangesOfSource(source: LineSource, runs: readonly RepeatedLineRange[]): RepeatedRangesOfSource {
    const cachedRanges = this.cachedRangesBySource.get(source);
    if (cachedRanges && areListsEqual(cachedRanges.runs, runs, areRepeatedRangesEqual)) return cachedRanges;
    const newRanges = { source, runs, isSettled: false };
    this.cachedRangesBySource.set(source, newRanges);
    return newRanges;
  }

  private growTables(size: number): void {
    if (size <= this.removalStates.length) return;
    const removalStates = new Uint8Array(2 * size);
    removalStates.set(this.removalStates);
    this.removalStates = removalStates;
  }
}

const areListsEqual = <T>(a: readonly T[], b: readonly T[], areItemsEqual: (a: T, b: T) => boolean): boolean =>
  a.length === b.length && a.every((one, at) => areItemsEqual(one, b[at] as T));

const areRepeatedRangesEqual = (a: RepeatedLineRange, b: RepeatedLineRange): boolean =>
  a.first === b.first && a.last === b.last && areListsEqual(a.places, b.places, areKeptRangesEqual);

const areKeptRangesEqual = (a: KeptRangeInSource, b: KeptRangeInSource): boolean =>
  a.source === b.source && a.first === b.first && a.last === b.last && a.lineCount === b.lineCount;

const areInSameString = (a: LineSource | undefined, b: LineSource): boolean =>
  a?.content.message === b.content.message && isSamePath(a.content.path, b.content.path);

/** Every line of these ranges, except blank ones, is also kept elsewhere. */
function findRangesOfRepeatedLines(
  index: RepeatedLineIndex,
  sourceIndex: number,
  isBlank: (id: LineId) => boolean,
): FirstAndLastLine[] {
  const { lines, kind } = index.sources[sourceIndex] as LineSource;
  const base = index.bases[sourceIndex] as number;
  const ranges: FirstAndLastLine[] = [];
  let firstLine = -1;
  let lastLine = -1;
  // Whether all lines so far have the same diff sign, and whether each has the sign of the line
  // that replaces it.
  let haveSameSign = true;
  let keepersHaveSameSigns = true;
  const closeRange = (): void => {
    while (
      lastLine > firstLine &&
      lines.getStatedLineNumber(firstLine) > 0 &&
      lines.getStatedLineNumber(lastLine) === 0 &&
      isBlank(lines.getId(lastLine))
    )
      lastLine--;
    if (firstLine >= 0 && hasEnoughChars(lines, firstLine, lastLine)) ranges.push({ first: firstLine, last: lastLine });
    firstLine = -1;
  };
  // The first line of an edit's result reports the outcome, so it stays.
  for (let line = kind === 'echo' ? 1 : 0; line < lines.count; line++) {
    const root = index.findKeptLine(base + line);
    if (root !== base + line) {
      // A cut leaves only the first diff sign of a run, so a run ends where the sign changes,
      // unless the kept lines show the signs.
      const keeperHasSameSign = index.getSignAt(root) === lines.getDiffSign(line);
      const isSameSign = firstLine >= 0 && lines.getDiffSign(line) === lines.getDiffSign(firstLine);
      if (firstLine >= 0 && !(haveSameSign && isSameSign) && !(keepersHaveSameSigns && keeperHasSameSign)) closeRange();
      if (firstLine < 0) {
        firstLine = line;
        haveSameSign = keepersHaveSameSigns = true;
      }
      haveSameSign &&= lines.getDiffSign(line) === lines.getDiffSign(firstLine);
      keepersHaveSameSigns &&= keeperHasSameSign;
      lastLine = line;
    } else if (
      firstLine >= 0 &&
      !(isBlank(lines.getId(line)) && lines.getDiffSign(line) === lines.getDiffSign(line - 1))
    ) {
      closeRange();
    }
  }
  closeRange();
  return ranges;
}

/** Ignores line numbers, so that a second run decides in the same way. */
function hasEnoughChars(lines: TextLines, first: number, last: number): boolean {
  let chars = 0;
  for (let line = first; line <= last && chars < MIN_CHARS_OF_REPEATED_RANGE; line++)
    chars += lines.getEnd(line) - lines.getStartAfterPrefix(line) + 1;
  return chars >= MIN_CHARS_OF_REPEATED_RANGE;
}

function splitIntoRangesWithFewPlaces(
  index: RepeatedLineIndex,
  sourceIndex: number,
  range: FirstAndLastLine,
  keptLines: readonly (IndexedLineNumber | undefined)[],
): RepeatedLineRange[] {
  const source = index.sources[sourceIndex] as LineSource;
  const repeatedRanges: RepeatedLineRange[] = [];
  let openRange: { first: number; last: number; places: Map<LineSource, KeptRangeInSource> } | undefined;
  const closeRange = (): void => {
    if (openRange)
      repeatedRanges.push({
        source,
        first: openRange.first,
        last: openRange.last,
        places: copyWithoutSpareCapacity([...openRange.places.values()]),
      });
  };
  keptLines.forEach((line, step) => {
    if (line === undefined) return;
    const keeper = index.getSourceAt(line);
    const lineInSource = index.getLineInSource(line);
    if (openRange && !canShareMarker(openRange.places, keeper, lineInSource, source)) {
      closeRange();
      openRange = undefined;
    }
    openRange ??= { first: range.first + step, last: range.first + step, places: new Map() };
    openRange.last = range.first + step;
    const place = openRange.places.get(keeper);
    openRange.places.set(
      keeper,
      place
        ? extendKeptRange(place, lineInSource)
        : { source: keeper, first: lineInSource, last: lineInSource, lineCount: 1 },
    );
  });
  closeRange();
  return repeatedRanges;
}

/**
 * Returns undefined for blank lines that are kept nowhere.
 * @param isKept whether a marker may name a line although another line replaces it
 */
function chooseKeptLineForEachLine(
  index: RepeatedLineIndex,
  sourceIndex: number,
  { first, last }: FirstAndLastLine,
  isKept: (line: IndexedLineNumber) => boolean,
): (IndexedLineNumber | undefined)[] {
  const firstLine = (index.bases[sourceIndex] as number) + first;
  const keptLines: (IndexedLineNumber | undefined)[] = [];
  for (let step = 0; step <= last - first; step++) {
    const root = index.findKeptLine(firstLine + step);
    keptLines.push(root === firstLine + step ? undefined : root);
  }
  // Prefers the text that keeps the neighboring lines: one place is easier to find than two.
  const preferNeighbor = (step: number, neighbor: IndexedLineNumber | undefined, offset: 1 | -1): void => {
    const line = keptLines[step];
    if (line === undefined || neighbor === undefined) return;
    const source = index.getSourceAt(neighbor);
    const candidate = neighbor + offset;
    if (index.getSourceAt(line) === source || candidate < 0 || candidate >= index.size) return;
    if (
      index.getSourceAt(candidate) !== source ||
      index.getIdAt(candidate) !== index.getIdAt(line) ||
      !isKept(candidate)
    )
      return;
    // A kept line with the same diff sign is not replaced by a line without that sign.
    const sign = index.getSignAt(firstLine + step);
    if (sign === 0 || index.getSignAt(line) !== sign || index.getSignAt(candidate) === sign)
      keptLines[step] = candidate;
  };
  for (let step = 1; step < keptLines.length; step++) preferNeighbor(step, keptLines[step - 1], 1);
  for (let step = keptLines.length - 2; step >= 0; step--) preferNeighbor(step, keptLines[step + 1], -1);
  return keptLines;
}

function canShareMarker(
  places: ReadonlyMap<LineSource, KeptRangeInSource>,
  keeper: LineSource,
  line: number,
  source: LineSource,
): boolean {
  const place = places.get(keeper);
  if (place) {
    const { first, last, lineCount } = extendKeptRange(place, line);
    return (
      keeper.lines.getStatedLineNumber(first) === 0 || last - first + 1 <= MAX_KEPT_RANGE_LENGTH_FACTOR * lineCount
    );
  }
  return (
    places.size < MAX_MARKER_PLACES &&
    [...places.keys()].every((other) => haveSameRelationToSource(other, keeper, source))
  );
}

/**
 * Lines kept partly in another file are hard to follow, and the two sides of an edit must stay
 * distinguishable.
 */
const haveSameRelationToSource = (a: LineSource, b: LineSource, source: LineSource): boolean =>
  areSameFile(a, source) === areSameFile(b, source) && isOtherSideOfEdit(a, source) === isOtherSideOfEdit(b, source);

const isOtherSideOfEdit = (other: LineSource, source: LineSource): boolean =>
  other.exchange === source.exchange && source.content.type === 'toolParameters';

const extendKeptRange = ({ source, first, last, lineCount }: KeptRangeInSource, line: number): KeptRangeInSource => ({
  source,
  first: Math.min(first, line),
  last: Math.max(last, line),
  lineCount: lineCount + 1,
});
