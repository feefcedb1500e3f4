import { entry, isTelling, NOTHING, sameSlice } from './lines';
import { RANK, type Source, type SourceKind } from './sources';

/** Which of several equal copies stays: the latest (older zones are condensed further) or the first (prompt cache). */
export type Keep = 'latest' | 'first';

/** How many places of a line are looked at, the newest first. */
const MAX_CANDIDATES = 6;

/** A run of lines counts as the same from this many characters on; less is found everywhere by chance. */
const MIN_RUN_CHARS = 40;

const NONE = -1;

/** A line in the index: all sources' lines numbered through. */
export type LineNumber = number;

/**
 * Which lines stand where. Sources are added in the order of the conversation; a run of lines that stood before is linked:
 * of each two equal lines one is the keeper of the other. Linear in the number of lines, and a source costs its own lines.
 */
export class LineIndex {
  readonly sources: Source[] = [];
  /** Where each source's lines begin in the index. */
  readonly bases: number[] = [];
  private size = 0;
  private keeper = new Int32Array(1024);
  private sourceOf = new Int32Array(1024);
  /** The place before with the same hash. */
  private previous = new Int32Array(1024);
  private readonly newest = new Map<number, LineNumber>();

  /** @param cuttable the kinds of texts in which lines may be left out. */
  constructor(
    private readonly keep: Keep,
    private readonly cuttable: ReadonlySet<SourceKind>,
  ) {}

  /** Adds the next source of the conversation. */
  add(source: Source): void {
    const base = this.size;
    this.grow(base + source.lines.count);
    const at = this.sources.push(source) - 1;
    this.bases.push(base);
    this.keeper.fill(NONE, base, this.size);
    this.sourceOf.fill(at, base, this.size);
    this.match(source, base);
    this.enter(source, base);
  }

  /** The line that stands for this one; itself where it is the one that stays. */
  standingFor(line: LineNumber): LineNumber {
    let root = line;
    for (let next = entry(this.keeper, root); next !== NONE; next = entry(this.keeper, root)) root = next;
    // Path compression keeps chains short, however often a file was read.
    let at = line;
    while (at !== root) {
      const next = entry(this.keeper, at);
      this.keeper[at] = root;
      at = next;
    }
    return root;
  }

  /** The source of a line. */
  sourceAt(line: LineNumber): Source {
    return this.sources[entry(this.sourceOf, line)] as Source;
  }

  /** The line's place in its source. */
  lineInSource(line: LineNumber): number {
    return line - entry(this.bases, entry(this.sourceOf, line));
  }

  private match(source: Source, base: number): void {
    const { lines } = source;
    let from = 0;
    for (let line = 0; line < lines.count; line++) {
      const found = this.isAnchor(source, line) ? this.bestRun(source, base, line, from) : undefined;
      if (!found) continue;
      for (let step = 0; step < found.length; step++) this.link(found.old + step, base + found.line + step);
      from = found.line + found.length;
      line = from - 1;
    }
  }

  private isAnchor({ content, lines }: Source, line: number): boolean {
    const hash = entry(lines.hashes, line);
    return (
      hash !== NOTHING &&
      this.newest.has(hash) &&
      isTelling(content.text, entry(lines.bodies, line), entry(lines.ends, line))
    );
  }

  private bestRun(source: Source, base: number, line: number, from: number): Run | undefined {
    let best: Run | undefined;
    const hash = entry(source.lines.hashes, line);
    let newer = NONE;
    let candidate = this.newest.get(hash) ?? NONE;
    for (let looked = 0; candidate !== NONE && looked < MAX_CANDIDATES;) {
      const older = entry(this.previous, candidate);
      if (entry(this.keeper, candidate) !== NONE) {
        // It is kept elsewhere under the same hash: no need to come by here again.
        if (newer === NONE) this.newest.set(hash, older);
        else this.previous[newer] = older;
      } else {
        looked++;
        newer = candidate;
        const run = this.extend(source, line, candidate, from);
        if (run && (!best || run.chars > best.chars)) best = run;
        if (best && best.line + best.length === source.lines.count) break;
      }
      candidate = older;
    }
    return best && best.chars >= MIN_RUN_CHARS && base > 0 ? best : undefined;
  }

  /** The longest run of equal lines around a pair of equal ones. */
  private extend(source: Source, line: number, candidate: LineNumber, from: number): Run | undefined {
    const other = this.sourceAt(candidate);
    const at = this.lineInSource(candidate);
    let chars = 0;
    let end = 0;
    while (line + end < source.lines.count && at + end < other.lines.count) {
      if (!sameLine(source, line + end, other, at + end)) break;
      chars += lengthOf(source, line + end);
      end++;
    }
    if (end === 0) return undefined;
    let back = 0;
    while (line - back > from && at - back > 0 && sameLine(source, line - back - 1, other, at - back - 1)) {
      back++;
      chars += lengthOf(source, line - back);
    }
    return { line: line - back, old: candidate - back, length: back + end, chars };
  }

  private link(old: LineNumber, made: LineNumber): void {
    const root = this.standingFor(old);
    const source = this.sourceAt(made);
    const other = this.sourceAt(root);
    // A text never refers to itself.
    if (other === source) return;
    const difference = RANK[source.kind] - RANK[other.kind];
    const newerStays = difference === 0 ? this.keep === 'latest' : difference > 0;
    const canGo = (kind: SourceKind): boolean => this.cuttable.has(kind);
    if (newerStays ? canGo(other.kind) : !canGo(source.kind) && canGo(other.kind)) this.keeper[root] = made;
    else if (canGo(source.kind)) this.keeper[made] = root;
  }

  private enter({ content, lines }: Source, base: number): void {
    for (let line = 0; line < lines.count; line++) {
      const hash = entry(lines.hashes, line);
      if (
        this.keeper[base + line] !== NONE ||
        hash === NOTHING ||
        !isTelling(content.text, entry(lines.bodies, line), entry(lines.ends, line))
      )
        continue;
      this.previous[base + line] = this.newest.get(hash) ?? NONE;
      this.newest.set(hash, base + line);
    }
  }

  private grow(size: number): void {
    this.size = size;
    if (size <= this.keeper.length) return;
    const larger = (old: Int32Array): Int32Array<ArrayBuffer> => {
      const made = new Int32Array(Math.max(size, 2 * old.length));
      made.set(old);
      return made;
    };
    this.keeper = larger(this.keeper);
    this.sourceOf = larger(this.sourceOf);
    this.previous = larger(this.previous);
  }
}

interface Run {
  /** First line in the new source. */
  readonly line: number;
  /** First line in the index. */
  readonly old: LineNumber;
  readonly length: number;
  readonly chars: number;
}

const lengthOf = ({ lines }: Source, line: number): number => entry(lines.ends, line) - entry(lines.bodies, line);

function sameLine(a: Source, lineA: number, b: Source, lineB: number): boolean {
  const hash = entry(a.lines.hashes, lineA);
  if (hash === NOTHING || hash !== b.lines.hashes[lineB]) return false;
  const length = lengthOf(a, lineA);
  return (
    length === lengthOf(b, lineB) &&
    sameSlice(a.content.text, entry(a.lines.bodies, lineA), b.content.text, entry(b.lines.bodies, lineB), length)
  );
}
