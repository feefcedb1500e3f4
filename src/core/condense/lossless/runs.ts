import { keptList } from '../../keptList';
import { isSamePath } from '../../messages/path';
import type { LineId } from '../lines/lineIds';
import type { LineIndex, LineNumber } from './lineIndex';
import type { Lines } from '../lines/lines';
import { isOfSameFile, type Source } from './sources';

/** Lines of one text that stand for lines of another. */
export interface KeptPlace {
  readonly source: Source;
  readonly first: number;
  readonly last: number;
  /** How many of the lines from first to last are meant. */
  readonly count: number;
}

/** A run of lines in one text and where each of them is kept; blank ones between them may be kept nowhere. */
export interface KeptRun {
  readonly source: Source;
  readonly first: number;
  readonly last: number;
  /** In the order in which the run first needs them. */
  readonly places: readonly KeptPlace[];
}

/** The shortest text that a marker is made for. */
const MIN_CHARS = 60;

/** How many places a marker names at most: more would be hard to follow. A run that is kept in more places is split. */
const MAX_PLACES = 2;

/**
 * How much longer than the run the range may be that a marker names: in a longer one the lines would be hard to find. Of a text
 * without numbers it names none.
 */
const MAX_SPREAD = 2;

interface LineRange {
  readonly first: number;
  readonly last: number;
}

/** A source with lines that stand elsewhere. */
export interface RunsOfSource {
  readonly source: Source;
  /** The longest runs of lines that stand elsewhere, as far as a marker is worth it; blank lines between them go with them. */
  readonly runs: readonly KeptRun[];
  /** Set once all was tried and nothing came of it. */
  isSettled: boolean;
}

/** Whether a run saves more than its marker costs. */
export type IsWorth = (run: KeptRun) => boolean;

/** What is known of a line that stands elsewhere: that it may go, or that it goes if only such lines stay as can't go. */
const MAY_GO = 1;
const GOES = 2;

/** One way to take the runs of a source. */
interface Choice {
  /** Those worth a marker, by range. */
  readonly byRange: readonly (readonly KeptRun[])[];
  /** Lines that a marker names although they may go themselves. */
  readonly reliesOn: readonly LineNumber[];
}

/** Both ways to take the runs of a source. */
interface Choices {
  /** Markers name only lines that can't go. */
  readonly safe: Choice;
  /** Markers name also lines that may go, but don't in the safe choice: a range may have one place in place of two. */
  readonly wide: Choice;
  /** Whether there is a difference. */
  readonly mayBeWide: boolean;
  /** The sources whose lines stand for them. */
  readonly keepers: readonly Source[];
}

/** The runs of an index, as it changes. */
export class RunsOfIndex {
  /** By source. */
  private readonly choices: (Choices | undefined)[] = [];
  private readonly known: (RunsOfSource | undefined)[] = [];
  private readonly ranges: (readonly LineRange[] | undefined)[] = [];
  /** A source that comes back may have the same runs. */
  private readonly bySource = new WeakMap<Source, RunsOfSource>();
  /** By line: {@link MAY_GO} or {@link GOES}; 0 where it can't go. */
  private goes = new Uint8Array(1_024);

  constructor(
    private readonly index: LineIndex,
    private readonly isBlank: (id: LineId) => boolean,
  ) {}

  /** Brings the runs to what the index now holds: those of sources that changed, and those that these stand for. */
  update(isWorth: IsWorth): void {
    const { index, choices } = this;
    const { touched, removed } = index.takeChanges();
    if (touched.size === 0 && removed.size === 0) return;
    choices.length = Math.min(choices.length, index.sources.length);
    this.grow(index.size);
    for (const at of touched) {
      this.findRanges(at);
    }
    const changed = new Set([...removed, ...[...touched].map((at) => index.sources[at])]);
    const isStale = (at: number): boolean =>
      touched.has(at) || choices[at]?.keepers.some((keeper) => changed.has(keeper)) === true;
    const stale = index.sources.flatMap((_, at) => (isStale(at) ? [at] : []));
    for (const at of stale) {
      choices[at] = this.safeChoice(at, isWorth);
      changed.add(index.sources[at]);
    }
    for (let at = 0; at < index.sources.length; at++) {
      const choice = choices[at];
      if (!choice?.mayBeWide || !isStale(at)) continue;
      choices[at] = { ...choice, wide: this.wideChoice(at, isWorth) };
    }
    this.choose();
  }

  /**
   * The sources of which something is still to be tried, with all others in the same strings: the cuts of one string
   * are made together.
   */
  unsettled(): readonly RunsOfSource[] {
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
    this.goes.fill(0, base, base + (index.sources[at] as Source).lines.count);
    this.ranges[at] = index.isLinked(at) ? keptList(linkedRanges(index, at, this.isBlank)) : undefined;
    this.mark(at);
  }

