import { trimList } from '../../keptList';
import { listContents, type Content } from '../../messages/content';
import { listToolExchanges } from '../../messages/exchanges';
import { findMarkers } from '../../messages/markers';
import { DEFAULT_TOOLS, type ToolTable } from '../../messages/tools';
import type { ApiMessage, ContentType, Place } from '../../messages/types';
import { listOriginalExchanges } from '../conversationMemory';
import type { Draft } from '../draft/draft';
import { placeKey, type Cut, type Edit } from '../edits/edits';
import { yieldBetweenSteps } from '../../betweenSteps';
import type { RewrittenReferences, Step } from '../draft/steps';
import { LineCache, takeKnownLines, createStepMemory } from './knownLines';
import { isSamePath } from '../../messages/path';
import type { Lines } from '../lines/lines';
import { statesLineNumbers } from '../lines/prefixes';
import { StableItems } from './settled';
import { StandingLines } from './standing';

export interface BrokenCut {
  readonly place: Place;
  readonly cut: Cut;
  readonly contentType: ContentType;
  /** The first missing line; empty if only a line's number is missing. */
  readonly line: string;
}

/**
 * Verifies that the view still contains every line that a strict cut removed, and that removed line
 * numbers can be inferred.
 */
export function findBrokenCuts(
  original: readonly ApiMessage[],
  view: readonly ApiMessage[],
  shown: Iterable<PlaceCuts>,
  tools: ToolTable = DEFAULT_TOOLS,
): BrokenCut[] {
  const known = new LineCache(tools);
  known.learnExchanges(listToolExchanges(original), 'original');
  known.learnExchanges(listToolExchanges(view), 'view');
  const memory = createLineMemory(known);
  memory.standing.updateCounts(view);
  return findBrokenCutsInMessage(original, shown, memory);
}

class CheckMemory {
  private ofLines: LineMemory;
  private relaid = 0;

  constructor(readonly known: LineCache) {
    this.ofLines = createLineMemory(known);
  }

  /** Starts again if a text is now split differently. Call this after all texts are learned. */
  get lines(): LineMemory {
    const { relaid } = this.known;
    if (relaid !== this.relaid) this.ofLines = createLineMemory(this.known);
    this.relaid = relaid;
    return this.ofLines;
  }
}

interface LineMemory {
  readonly known: LineCache;
  readonly standing: StandingLines;
  readonly proven: StableItems<readonly PlaceCuts[]>;
  readonly requirements: WeakMap<readonly Cut[], readonly LineRequirement[]>;
}

const createLineMemory = (known: LineCache): LineMemory => ({
  known,
  standing: new StandingLines(known),
  proven: new StableItems(),
  requirements: new WeakMap(),
});

const getCheckMemory = createStepMemory((known) => new CheckMemory(known));

function findBrokenCutsInMessage(
  original: readonly ApiMessage[],
  shown: Iterable<PlaceCuts>,
  memory: LineMemory,
  movable?: MovableTest,
): BrokenCut[] {
  const broken: BrokenCut[] = [];
  for (const at of shown) {
    const message = original[at.place.message];
    if (!message) continue;
    const missed = new Set<Cut>();
    for (const { cut, contentType, lines } of listRequirements(at, message, memory)) {
      const line = missed.has(cut) ? undefined : findMissingLine(lines, memory, movable?.(cut) === true);
      if (line === undefined) continue;
      missed.add(cut);
      broken.push({ place: at.place, cut, contentType, line });
    }
  }
  return broken;
}

function listRequirements(at: PlaceCuts, message: ApiMessage, memory: LineMemory): readonly LineRequirement[] {
  const { known, standing } = memory;
  const before = memory.requirements.get(at.cuts);
  if (before) return before;
  const requirements = trimList(listPlaceRequirements(at, listContents(message), known));
  memory.requirements.set(at.cuts, requirements);
  for (const { lines } of requirements) {
    if (!lines) continue;
    for (let line = lines.first; line <= lines.last; line++) {
      const id = lines.of.getTextId(line);
      if (!known.ids.isBlank(id)) standing.reserveLine(id);
    }
  }
  return requirements;
}

/**
 * @param isMovable whether a line also counts as missing if it has left a text that a marker may
 * name
 */
function findMissingLine(
  lines: LineRequirement['lines'],
  { standing, known: { ids } }: LineMemory,
  isMovable: boolean,
): string | undefined {
  if (!lines) return '';
  const { content, of, first, last } = lines;
  for (let line = first; line <= last; line++) {
    const id = of.getTextId(line);
    if ((!standing.hasLine(id) || (isMovable && standing.moved.has(id))) && !ids.isBlank(id))
      return content.text.slice(of.getBodyStart(line), of.getEnd(line));
  }
  return undefined;
}

function learnLines(draft: Draft, tools: ToolTable = DEFAULT_TOOLS): CheckMemory {
  const known = takeKnownLines(draft, tools);
  const memory = getCheckMemory(known);
  known.learnExchanges(listOriginalExchanges(draft.original), 'original');
  known.learnExchanges(draft.exchanges, 'view');
  return memory;
}

/**
 * Restores strict cuts whose text a later operation removed from the rest of the view.
 * @param movable cuts to restore even if another text has their lines, since a marker may name the
 * first text
 * @returns number of cuts restored
 */
