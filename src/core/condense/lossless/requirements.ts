import type { Content } from '../../messages/content';
import { isSamePath } from '../../messages/path';
import type { ContentType, Place } from '../../messages/types';
import type { Cut } from '../edits/edits';
import type { KnownLines } from './knownLines';
import type { Lines } from './lines';

/** What was cut at a place. */
export interface PlaceCuts {
  readonly place: Place;
  readonly cuts: readonly Cut[];
}

/** What a strict cut promises of the rest of the view: each of these lines stands in it, but for blank ones. */
export interface Requirement {
  readonly cut: Cut;
  readonly contentType: ContentType;
  /** Lines of the original; undefined for what can't be true any more. */
  readonly lines: { readonly content: Content; readonly of: Lines; readonly first: number; last: number } | undefined;
}

/** What the strict cuts of a place promise. */
export const requiredBy = (
  { place, cuts }: PlaceCuts,
  contents: readonly Content[],
  known: KnownLines,
): readonly Requirement[] =>
  contents
    .filter(({ path }) => isSamePath(path, place.path))
    .flatMap((content) => requiredIn(content, known.linesOf(content), cuts));

function requiredIn(content: Content, lines: Lines, cuts: readonly Cut[]): Requirement[] {
  const requirements: Requirement[] = [];
  let next = 0;
  let before: Cut | undefined;
  for (let line = 0; line < lines.count; line++) {
    const start = content.start + lines.start(line);
    const body = content.start + lines.body(line);
    const end = content.start + lines.end(line);
    while ((cuts[next]?.end ?? Number.POSITIVE_INFINITY) <= start) next++;
    let cut = cuts[next];
    // A cut that ends before the line's own text took its number or its path and nothing else.
    if (cut && cut.reference === undefined && cut.start === start && cut.end <= body) {
      if (line === 0 || (before && !TELLS_NUMBERS.test(before.text))) {
        requirements.push({ cut, contentType: content.type, lines: undefined });
      }
      cut = cuts[++next];
    }
    const isCut = cut !== undefined && cut.start < end && cut.end > body;
    before = isCut ? cut : undefined;
    if (!cut || !isCut || cut.recoverable) continue;
    const last = requirements.at(-1);
    if (last?.cut === cut && last.lines) last.lines.last = line;
    else requirements.push({ cut, contentType: content.type, lines: { content, of: lines, first: line, last: line } });
  }
  return requirements;
}

/** A marker that says which lines it stands for. */
const TELLS_NUMBERS = /: lines [\d-]+/;
