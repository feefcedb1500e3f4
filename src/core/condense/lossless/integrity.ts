import { copyWithoutSpareCapacity } from '../../keptList';
import { listContents, type Content } from '../../messages/content';
import { listToolExchanges } from '../../messages/exchanges';
import { findMarkers } from '../../messages/markers';
import { DEFAULT_TOOLS, type ToolTable } from '../../messages/tools';
import type { ApiMessage, ContentType, ContentPlace } from '../../messages/types';
import { listOriginalExchanges } from '../conversationMemory';
import type { Draft } from '../draft/draft';
import { makePlaceKey, type Cut, type Edit } from '../edits/edits';
import { yieldBetweenSteps } from '../../betweenSteps';
import type { ReferencesAStepMayRewrite, PipelineStep } from '../draft/steps';
import { LineCache, getLineCache, createMemoryPerLineCache } from './knownLines';
import { isSamePath } from '../../messages/path';
import type { TextLines } from '../lines/lines';
import { statesLineNumbers } from '../lines/prefixes';
import { ProcessedItems } from './settled';
import { ViewLineCounts } from './standing';

export interface BrokenCut {
  readonly place: ContentPlace;
  readonly cut: Cut;
  readonly contentType: ContentType;
  /** The first missing line; empty if only a line's number is missing. */
  readonly line: string;
}

/**
 * Verifies that the view still contains every line that a strict cut removed, and that removed line
 * numbers can be inferred.
 */
export function findCutsWithBrokenReferences(
  original: readonly ApiMessage[],
  view: readonly ApiMessage[],
  cutsInView: Iterable<CutsAtPlace>,
  tools: ToolTable = DEFAULT_TOOLS,
): BrokenCut[] {
  const lineCache = new LineCache(tools);
  lineCache.addExchanges(listToolExchanges(original), 'original');
  lineCache.addExchanges(listToolExchanges(view), 'view');
  const memory = createCachedViewLines(lineCache);
  memory.viewLines.updateLineCounts(view);
  return findBrokenCutsInMessage(original, cutsInView, memory);
}

class ReferenceCheckMemory {
  private lineMemory: CachedViewLines;
  private layoutChanges = 0;

  constructor(readonly lineCache: LineCache) {
    this.lineMemory = createCachedViewLines(lineCache);
  }

  /**
   * Starts with an empty memory if a text is now split differently. Read this after all texts were
   * added to the line cache.
   */
  get lines(): CachedViewLines {
    const { layoutChanges } = this.lineCache;
    if (layoutChanges !== this.layoutChanges) this.lineMemory = createCachedViewLines(this.lineCache);
    this.layoutChanges = layoutChanges;
    return this.lineMemory;
  }
}

interface CachedViewLines {
  readonly lineCache: LineCache;
  readonly viewLines: ViewLineCounts;
  readonly verified: ProcessedItems<readonly CutsAtPlace[]>;
  readonly requirements: WeakMap<readonly Cut[], readonly LinesRequiredByCut[]>;
}

const createCachedViewLines = (lineCache: LineCache): CachedViewLines => ({
  lineCache,
  viewLines: new ViewLineCounts(lineCache),
  verified: new ProcessedItems(),
  requirements: new WeakMap(),
});

const getReferenceCheckMemory = createMemoryPerLineCache((lineCache) => new ReferenceCheckMemory(lineCache));

function findBrokenCutsInMessage(
  original: readonly ApiMessage[],
  cutsInView: Iterable<CutsAtPlace>,
  memory: CachedViewLines,
  movable?: RewritableCutTest,
): BrokenCut[] {
  const brokenCuts: BrokenCut[] = [];
  for (const shownCuts of cutsInView) {
    const message = original[shownCuts.place.message];
    if (!message) continue;
    const knownBrokenCuts = new Set<Cut>();
    for (const { cut, contentType, lines } of listLinesRequiredByCuts(shownCuts, message, memory)) {
      const missingLine = knownBrokenCuts.has(cut)
        ? undefined
        : findRequiredLineMissingInView(lines, memory, movable?.(cut) === true);
      if (missingLine === undefined) continue;
      knownBrokenCuts.add(cut);
      brokenCuts.push({ place: shownCuts.place, cut, contentType, line: missingLine });
    }
  }
  return brokenCuts;
}