  /** Notes which lines of a source may go, and which do. */
  private mark(at: number, runs: readonly KeptRun[] = []): void {
    const base = this.index.bases[at] as number;
    for (const { first, last } of this.ranges[at] ?? []) this.goes.fill(MAY_GO, base + first, base + last + 1);
    for (const { first, last } of runs) this.goes.fill(GOES, base + first, base + last + 1);
  }

  private safeChoice(at: number, isWorth: IsWorth): Choices | undefined {
    const ranges = this.ranges[at];
    if (!ranges || ranges.length === 0) return undefined;
    const keepers = new Set<Source>();
    let mayBeWide = false;
    const byRange = ranges.map((range) => {
      const kept = keptLines(this.index, at, range, (line) => {
        const stays = this.goes[line] === 0;
        mayBeWide ||= !stays;
        return stays;
      });
      for (const line of kept) if (line !== undefined) keepers.add(this.index.sourceAt(line));
      return keptList(runsIn(this.index, at, range, kept).filter(isWorth));
    });
    this.mark(at, byRange.flat());
    const safe = { byRange, reliesOn: [] };
    return { safe, wide: safe, mayBeWide, keepers: keptList([...keepers]) };
  }

  private wideChoice(at: number, isWorth: IsWorth): Choice {
    const { index, goes } = this;
    const reliesOn: LineNumber[] = [];
    const byRange = (this.ranges[at] ?? []).map((range) => {
      const kept = keptLines(index, at, range, (line) => goes[line] !== GOES);
      const runs = keptList(runsIn(index, at, range, kept).filter(isWorth));
      for (const { first, last } of runs) {
        for (const line of kept.slice(first - range.first, last - range.first + 1))
          if (line !== undefined && goes[line] === MAY_GO) reliesOn.push(line);
      }
      return runs;
    });
    return { byRange, reliesOn: keptList(reliesOn) };
  }

  /** Takes the wide choice of each range, but where it would take out a line that another marker then names. */
  private choose(): void {
    const { index, choices, known, goes } = this;
    const named = new Set<LineNumber>();
    for (const choice of choices) for (const line of choice?.wide.reliesOn ?? []) named.add(line);
    const takesNamed = (base: number, { first, last }: KeptRun): boolean => {
      for (let line = base + first; line <= base + last; line++)
        if (goes[line] === MAY_GO && named.has(line)) return true;
      return false;
    };
    known.length = index.sources.length;
    index.sources.forEach((source, at) => {
      const choice = choices[at];
      const base = index.bases[at] as number;
      known[at] =
        choice &&
        this.runsOf(
          source,
          keptList(
            choice.wide.byRange.flatMap((runs, range) =>
              choice.wide !== choice.safe && runs.some((run) => takesNamed(base, run))
                ? (choice.safe.byRange[range] ?? [])
                : runs,
            ),
          ),
        );
    });
  }

  private runsOf(source: Source, runs: readonly KeptRun[]): RunsOfSource {
    const before = this.bySource.get(source);
    if (before && isSameList(before.runs, runs, isSameRun)) return before;
    const made = { source, runs, isSettled: false };
    this.bySource.set(source, made);
    return made;
  }

  private grow(size: number): void {
    if (size <= this.goes.length) return;
    const goes = new Uint8Array(2 * size);
    goes.set(this.goes);
    this.goes = goes;
  }
}

const isSameList = <T>(a: readonly T[], b: readonly T[], isSame: (a: T, b: T) => boolean): boolean =>
  a.length === b.length && a.every((one, at) => isSame(one, b[at] as T));

const isSameRun = (a: KeptRun, b: KeptRun): boolean =>
  a.first === b.first && a.last === b.last && isSameList(a.places, b.places, isSamePlace);

const isSamePlace = (a: KeptPlace, b: KeptPlace): boolean =>
  a.source === b.source && a.first === b.first && a.last === b.last && a.count === b.count;

const isOneString = (a: Source | undefined, b: Source): boolean =>
  a?.content.message === b.content.message && isSamePath(a.content.path, b.content.path);

/** Where a source has nothing but lines that stand elsewhere, and enough of them for a marker. */
function linkedRanges(index: LineIndex, at: number, isBlank: (id: LineId) => boolean): LineRange[] {
  const { lines, kind } = index.sources[at] as Source;
  const base = index.bases[at] as number;
  const ranges: LineRange[] = [];
  let first = -1;
  let last = -1;
  // Whether all lines from the first on have one sign, and whether each is kept in a diff under its own.
  let haveOneSign = true;
  let keepSigns = true;
  const close = (): void => {
    // A blank line behind the last numbered one does not belong to the file.
    while (last > first && lines.number(first) > 0 && lines.number(last) === 0 && isBlank(lines.id(last))) last--;
    if (first >= 0 && hasEnough(lines, first, last)) ranges.push({ first, last });
    first = -1;
  };
  // The first line of an echo says how it went.
  for (let line = kind === 'echo' ? 1 : 0; line < lines.count; line++) {
    const root = index.standingFor(base + line);
    if (root !== base + line) {
      // A diff's lines are told apart by their signs: of a run only the first sign stays, unless another diff shows them all.
      const hasSign = index.signAt(root) === lines.sign(line);
      const isSameSign = first >= 0 && lines.sign(line) === lines.sign(first);
      if (first >= 0 && !(haveOneSign && isSameSign) && !(keepSigns && hasSign)) close();
      if (first < 0) {
        first = line;
        haveOneSign = keepSigns = true;
      }
      haveOneSign &&= lines.sign(line) === lines.sign(first);
      keepSigns &&= hasSign;
      last = line;
    } else if (first >= 0 && !(isBlank(lines.id(line)) && lines.sign(line) === lines.sign(line - 1))) {
      close();
    }
  }
  close();
  return ranges;
}