export function restoreBroken(draft: Draft, tools: ToolTable = DEFAULT_TOOLS, movable?: MovableTest): number {
  const lines = collectViewLines(draft, tools, movable !== undefined);
  const { standing, proven } = lines;
  const { shown } = draft;
  const doubtful =
    standing.hasLost || standing.moved.size > 0 ? shown : proven.listOpen(shown).map((at) => shown[at] ?? []);
  const broken = findBrokenCutsInMessage(draft.original, doubtful.flat(), lines, movable);
  proven.settleItems(
    shown,
    broken.map(({ place }) => place.message),
  );
  standing.hasLost = false;
  standing.moved.clear();
  const byPlace = new Map<string, Set<Cut>>();
  for (const { place, cut } of broken) {
    const key = placeKey(place);
    byPlace.set(key, (byPlace.get(key) ?? new Set<Cut>()).add(cut));
  }
  for (const { place, contentType } of broken) {
    draft.restoreCuts(RESTORED_STEP_NAME, place, byPlace.get(placeKey(place)) ?? new Set(), {
      contentType,
      operation: 'restore',
      reason: 'the copy that a reference pointed to was removed',
      strict: true,
    });
  }
  return broken.length;
}

function collectViewLines(draft: Draft, tools: ToolTable, collectsMoved = false): LineMemory {
  const { lines } = learnLines(draft, tools);
  lines.standing.updateCounts(draft.messages, collectsMoved);
  return lines;
}

/**
 * Use this for edits that were made without the check.
 * @returns number of cuts restored
 */
export function restoreReferences(draft: Draft, tools?: ToolTable): number {
  try {
    return restoreBroken(draft, tools);
  } finally {
    draft.release();
  }
}

export const RESTORED_STEP_NAME = 'Restored references';

/** The tokens of restored places are counted in the steps that removed the copies. */
export function noteRestored(edits: readonly Edit[]): string[] {
  const places = edits.filter(({ operation }) => operation === 'restore').length;
  if (places === 0) return [];
  const what = places === 1 ? 'One place was' : `${places} places were`;
  return [`${what} restored: a later step removed the copy that a reference pointed to.`];
}

type MovableTest = (cut: Cut) => boolean;

function createMovableTest(draft: Draft, which: RewrittenReferences | undefined): MovableTest | undefined {
  const { earlierCuts } = draft;
  if (which === 'earlier' && earlierCuts.size > 0) return (cut) => earlierCuts.has(cut);
  return which === 'all' && draft.shown.some((places) => places.length > 0) ? () => true : undefined;
}

/** Yields to the event loop, because reading takes half of the check's time. */
async function readLines(draft: Draft, tools: ToolTable, signal: AbortSignal | undefined): Promise<void> {
  takeKnownLines(draft, tools).learnExchanges(listOriginalExchanges(draft.original), 'original');
  await yieldBetweenSteps(signal);
  const { lines } = learnLines(draft, tools);
  for (const _ of lines.standing.countViewLines(draft.messages)) await yieldBetweenSteps(signal);
  await yieldBetweenSteps(signal);
}

/**
 * @returns a function to call before each step; its result, called after the step, restores what
 * references need and returns true if it did
 */
export const watchReferences =
  (tools: ToolTable = DEFAULT_TOOLS, signal?: AbortSignal) =>
  (draft: Draft, { rewrites }: Pick<Step, 'rewrites'>): (() => Promise<boolean>) => {
    const movable = createMovableTest(draft, rewrites);
    const { tokens } = draft;
    if (movable) collectViewLines(draft, tools);
    return async () => {
      if (draft.tokens === tokens) return false;
      await readLines(draft, tools, signal);
      return restoreBroken(draft, tools, movable) > 0;
    };
  };

export interface PlaceCuts {
  readonly place: Place;
  readonly cuts: readonly Cut[];
}

/** Lines, except blank ones, that a strict cut needs elsewhere in the view. */
export interface LineRequirement {
  readonly cut: Cut;
  readonly contentType: ContentType;
  /** Undefined if the requirement can no longer be met. */
  readonly lines: { readonly content: Content; readonly of: Lines; readonly first: number; last: number } | undefined;
}

const listPlaceRequirements = (
  { place, cuts }: PlaceCuts,
  contents: readonly Content[],
  known: LineCache,
): readonly LineRequirement[] =>
  contents
    .filter(({ path }) => isSamePath(path, place.path))
    .flatMap((content) => listContentRequirements(content, known.getLines(content), cuts));

function listContentRequirements(content: Content, lines: Lines, cuts: readonly Cut[]): LineRequirement[] {
  const requirements: LineRequirement[] = [];
  let next = 0;
  let before: Cut | undefined;
  for (let line = 0; line < lines.count; line++) {
    const start = content.start + lines.getStart(line);
    const body = content.start + lines.getBodyStart(line);
    const end = content.start + lines.getEnd(line);
    while ((cuts[next]?.end ?? Number.POSITIVE_INFINITY) <= start) next++;
    let cut = cuts[next];
    // A cut that ends before the line's text removed only the line's number or path.
    if (cut && cut.reference === undefined && cut.start === start && cut.end <= body) {
      if (line === 0 || (before && !findMarkers(before.text).some(({ what }) => statesLineNumbers(what)))) {
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
