/** Finds the parts of a prefix that a condensed view still holds, and those that can be recalled from it. */
import { lastByPlace, placeKey, type CutEdit, type Edit, type SummaryEdit } from '../edits/edits';
import { findMarkers } from '../../messages/markers';
import { contentsOf } from '../../messages/content';
import { toolExchanges } from '../../messages/exchanges';
import { valueAt } from '../../messages/path';
import { DEFAULT_TOOLS, pathOf } from '../../messages/tools';
import type { ApiMessage, Path, Place } from '../../messages/types';
import { linesOf, namesOf, type QuotedLine } from './neededLater';

/** A condensed prefix. */
export interface CondensedPrefix {
  readonly view: readonly ApiMessage[];
  readonly edits: readonly Edit[];
  /** For each message of the view its index in the prefix; left out where none was left out. */
  readonly origins?: readonly number[];
}

export type Kept = 'verbatim' | 'recallable' | 'lost';

/** A string of the prefix that condensation may have changed. */
interface Block {
  readonly files: ReadonlySet<string>;
  readonly lines: ReadonlySet<string>;
  readonly viewLines: ReadonlySet<string>;
  readonly cuts: readonly CutText[];
}

interface CutText {
  readonly text: string;
  readonly lines: ReadonlySet<string>;
  /** The edit says that all of it stands elsewhere in the view. */
  readonly isStrict: boolean;
  /** A marker in the view names it. */
  readonly isReferenced: boolean;
}

/** Tells of a line, a name or a path of the prefix what became of it. */
export class KeptParts {
  private readonly blocks: readonly Block[];
  private readonly viewText: string;
  private readonly viewNames: ReadonlySet<string>;
  private readonly recallableText: string;
  private readonly recallableNames: ReadonlySet<string>;

  constructor(prefix: readonly ApiMessage[], condensed: CondensedPrefix) {
    this.blocks = blocksOf(prefix, condensed);
    this.viewText = condensed.view.flatMap((message) => contentsOf(message).map(({ text }) => text)).join('\n');
    this.viewNames = namesOf(this.viewText);
    this.recallableText = this.blocks
      .flatMap(({ cuts }) => cuts.filter(({ isReferenced }) => isReferenced).map(({ text }) => text))
      .join('\n');
    this.recallableNames = namesOf(this.recallableText);
  }

  /**
   * A line counts only in the block that showed it, or in a copy to which that block's cut refers; that the same line
   * stands in another file by chance doesn't help who needs this one.
   */
  line({ line, file }: QuotedLine): Kept {
    const showing = this.blocks.filter(({ lines }) => lines.has(line));
    const ofFile = file === undefined ? [] : showing.filter(({ files }) => files.has(file));
    const own = ofFile.length > 0 ? ofFile : showing;
    if (own.some(({ viewLines }) => viewLines.has(line))) return 'verbatim';
    const cuts = own.flatMap((block) => block.cuts.filter((cut) => cut.lines.has(line)));
    const standsElsewhere = this.blocks.some(({ viewLines }) => viewLines.has(line));
    if (standsElsewhere && cuts.some(({ isStrict }) => isStrict)) return 'verbatim';
    return cuts.some(({ isReferenced }) => isReferenced) ? 'recallable' : 'lost';
  }

  name(name: string): Kept {
    if (this.viewNames.has(name)) return 'verbatim';
    return this.recallableNames.has(name) ? 'recallable' : 'lost';
  }

  path(path: string): Kept {
    if (this.viewText.includes(path)) return 'verbatim';
    return this.recallableText.includes(path) ? 'recallable' : 'lost';
  }
}

function blocksOf(prefix: readonly ApiMessage[], { view, edits, origins }: CondensedPrefix): Block[] {
  const viewIndex = new Map((origins ?? view.map((_, index) => index)).map((origin, index) => [origin, index]));
  const shown = lastByPlace(edits);
  const editAt = new Map(shown.filter((edit) => edit.kind === 'cut').map((edit) => [placeKey(edit.place), edit]));
  const summaries = shown.filter((edit) => edit.kind === 'summary');
  const standing = referencesIn(view);
  const dropped = shown.flatMap((edit) => (edit.kind === 'block' && !edit.placeholder ? [edit.place] : []));
  const files = filesByPlace(prefix);
  const places = new Map<string, Place>();
  prefix.forEach((message, index) => {
    for (const { path } of contentsOf(message))
      places.set(placeKey({ message: index, path }), { message: index, path });
  });
  return [...places].map(([key, place]) => {
    const original = String(valueAt(prefix[place.message], place.path));
    const now = valueAt(view[viewIndex.get(place.message) ?? -1], pathInView(place, dropped));
    const viewText = typeof now === 'string' ? now : '';
    const lines = linesOf(original);
    const summary = summaries.find(({ start, end }) => place.message >= start && place.message < end);
    return {
      files: files.get(key) ?? new Set<string>(),
      lines,
      viewLines: viewText === original ? lines : linesOf(viewText),
      cuts: summary ? [summarized(original, lines, summary, standing)] : cutTexts(original, editAt.get(key), standing),
    };
  });
}

/** Where a block went whole, those behind it moved up. */
const pathInView = ({ message, path }: Place, dropped: readonly Place[]): Path => {
  const before = dropped.filter((place) => place.message === message && Number(place.path[1]) < Number(path[1]));
  return path.map((key, at) => (at === 1 ? Number(key) - before.length : key));
};

/** The references that markers of the view name. */
const referencesIn = (view: readonly ApiMessage[]): Set<string> =>
  new Set(
    view.flatMap(contentsOf).flatMap(({ text }) => findMarkers(text).map(({ reference }) => reference as string)),
  );

const cutTexts = (original: string, edit: CutEdit | undefined, standing: ReadonlySet<string>): CutText[] =>
  (edit?.cuts ?? []).map(({ start, end, reference, recoverable }) => {
    const text = wholeLines(original, start, end);
    const isReferenced = reference !== undefined && standing.has(reference);
    return { text, lines: linesOf(text), isStrict: recoverable !== true, isReferenced };
  });

const summarized = (
  text: string,
  lines: ReadonlySet<string>,
  { reference }: SummaryEdit,
  standing: ReadonlySet<string>,
): CutText => ({ text, lines, isStrict: false, isReferenced: standing.has(reference) });

/** A cut may take a part of a line; with the part the line is gone. */
const wholeLines = (text: string, start: number, end: number): string =>
  text.slice(text.lastIndexOf('\n', start - 1) + 1, `${text}\n`.indexOf('\n', end));

/** The file that a result or a parameter is about, by its place. */
function filesByPlace(prefix: readonly ApiMessage[]): Map<string, Set<string>> {
  const files = new Map<string, Set<string>>();
  for (const exchange of toolExchanges(prefix)) {
    const file = pathOf(DEFAULT_TOOLS, exchange);
    if (file === undefined) continue;
    for (const content of [...exchange.parameters, ...exchange.results]) {
      const key = placeKey(content);
      files.set(key, (files.get(key) ?? new Set()).add(file));
    }
  }
  return files;
}
