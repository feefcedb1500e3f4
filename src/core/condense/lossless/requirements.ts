import type { Content } from '../../messages/content';
import type { ContentType, Path, Place } from '../../messages/types';
import type { Cut } from '../edits';
import { entry, type Lines } from './lines';
import type { PrefixHint } from './prefixes';
import { linesOfContent } from './sources';

/** What was cut at a place. */
export interface PlaceCuts {
  readonly place: Place;
  readonly cuts: readonly Cut[];
}

/** What a strict cut promises of the rest of the view. */
export interface Requirement {
  readonly cut: Cut;
  readonly contentType: ContentType;
  /** Hash of a line that must stand; undefined for what can't be true any more. */
  readonly hash: number | undefined;
  readonly line: string;
}

const remembered = new WeakMap<readonly Cut[], readonly Requirement[]>();

/** What the strict cuts of a place promise. */
export function requiredBy(
  { place, cuts }: PlaceCuts,
  contents: readonly Content[],
  hints: ReadonlyMap<Path, PrefixHint>,
): readonly Requirement[] {
  const known = remembered.get(cuts);
  if (known) return known;
  const requirements = contents
    .filter(({ path }) => samePath(path, place.path))
    .flatMap((content) => requiredIn(content, linesOfContent(content, hints.get(content.path) ?? 'other'), cuts));
  remembered.set(cuts, requirements);
  return requirements;
}

const samePath = (a: Path, b: Path): boolean => a.length === b.length && a.every((key, at) => key === b[at]);

function requiredIn(content: Content, lines: Lines, cuts: readonly Cut[]): Requirement[] {
  const requirements: Requirement[] = [];
  let next = 0;
  let before: Cut | undefined;
  for (let line = 0; line < lines.count; line++) {
    const start = content.start + entry(lines.starts, line);
    const body = content.start + entry(lines.bodies, line);
    const end = content.start + entry(lines.ends, line);
    while ((cuts[next]?.end ?? Number.POSITIVE_INFINITY) <= start) next++;
    let cut = cuts[next];
    // A cut that ends before the line's own text took its number or its path and nothing else.
    if (cut && cut.reference === undefined && cut.start === start && cut.end <= body) {
      if (line === 0 || (before && !TELLS_NUMBERS.test(before.text))) {
        requirements.push({ cut, contentType: content.type, hash: undefined, line: '' });
      }
      cut = cuts[++next];
    }
    const isCut = cut !== undefined && cut.start < end && cut.end > body;
    before = isCut ? cut : undefined;
    if (!cut || !isCut || cut.recoverable) continue;
    const text = content.text.slice(body - content.start, end - content.start);
    if (text.trim() !== '') {
      requirements.push({ cut, contentType: content.type, hash: entry(lines.hashes, line), line: text });
    }
  }
  return requirements;
}

/** A marker that says which lines it stands for. */
const TELLS_NUMBERS = /: lines [\d-]+/;
