import { trimList } from '../../keptList';
import { isSamePath } from '../../messages/path';
import type { LineId } from '../lines/lineIds';
import type { LineIndex, LineNumber } from './lineIndex';
import type { Lines } from '../lines/lines';
import { areSameFile, type LineSource } from './sources';

export interface SourceRange {
  readonly source: LineSource;
  readonly first: number;
  readonly last: number;
  /** Number of lines of the run that the range keeps. */
  readonly count: number;
}

export interface SourceRun {
  readonly source: LineSource;
  readonly first: number;
  readonly last: number;
  /** The places that keep the run's lines, in order. Blank lines may be kept nowhere. */
  readonly places: readonly SourceRange[];
}

const MIN_RUN_CHARS = 60;

/** A marker with more places would be hard to follow. */
const MAX_MARKER_PLACES = 2;

/** In a longer range, compared with the run, lines would be hard to find. */
const MAX_SPREAD_FACTOR = 2;

interface LineRange {
  readonly first: number;
  readonly last: number;
}

export interface SourceRuns {
  readonly source: LineSource;
  readonly runs: readonly SourceRun[];
  /** Set after everything was tried without effect. */
  isSettled: boolean;
}

export type IsWorth = (run: SourceRun) => boolean;

const MAY_BE_REMOVED = 1;
const IS_REMOVED = 2;

interface RunChoice {
  readonly byRange: readonly (readonly SourceRun[])[];
  /** Lines that markers name although they may be removed themselves. */
  readonly reliesOn: readonly LineNumber[];
}

interface RunChoices {
  /** Markers name only lines that cannot be removed. */
  readonly safe: RunChoice;
  /**
   * Markers may also name lines that the safe choice keeps although they could be removed; one
   * place may then do instead of two.
   */
  readonly wide: RunChoice;
  readonly mayBeWide: boolean;
  readonly keepers: readonly LineSource[];
}

export class IndexRuns {
  private readonly choices: (RunChoices | undefined)[] = [];
  private readonly known: (SourceRuns | undefined)[] = [];
  private readonly ranges: (readonly LineRange[] | undefined)[] = [];
  private readonly bySource = new WeakMap<LineSource, SourceRuns>();
  /** For each line, {@link MAY_BE_REMOVED}, {@link IS_REMOVED}, or 0 if the line must stay. */
  private goes = new Uint8Array(1_024);

  constructor(
    private readonly index: LineIndex,
    private readonly isBlank: (id: LineId) => boolean,
  ) {}

  /** Also recomputes sources that the changed ones keep lines for. */
  updateChoices(isWorth: IsWorth): void {
    const { index, choices } = this;
    const { touched, removed } = index.takeChanges();
    if (touched.size === 0 && removed.size === 0) return;
    choices.length = Math.min(choices.length, index.sources.length);
    this.growTables(index.size);
    for (const at of touched) {
      this.findRanges(at);
    }
    const changed = new Set([...removed, ...[...touched].map((at) => index.sources[at])]);
    const isStale = (at: number): boolean =>
      touched.has(at) || choices[at]?.keepers.some((keeper) => changed.has(keeper)) === true;
    const stale = index.sources.flatMap((_, at) => (isStale(at) ? [at] : []));
    for (const at of stale) {
      choices[at] = this.chooseSafely(at, isWorth);
      changed.add(index.sources[at]);
    }
    for (let at = 0; at < index.sources.length; at++) {
      const choice = choices[at];
      if (!choice?.mayBeWide || !isStale(at)) continue;
      choices[at] = { ...choice, wide: this.chooseWidely(at, isWorth) };
    }
    this.chooseRuns();
  }

  /**
   * Includes all other sources in the same strings, because cuts in one string are made together.
   */
  listUnsettled(): readonly SourceRuns[] {
    const { sources } = this.index;
    const places = new Set<number>();
    this.known.forEach((known, at) => {
      if (!known || known.isSettled) return;
      for (let same = at; isOneString(sources[same], known.source); same--) places.add(same);
      for (let same = at; isOneString(sources[same], known.source); same++) places.add(same);
    });
    return [...places].sort((a, b) => a - b).flatMap((at) => this.known[at] ?? []);
  }

  private findRanges(at: number): void {
    const { index } = this;
    const base = index.bases[at] as number;
    this.goes.fill(0, base, base + (index.sources[at] as LineSource).lines.count);
    this.ranges[at] = index.isLinked(at) ? trimList(findLinkedRanges(index, at, this.isBlank)) : undefined;
    this.markRuns(at);
  }

  private markRuns(at: number, runs: readonly SourceRun[] = []): void {
    const base = this.index.bases[at] as number;
    for (const { first, last } of this.ranges[at] ?? []) this.goes.fill(MAY_BE_REMOVED, base + first, base + last + 1);
    for (const { first, last } of runs) this.goes.fill(IS_REMOVED, base + first, base + last + 1);
  }