function listLinesRequiredByCuts(
  cutsAtPlace: CutsAtPlace,
  message: ApiMessage,
  memory: CachedViewLines,
): readonly LinesRequiredByCut[] {
  const { lineCache, viewLines } = memory;
  const cachedRequirements = memory.requirements.get(cutsAtPlace.cuts);
  if (cachedRequirements) return cachedRequirements;
  const requirements = copyWithoutSpareCapacity(
    listLinesRequiredByCutsAtPlace(cutsAtPlace, listContents(message), lineCache),
  );
  memory.requirements.set(cutsAtPlace.cuts, requirements);
  for (const { lines } of requirements) {
    if (!lines) continue;
    for (let line = lines.first; line <= lines.last; line++) {
      const id = lines.contentLines.getIdIncludingBlankLines(line);
      if (!lineCache.ids.isBlank(id)) viewLines.recordLineNeededByCut(id);
    }
  }
  return requirements;
}

/**
 * @param isMovable whether a line also counts as missing if it moved to another text, because a
 *   marker may name the first text
 */
function findRequiredLineMissingInView(
  lines: LinesRequiredByCut['lines'],
  { viewLines, lineCache: { ids } }: CachedViewLines,
  isMovable: boolean,
): string | undefined {
  if (!lines) return '';
  const { content, contentLines, first, last } = lines;
  for (let line = first; line <= last; line++) {
    const id = contentLines.getIdIncludingBlankLines(line);
    if ((!viewLines.isLineInView(id) || (isMovable && viewLines.movedLineIds.has(id))) && !ids.isBlank(id))
      return content.text.slice(contentLines.getStartAfterPrefix(line), contentLines.getEnd(line));
  }
  return undefined;
}

function updateReferenceMemory(draft: Draft, tools: ToolTable = DEFAULT_TOOLS): ReferenceCheckMemory {
  const lineCache = getLineCache(draft, tools);
  const memory = getReferenceCheckMemory(lineCache);
  lineCache.addExchanges(listOriginalExchanges(draft.original), 'original');
  lineCache.addExchanges(draft.exchanges, 'view');
  return memory;
}

/**
 * Restores strict cuts whose text a later operation removed from the view.
 * @param movable cuts to restore even if another text has their lines, since a marker may name the
 *   first text
 */
export function restoreBrokenCuts(draft: Draft, tools: ToolTable = DEFAULT_TOOLS, movable?: RewritableCutTest): number {
  const cachedLines = collectViewLines(draft, tools, movable !== undefined);
  const { viewLines, verified } = cachedLines;
  const { shown: cutsByMessage } = draft;
  const cutsToCheck =
    viewLines.hasLostNeededLines || viewLines.movedLineIds.size > 0
      ? cutsByMessage
      : verified.listUnprocessedIndexes(cutsByMessage).map((at) => cutsByMessage[at] ?? []);
  const brokenCuts = findBrokenCutsInMessage(draft.original, cutsToCheck.flat(), cachedLines, movable);
  verified.markProcessed(
    cutsByMessage,
    brokenCuts.map(({ place }) => place.message),
  );
  viewLines.hasLostNeededLines = false;
  viewLines.movedLineIds.clear();
  const cutsByPlace = new Map<string, Set<Cut>>();
  for (const { place, cut } of brokenCuts) {
    const key = makePlaceKey(place);
    cutsByPlace.set(key, (cutsByPlace.get(key) ?? new Set<Cut>()).add(cut));
  }
  for (const { place, contentType } of brokenCuts) {
    draft.restoreCuts(RESTORED_REFERENCES_STEP_NAME, place, cutsByPlace.get(makePlaceKey(place)) ?? new Set(), {
      contentType,
      operation: 'restore',
      reason: 'the copy that a reference pointed to was removed',
      strict: true,
    });
  }
  return brokenCuts.length;
}

function collectViewLines(draft: Draft, tools: ToolTable, collectsMoved = false): CachedViewLines {
  const { lines } = updateReferenceMemory(draft, tools);
  lines.viewLines.updateLineCounts(draft.messages, collectsMoved);
  return lines;
}

/**
 * Use this for edits that were made without the check.
 * @returns number of cuts restored
 */
export function restoreDraftReferences(draft: Draft, tools?: ToolTable): number {
  try {
    return restoreBrokenCuts(draft, tools);
  } finally {
    draft.releaseResources();
  }
}

export const RESTORED_REFERENCES_STEP_NAME = 'Restored references';