/**
 * Whether it is worth a marker, also once the numbers in front of the lines have gone: a second run must see the same.
 */
function hasEnough(lines: Lines, first: number, last: number): boolean {
  let chars = 0;
  for (let line = first; line <= last && chars < MIN_CHARS; line++) chars += lines.end(line) - lines.body(line) + 1;
  return chars >= MIN_CHARS;
}

/** The runs that one marker each can tell of. */
function runsIn(index: LineIndex, at: number, range: LineRange, kept: readonly (LineNumber | undefined)[]): KeptRun[] {
  const source = index.sources[at] as Source;
  const runs: KeptRun[] = [];
  let run: { first: number; last: number; places: Map<Source, KeptPlace> } | undefined;
  const close = (): void => {
    if (run) runs.push({ source, first: run.first, last: run.last, places: keptList([...run.places.values()]) });
  };
  kept.forEach((line, step) => {
    if (line === undefined) return;
    const keeper = index.sourceAt(line);
    const there = index.lineInSource(line);
    if (run && !fits(run.places, keeper, there, source)) {
      close();
      run = undefined;
    }
    run ??= { first: range.first + step, last: range.first + step, places: new Map() };
    run.last = range.first + step;
    const known = run.places.get(keeper);
    run.places.set(keeper, known ? widened(known, there) : { source: keeper, first: there, last: there, count: 1 });
  });
  close();
  return runs;
}

/**
 * For each line of a range the one that is named for it; undefined for a blank line that is kept nowhere.
 * @param stays whether a line may be named that another stands for.
 */
function keptLines(
  index: LineIndex,
  at: number,
  { first, last }: LineRange,
  stays: (line: LineNumber) => boolean,
): (LineNumber | undefined)[] {
  const own = (index.bases[at] as number) + first;
  const kept: (LineNumber | undefined)[] = [];
  for (let step = 0; step <= last - first; step++) {
    const root = index.standingFor(own + step);
    kept.push(root === own + step ? undefined : root);
  }
  // The text in which the lines before or behind are kept may hold this one, too: one place is easier to find than two.
  const prefer = (step: number, neighbour: LineNumber | undefined, offset: 1 | -1): void => {
    const line = kept[step];
    if (line === undefined || neighbour === undefined) return;
    const source = index.sourceAt(neighbour);
    const candidate = neighbour + offset;
    if (index.sourceAt(line) === source || candidate < 0 || candidate >= index.size) return;
    if (index.sourceAt(candidate) !== source || index.idAt(candidate) !== index.idAt(line) || !stays(candidate)) return;
    // Where a diff keeps a line under its sign, no other text does.
    const sign = index.signAt(own + step);
    if (sign === 0 || index.signAt(line) !== sign || index.signAt(candidate) === sign) kept[step] = candidate;
  };
  for (let step = 1; step < kept.length; step++) prefer(step, kept[step - 1], 1);
  for (let step = kept.length - 2; step >= 0; step--) prefer(step, kept[step + 1], -1);
  return kept;
}

/** Whether one marker can name this line, too. */
function fits(places: ReadonlyMap<Source, KeptPlace>, keeper: Source, line: number, source: Source): boolean {
  const known = places.get(keeper);
  if (known) {
    const { first, last, count } = widened(known, line);
    return keeper.lines.number(first) === 0 || last - first + 1 <= MAX_SPREAD * count;
  }
  return places.size < MAX_PLACES && [...places.keys()].every((other) => goTogether(other, keeper, source));
}

/**
 * Lines kept partly here and partly in another file would be hard to follow; and how the sides of an edit differ must
 * stay visible.
 */
const goTogether = (a: Source, b: Source, source: Source): boolean =>
  isOfSameFile(a, source) === isOfSameFile(b, source) && isOtherSide(a, source) === isOtherSide(b, source);

const isOtherSide = (other: Source, source: Source): boolean =>
  other.exchange === source.exchange && source.content.type === 'toolParameters';

const widened = ({ source, first, last, count }: KeptPlace, line: number): KeptPlace => ({
  source,
  first: Math.min(first, line),
  last: Math.max(last, line),
  count: count + 1,
});
