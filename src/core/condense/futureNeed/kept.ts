import { selectLastEditPerPlace, makePlaceKey, type Cut, type SummaryEdit } from '../edits/edits';
import type { View } from '../edits/view';
import { findMarkers } from '../../messages/markers';
import { listContents } from '../../messages/content';
import { getValueAt } from '../../messages/path';
import type { ApiMessage, Path, ContentPlace } from '../../messages/types';
import type { Slice } from '../../slice';
import type { NeededLine } from './neededLater';
import { listPossibleLineContents, type ShownLine } from '../lines/shownLines';

export type LineOutcome = 'verbatim' | 'recallable' | 'lost';

interface ViewTextOfOriginalBlock {
  /** Empty if all text was removed. */
  readonly viewText: string;
  readonly isUnchanged: boolean;
  /** Undefined if the text changed without an edit. */
  readonly cuts: readonly CutOriginalText[] | undefined;
}

interface CutOriginalText extends Slice {
  readonly text: string;
  readonly isReferenced: boolean;
}

export class NeededLineChecker {
  readonly blocks: ReadonlyMap<string, ViewTextOfOriginalBlock>;
  private readonly viewLines = new Map<ViewTextOfOriginalBlock, ReadonlySet<string>>();

  constructor(view: View) {
    this.blocks = collectViewBlocks(view);
  }

  /** The same line in another file does not count. */
  checkLine({ line, shown }: NeededLine): LineOutcome {
    const lineOutcomes = shown.map((one) => this.checkShownLine(line, one));
    return (['verbatim', 'recallable'] as const).find((kept) => lineOutcomes.includes(kept)) ?? 'lost';
  }

  private checkShownLine(line: string, shownLine: ShownLine): LineOutcome {
    const block = this.blocks.get(makePlaceKey(shownLine));
    if (!block) return 'lost';
    if (block.isUnchanged) return 'verbatim';
    if (!block.cuts) return this.listLinesInView(block).has(line) ? 'verbatim' : 'lost';
    const cut = block.cuts.find(({ start, end }) => start < shownLine.end && end > shownLine.start);
    if (!cut) return 'verbatim';
    return cut.isReferenced ? 'recallable' : 'lost';
  }

  private listLinesInView(block: ViewTextOfOriginalBlock): ReadonlySet<string> {
    const linesInView =
      this.viewLines.get(block) ?? new Set(block.viewText.split('\n').flatMap(listPossibleLineContents));
    this.viewLines.set(block, linesInView);
    return linesInView;
  }
}

function collectViewBlocks({
  original: prefix,
  messages: view,
  edits,
  origins,
}: View): ReadonlyMap<string, ViewTextOfOriginalBlock> {
  const viewIndex = new Map(origins.map((origin, index) => [origin, index]));
  const lastEdits = selectLastEditPerPlace(edits);
  const editByPlace = new Map(
    lastEdits.filter((edit) => edit.kind === 'cut').map((edit) => [makePlaceKey(edit.place), edit]),
  );
  const summaries = lastEdits.filter((edit) => edit.kind === 'summary');
  const viewReferences = findReferences(view);
  const droppedPlaces = lastEdits.flatMap((edit) => (edit.kind === 'block' && !edit.placeholder ? [edit.place] : []));
  const blocks = new Map<string, ViewTextOfOriginalBlock>();
  prefix.forEach((message, index) => {
    for (const { path } of listContents(message)) {
      const place = { message: index, path };
      const key = makePlaceKey(place);
      if (blocks.has(key)) continue;
      const original = String(getValueAt(message, path));
      const value = getValueAt(view[viewIndex.get(index) ?? -1], convertPlaceToViewPath(place, droppedPlaces));
      const viewText = typeof value === 'string' ? value : '';
      const summary = summaries.find(({ start, end }) => index >= start && index < end);
      const edit = editByPlace.get(key);
      const cuts = summary
        ? [makeCutForSummary(original, summary, viewReferences)]
        : edit && edit.cuts.map((cut) => getCutOriginalText(original, cut, viewReferences));
      blocks.set(key, { viewText, isUnchanged: !summary && viewText === original, cuts });
    }
  });
  return blocks;
}

/** A removed block moves the blocks after it up. */
const convertPlaceToViewPath = ({ message, path }: ContentPlace, dropped: readonly ContentPlace[]): Path => {
  const droppedBefore = dropped.filter((place) => place.message === message && Number(place.path[1]) < Number(path[1]));
  return path.map((key, at) => (at === 1 ? Number(key) - droppedBefore.length : key));
};

const findReferences = (view: readonly ApiMessage[]): Set<string> =>
  new Set(
    view.flatMap(listContents).flatMap(({ text }) => findMarkers(text).map(({ reference }) => reference as string)),
  );

const getCutOriginalText = (
  original: string,
  { start, end, reference }: Cut,
  viewReferences: ReadonlySet<string>,
): CutOriginalText => ({
  start,
  end,
  text: expandToWholeLines(original, start, end),
  isReferenced: reference !== undefined && viewReferences.has(reference),
});

const makeCutForSummary = (
  text: string,
  { reference }: SummaryEdit,
  viewReferences: ReadonlySet<string>,
): CutOriginalText => ({
  start: 0,
  end: text.length,
  text,
  isReferenced: viewReferences.has(reference),
});

/** Returns whole lines, because a line that is partly cut is lost. */
const expandToWholeLines = (text: string, start: number, end: number): string =>
  text.slice(text.lastIndexOf('\n', start - 1) + 1, `${text}\n`.indexOf('\n', end));