  private chooseSafely(at: number, isWorth: IsWorth): RunChoices | undefined {
    const ranges = this.ranges[at];
    if (!ranges || ranges.length === 0) return undefined;
    const keepers = new Set<LineSource>();
    let mayBeWide = false;
    const byRange = ranges.map((range) => {
      const kept = chooseKeptLines(this.index, at, range, (line) => {
        const stays = this.goes[line] === 0;
        mayBeWide ||= !stays;
        return stays;
      });
      for (const line of kept) if (line !== undefined) keepers.add(this.index.getSourceAt(line));
      return trimList(splitIntoRuns(this.index, at, range, kept).filter(isWorth));
    });
    this.markRuns(at, byRange.flat());
    const safe = { byRange, reliesOn: [] };
    return { safe, wide: safe, mayBeWide, keepers: trimList([...keepers]) };
  }

  private chooseWidely(at: number, isWorth: IsWorth): RunChoice {
    const { index, goes } = this;
    const reliesOn: LineNumber[] = [];
    const byRange = (this.ranges[at] ?? []).map((range) => {
      const kept = chooseKeptLines(index, at, range, (line) => goes[line] !== IS_REMOVED);
      const runs = trimList(splitIntoRuns(index, at, range, kept).filter(isWorth));
      for (const { first, last } of runs) {
        for (const line of kept.slice(first - range.first, last - range.first + 1))
          if (line !== undefined && goes[line] === MAY_BE_REMOVED) reliesOn.push(line);
      }
      return runs;
    });
    return { byRange, reliesOn: trimList(reliesOn) };
  }

  /** Takes each range's wide choice, unless it would remove a line that another marker names. */
  private chooseRuns(): void {
    const { index, choices, known, goes } = this;
    const named = new Set<LineNumber>();
    for (const choice of choices) for (const line of choice?.wide.reliesOn ?? []) named.add(line);
    const takesNamed = (base: number, { first, last }: SourceRun): boolean => {
      for (let line = base + first; line <= base + last; line++)
        if (goes[line] === MAY_BE_REMOVED && named.has(line)) return true;
      return false;
    };
    known.length = index.sources.length;
    index.sources.forEach((source, at) => {
      const choice = choices[at];
      const base = index.bases[at] as number;
      known[at] =
        choice &&
        this.toSourceRuns(
          source,
          trimList(
            choice.wide.byRange.flatMap((runs, range) =>
              choice.wide !== choice.safe && runs.some((run) => takesNamed(base, run))
                ? (choice.safe.byRange[range] ?? [])
                : runs,
            ),
          ),
        );
    });
  }

  private toSourceRuns(source: LineSource, runs: readonly SourceRun[]): SourceRuns {
    const before = this.bySource.get(source);
    if (before && isSameList(before.runs, runs, isSameRun)) return before;
    const made = { source, runs, isSettled: false };
    this.bySource.set(source, made);
    return made;
  }

  private growTables(size: number): void {
    if (size <= this.goes.length) return;
    const goes = new Uint8Array(2 * size);
    goes.set(this.goes);
    this.goes = goes;
  }
}

const isSameList = <T>(a: readonly T[], b: readonly T[], isSame: (a: T, b: T) => boolean): boolean =>
  a.length === b.length && a.every((one, at) => isSame(one, b[at] as T));

const isSameRun = (a: SourceRun, b: SourceRun): boolean =>
  a.first === b.first && a.last === b.last && isSameList(a.places, b.places, isSamePlace);

const isSamePlace = (a: SourceRange, b: SourceRange): boolean =>
  a.source === b.source && a.first === b.first && a.last === b.last && a.count === b.count;

const isOneString = (a: LineSource | undefined, b: LineSource): boolean =>
  a?.content.message === b.content.message && isSamePath(a.content.path, b.content.path);

/** Every line of these ranges has a keeper, except blank ones. */
function findLinkedRanges(index: LineIndex, at: number, isBlank: (id: LineId) => boolean): LineRange[] {
  const { lines, kind } = index.sources[at] as LineSource;
  const base = index.bases[at] as number;
  const ranges: LineRange[] = [];
  let first = -1;
  let last = -1;
  // Whether all lines so far have one sign, and whether their keepers have the same signs.
  let haveOneSign = true;
  let keepSigns = true;
  const close = (): void => {
    while (last > first && lines.getNumber(first) > 0 && lines.getNumber(last) === 0 && isBlank(lines.getId(last)))
      last--;
    if (first >= 0 && isWorthMarking(lines, first, last)) ranges.push({ first, last });
    first = -1;
  };
  // The first line of an edit's answer reports the outcome.
  for (let line = kind === 'echo' ? 1 : 0; line < lines.count; line++) {
    const root = index.findRemaining(base + line);
    if (root !== base + line) {
      // A marker keeps only the first sign of a diff's run, unless the kept lines show all signs.
      const hasSign = index.getSignAt(root) === lines.getSign(line);
      const isSameSign = first >= 0 && lines.getSign(line) === lines.getSign(first);
      if (first >= 0 && !(haveOneSign && isSameSign) && !(keepSigns && hasSign)) close();
      if (first < 0) {
        first = line;
        haveOneSign = keepSigns = true;
      }
      haveOneSign &&= lines.getSign(line) === lines.getSign(first);
      keepSigns &&= hasSign;
      last = line;
    } else if (first >= 0 && !(isBlank(lines.getId(line)) && lines.getSign(line) === lines.getSign(line - 1))) {
      close();
    }
  }
  close();
  return ranges;
}