/** The tokens of restored places are counted in the steps that removed the copies. */
export function describeRestoredReferences(edits: readonly Edit[]): string[] {
  const restoredCount = edits.filter(({ operation }) => operation === 'restore').length;
  if (restoredCount === 0) return [];
  const subjectAndVerb = restoredCount === 1 ? 'One place was' : `${restoredCount} places were`;
  return [`${subjectAndVerb} restored: a later step removed the copy that a reference pointed to.`];
}

type RewritableCutTest = (cut: Cut) => boolean;

function createRewritableCutTest(
  draft: Draft,
  which: ReferencesAStepMayRewrite | undefined,
): RewritableCutTest | undefined {
  const { earlierCuts } = draft;
  if (which === 'earlier' && earlierCuts.size > 0) return (cut) => earlierCuts.has(cut);
  return which === 'all' && draft.shown.some((places) => places.length > 0) ? () => true : undefined;
}

/** Yields to the event loop, because reading these lines takes half of the check's time. */
async function addOriginalLinesToCache(draft: Draft, tools: ToolTable, signal: AbortSignal | undefined): Promise<void> {
  getLineCache(draft, tools).addExchanges(listOriginalExchanges(draft.original), 'original');
  await yieldBetweenSteps(signal);
  const { lines } = updateReferenceMemory(draft, tools);
  for (const _ of lines.viewLines.countViewLines(draft.messages)) await yieldBetweenSteps(signal);
  await yieldBetweenSteps(signal);
}

/**
 * @returns a function to call before each step; its result, called after the step, restores what
 * references need and returns true if it did
 */
export const createRestorerOfBrokenReferences =
  (tools: ToolTable = DEFAULT_TOOLS, signal?: AbortSignal) =>
  (draft: Draft, { rewrites }: Pick<PipelineStep, 'rewrites'>): (() => Promise<boolean>) => {
    const movable = createRewritableCutTest(draft, rewrites);
    const { tokens } = draft;
    if (movable) collectViewLines(draft, tools);
    return async () => {
      if (draft.tokens === tokens) return false;
      await addOriginalLinesToCache(draft, tools, signal);
      return restoreBrokenCuts(draft, tools, movable) > 0;
    };
  };

export interface CutsAtPlace {
  readonly place: ContentPlace;
  readonly cuts: readonly Cut[];
}

/** Lines, except blank ones, that a strict cut needs elsewhere in the view. */
export interface LinesRequiredByCut {
  readonly cut: Cut;
  readonly contentType: ContentType;
  /** Undefined if the requirement can no longer be met. */
  readonly lines:
    | { readonly content: Content; readonly contentLines: TextLines; readonly first: number; last: number }
    | undefined;
}

const listLinesRequiredByCutsAtPlace = (
  { place, cuts }: CutsAtPlace,
  contents: readonly Content[],
  lineCache: LineCache,
): readonly LinesRequiredByCut[] =>
  contents
    .filter(({ path }) => isSamePath(path, place.path))
    .flatMap((content) => listLinesRequiredByCutsInContent(content, lineCache.getLines(content), cuts));

function listLinesRequiredByCutsInContent(
  content: Content,
  lines: TextLines,
  cuts: readonly Cut[],
): LinesRequiredByCut[] {
  const requirements: LinesRequiredByCut[] = [];
  let cutIndex = 0;
  let previousCut: Cut | undefined;
  for (let line = 0; line < lines.count; line++) {
    const start = content.start + lines.getStart(line);
    const bodyStart = content.start + lines.getStartAfterPrefix(line);
    const end = content.start + lines.getEnd(line);
    while ((cuts[cutIndex]?.end ?? Number.POSITIVE_INFINITY) <= start) cutIndex++;
    let cut = cuts[cutIndex];
    // A cut that ends before the line's text removed only the line's number or path.
    if (cut && cut.reference === undefined && cut.start === start && cut.end <= bodyStart) {
      if (line === 0 || (previousCut && !findMarkers(previousCut.text).some(({ what }) => statesLineNumbers(what)))) {
        requirements.push({ cut, contentType: content.type, lines: undefined });
      }
      cut = cuts[++cutIndex];
    }
    const isLineCut = cut !== undefined && cut.start < end && cut.end > bodyStart;
    previousCut = isLineCut ? cut : undefined;
    if (!cut || !isLineCut || cut.recoverable) continue;
    const lastRequirement = requirements.at(-1);
    if (lastRequirement?.cut === cut && lastRequirement.lines) lastRequirement.lines.last = line;
    else
      requirements.push({
        cut,
        contentType: content.type,
        lines: { content, contentLines: lines, first: line, last: line },
      });
  }
  return requirements;
}
