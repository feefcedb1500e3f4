import { contentsOf, type Content } from '../../messages/content';
import { DEFAULT_TOOLS, type ToolTable } from '../../messages/tools';
import type { ApiMessage, ContentType, Path, Place } from '../../messages/types';
import type { Draft } from '../draft';
import { placeKey, type Cut } from '../edits';
import type { DraftStep } from '../steps';
import { NOTHING, type Lines } from './lines';
import { hintsOf, linesOfContent } from './sources';

/** A strict cut whose text no longer stands elsewhere in the view. */
export interface BrokenCut {
  readonly place: Place;
  readonly cut: Cut;
  readonly contentType: ContentType;
  /** The first line that is missed. */
  readonly line: string;
}

/** What was cut at a place. */
export interface PlaceCuts {
  readonly place: Place;
  readonly cuts: readonly Cut[];
}

/**
 * Proves that every line which a strict cut left out stands elsewhere in the view, word for word, and that every line
 * number which was left out follows from the line before.
 * @returns the cuts of which that is not true.
 */
export function brokenCuts(
  original: readonly ApiMessage[],
  view: readonly ApiMessage[],
  shown: Iterable<PlaceCuts>,
  tools: ToolTable = DEFAULT_TOOLS,
): BrokenCut[] {
  const places = [...shown].filter(({ cuts }) => cuts.some((cut) => !cut.recoverable));
  if (places.length === 0) return [];
  const standing = standingLines(view, tools);
  const hints = hintsOf(original, tools);
  return places.flatMap(({ place, cuts }) => {
    const message = original[place.message];
    const contents = message ? contentsOf(message) : [];
    return contents
      .filter((content) => samePath(content.path, place.path))
      .flatMap((content) => {
        const lines = linesOfContent(content, hints.get(content.path) ?? 'other');
        return brokenIn({ place, content, lines, cuts, cutOf: cutsOfLines(content, lines, cuts) }, standing);
      });
  });
}

/** The lines that a model can read in a view, by hash. */
function standingLines(view: readonly ApiMessage[], tools: ToolTable): Set<number> {
  const hints = hintsOf(view, tools);
  const standing = new Set<number>();
  for (const message of view) {
    for (const content of contentsOf(message)) {
      for (const hash of linesOfContent(content, hints.get(content.path) ?? 'other').hashes) standing.add(hash);
    }
  }
  standing.delete(NOTHING);
  return standing;
}

const samePath = (a: Path, b: Path): boolean => a.length === b.length && a.every((key, at) => key === b[at]);

/**
 * Restores what strict cuts left out where it stands nowhere else any more, because a later operation took the kept copy.
 * @returns how many cuts were taken back.
 */
export function restoreBroken(draft: Draft, tools: ToolTable = DEFAULT_TOOLS): number {
  const broken = brokenCuts(draft.original, draft.messages, draft.shown, tools);
  const byPlace = Map.groupBy(broken, ({ place }) => placeKey(place));
  for (const cuts of byPlace.values()) {
    const [first] = cuts;
    if (!first) continue;
    draft.restore(RESTORED, first.place, new Set(cuts.map(({ cut }) => cut)), {
      contentType: first.contentType,
      reason: 'the copy that a reference pointed at was taken out',
      strict: true,
    });
  }
  return broken.length;
}

/** What reports call it. */
export const RESTORED = 'Restored references';

interface CutContent {
  readonly place: Place;
  readonly content: Content;
  readonly lines: Lines;
  readonly cuts: readonly Cut[];
  /** For each line the cut that touches its text. */
  readonly cutOf: readonly (Cut | undefined)[];
}

function cutsOfLines(content: Content, lines: Lines, cuts: readonly Cut[]): (Cut | undefined)[] {
  const cutOf: (Cut | undefined)[] = [];
  let next = 0;
  for (let line = 0; line < lines.count; line++) {
    const start = content.start + (lines.bodies[line] ?? 0);
    const end = content.start + (lines.ends[line] ?? 0);
    while ((cuts[next]?.end ?? Number.POSITIVE_INFINITY) <= start) next++;
    const cut = cuts[next];
    cutOf.push(cut !== undefined && cut.start < end ? cut : undefined);
  }
  return cutOf;
}

function brokenIn(at: CutContent, standing: ReadonlySet<number>): BrokenCut[] {
  const { place, content, lines, cuts, cutOf } = at;
  const broken = new Map<Cut, string>();
  for (let line = 0; line < lines.count; line++) {
    const cut = cutOf[line];
    const text = content.text.slice(lines.bodies[line], lines.ends[line]);
    if (cut && !cut.recoverable && text.trim() !== '' && !standing.has(lines.hashes[line] ?? NOTHING)) {
      if (!broken.has(cut)) broken.set(cut, text);
    }
  }
  for (const cut of cuts) if (cut.reference === undefined && isOrphanedPrefix(at, cut)) broken.set(cut, '');
  return [...broken].map(([cut, line]) => ({ place, cut, contentType: content.type, line }));
}

/** Whether a cut took a line's number, and neither the line before nor the marker that stands for it tells it any more. */
function isOrphanedPrefix({ content, lines, cutOf }: CutContent, cut: Cut): boolean {
  const line = lineAt(lines, cut.start - content.start);
  if (line === undefined || content.start + (lines.bodies[line] ?? 0) < cut.end) return false;
  const before = line === 0 ? undefined : cutOf[line - 1];
  return line === 0 || (before !== undefined && !/: lines [\d-]+/.test(before.text));
}

/** The line that begins at an offset. */
function lineAt(lines: Lines, offset: number): number | undefined {
  let low = 0;
  let high = lines.count - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const start = lines.starts[middle] ?? 0;
    if (start === offset) return middle;
    if (start < offset) low = middle + 1;
    else high = middle - 1;
  }
  return undefined;
}

/** A step that is followed by the check: what it broke is restored, and it runs once more on that. */
export function keepingReferences(step: DraftStep, tools?: ToolTable): DraftStep {
  return {
    name: step.name,
    async run(draft, pace) {
      for (let round = 0; round < MAX_ROUNDS; round++) {
        const { tokens } = draft;
        await step.run(draft, pace);
        if (draft.tokens === tokens || restoreBroken(draft, tools) === 0) return;
        await pace.breathe();
      }
    },
  };
}

const MAX_ROUNDS = 2;