/** Ignores line numbers, so that a second run decides alike. */
function isWorthMarking(lines: Lines, first: number, last: number): boolean {
  let chars = 0;
  for (let line = first; line <= last && chars < MIN_RUN_CHARS; line++)
    chars += lines.getEnd(line) - lines.getBodyStart(line) + 1;
  return chars >= MIN_RUN_CHARS;
}

function splitIntoRuns(
  index: LineIndex,
  at: number,
  range: LineRange,
  kept: readonly (LineNumber | undefined)[],
): SourceRun[] {
  const source = index.sources[at] as LineSource;
  const runs: SourceRun[] = [];
  let run: { first: number; last: number; places: Map<LineSource, SourceRange> } | undefined;
  const close = (): void => {
    if (run) runs.push({ source, first: run.first, last: run.last, places: trimList([...run.places.values()]) });
  };
  kept.forEach((line, step) => {
    if (line === undefined) return;
    const keeper = index.getSourceAt(line);
    const there = index.getLineInSource(line);
    if (run && !canShareMarker(run.places, keeper, there, source)) {
      close();
      run = undefined;
    }
    run ??= { first: range.first + step, last: range.first + step, places: new Map() };
    run.last = range.first + step;
    const known = run.places.get(keeper);
    run.places.set(keeper, known ? extendPlace(known, there) : { source: keeper, first: there, last: there, count: 1 });
  });
  close();
  return runs;
}

/**
 * Undefined for blank lines that are kept nowhere.
 * @param stays whether a line may be named although it has a keeper
 */
function chooseKeptLines(
  index: LineIndex,
  at: number,
  { first, last }: LineRange,
  stays: (line: LineNumber) => boolean,
): (LineNumber | undefined)[] {
  const own = (index.bases[at] as number) + first;
  const kept: (LineNumber | undefined)[] = [];
  for (let step = 0; step <= last - first; step++) {
    const root = index.findRemaining(own + step);
    kept.push(root === own + step ? undefined : root);
  }
  // Prefers the text that keeps the neighboring lines: one place is easier to find than two.
  const prefer = (step: number, neighbour: LineNumber | undefined, offset: 1 | -1): void => {
    const line = kept[step];
    if (line === undefined || neighbour === undefined) return;
    const source = index.getSourceAt(neighbour);
    const candidate = neighbour + offset;
    if (index.getSourceAt(line) === source || candidate < 0 || candidate >= index.size) return;
    if (
      index.getSourceAt(candidate) !== source ||
      index.getIdAt(candidate) !== index.getIdAt(line) ||
      !stays(candidate)
    )
      return;
    // Only a diff keeps a line with its sign.
    const sign = index.getSignAt(own + step);
    if (sign === 0 || index.getSignAt(line) !== sign || index.getSignAt(candidate) === sign) kept[step] = candidate;
  };
  for (let step = 1; step < kept.length; step++) prefer(step, kept[step - 1], 1);
  for (let step = kept.length - 2; step >= 0; step--) prefer(step, kept[step + 1], -1);
  return kept;
}

function canShareMarker(
  places: ReadonlyMap<LineSource, SourceRange>,
  keeper: LineSource,
  line: number,
  source: LineSource,
): boolean {
  const known = places.get(keeper);
  if (known) {
    const { first, last, count } = extendPlace(known, line);
    return keeper.lines.getNumber(first) === 0 || last - first + 1 <= MAX_SPREAD_FACTOR * count;
  }
  return places.size < MAX_MARKER_PLACES && [...places.keys()].every((other) => areCompatible(other, keeper, source));
}

/**
 * Lines kept partly in another file are hard to follow, and the two sides of an edit must stay
 * distinguishable.
 */
const areCompatible = (a: LineSource, b: LineSource, source: LineSource): boolean =>
  areSameFile(a, source) === areSameFile(b, source) && isOtherSide(a, source) === isOtherSide(b, source);

const isOtherSide = (other: LineSource, source: LineSource): boolean =>
  other.exchange === source.exchange && source.content.type === 'toolParameters';

const extendPlace = ({ source, first, last, count }: SourceRange, line: number): SourceRange => ({
  source,
  first: Math.min(first, line),
  last: Math.max(last, line),
  count: count + 1,
});
