import type { LineId } from './lineIds';
import type { LineIndex, LineNumber } from './lineIndex';
import type { Lines } from './lines';
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
const MIN_CHARS = 120;

/** A marker that names more places than these is a riddle; a run that needs more is two. */
const MAX_PLACES = 2;

/** Lines that stand within a range of more than so many times their number would have to be looked for. */
const MAX_SPREAD = 2;

interface LineRange {
  readonly first: number;
  readonly last: number;
}

/** The longest runs of lines that stand elsewhere, of all sources that have one; blank lines between them go with them. */
export function* runsOf(
  index: LineIndex,
  isBlank: (id: LineId) => boolean,
): Generator<{ readonly source: Source; readonly runs: readonly KeptRun[] }> {
  const ranges = new Map<number, readonly LineRange[]>();
  const goes = new Uint8Array(index.size);
  for (let at = 0; at < index.sources.length; at++) {
    if (!index.isLinked(at)) continue;
    const own = linkedRanges(index, at, isBlank);
    ranges.set(at, own);
    const base = index.bases[at] as number;
    for (const { first, last } of own) goes.fill(1, base + first, base + last + 1);
  }
  for (const [at, own] of ranges) {
    const source = index.sources[at] as Source;
    yield { source, runs: own.flatMap((range) => runsIn(index, at, range, goes)) };
  }
}

/** Where a source has nothing but lines that stand elsewhere, and enough of them for a marker. */
function linkedRanges(index: LineIndex, at: number, isBlank: (id: LineId) => boolean): LineRange[] {
  const { lines, kind } = index.sources[at] as Source;
  const base = index.bases[at] as number;
  const ranges: LineRange[] = [];
  let first = -1;
  let last = -1;
  const close = (): void => {
    // A blank line behind the last numbered one is none of the file.
    while (last > first && lines.number(first) > 0 && lines.number(last) === 0 && isBlank(lines.id(last))) last--;
    if (first >= 0 && hasEnough(lines, first, last)) ranges.push({ first, last });
    first = -1;
  };
  // The first line of an echo says how it went.
  for (let line = kind === 'echo' ? 1 : 0; line < lines.count; line++) {
    if (index.standingFor(base + line) !== base + line) {
      if (first < 0) first = line;
      last = line;
    } else if (first >= 0 && !isBlank(lines.id(line))) {
      close();
    }
  }
  close();
  return ranges;
}

/** Whether it is worth a marker, also once the numbers in front of the lines have gone: a second run must see the same. */
function hasEnough(lines: Lines, first: number, last: number): boolean {
  let chars = 0;
  for (let line = first; line <= last && chars < MIN_CHARS; line++) chars += lines.end(line) - lines.body(line) + 1;
  return chars >= MIN_CHARS;
}

/** The runs that one marker each can tell of. */
function runsIn(index: LineIndex, at: number, range: LineRange, goes: Uint8Array): KeptRun[] {
  const source = index.sources[at] as Source;
  const kept = keptLines(index, at, range, goes);
  const runs: KeptRun[] = [];
  let run: { first: number; last: number; places: Map<Source, KeptPlace> } | undefined;
  const close = (): void => {
    if (run) runs.push({ source, first: run.first, last: run.last, places: [...run.places.values()] });
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

/** For each line of a range the one that is named for it; undefined for a blank line that is kept nowhere. */
function keptLines(
  index: LineIndex,
  at: number,
  { first, last }: LineRange,
  goes: Uint8Array,
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
    if (index.sourceAt(candidate) === source && index.idAt(candidate) === index.idAt(line) && goes[candidate] === 0)
      kept[step] = candidate;
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
    return last - first + 1 <= MAX_SPREAD * count;
  }
  return places.size < MAX_PLACES && [...places.keys()].every((other) => goTogether(other, keeper, source));
}

/** Some lines here and some in another file are a riddle; and what differs between an edit's sides is what it does. */
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
