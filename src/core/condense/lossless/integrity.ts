import { trimList } from '../../keptList';
import { listContents, type Content } from '../../messages/content';
import { listToolExchanges } from '../../messages/exchanges';
import { findMarkers } from '../../messages/markers';
import { DEFAULT_TOOLS, type ToolTable } from '../../messages/tools';
import type { ApiMessage, ContentType, Place } from '../../messages/types';
import { originalExchanges } from '../conversationMemory';
import type { Draft } from '../draft/draft';
import { placeKey, type Cut, type Edit } from '../edits/edits';
import { betweenSteps } from '../../betweenSteps';
import type { RewrittenReferences, Step } from '../draft/steps';
import { KnownLines, takeKnownLines, stepMemory } from './knownLines';
import { isSamePath } from '../../messages/path';
import type { Lines } from '../lines/lines';
import { tellsNumbers } from '../lines/prefixes';
import { Settled } from './settled';
import { StandingLines } from './standing';

/** A strict cut whose text no longer stands elsewhere in the view. */
export interface BrokenCut {
  readonly place: Place;
  readonly cut: Cut;
  readonly contentType: ContentType;
  /** The first line that is missing; empty where only a line's number is. */
  readonly line: string;
}

/**
 * Proves that every line which a strict cut left out stands elsewhere in the view, word for word, and that every line
 * number which was left out follows from the line before.
 * @param shown what was cut, by place.
 * @returns the cuts of which that is not true.
 */
export function brokenCuts(
  original: readonly ApiMessage[],
  view: readonly ApiMessage[],
  shown: Iterable<PlaceCuts>,
  tools: ToolTable = DEFAULT_TOOLS,
): BrokenCut[] {
  const known = new KnownLines(tools);
  known.learn(listToolExchanges(original), 'original');
  known.learn(listToolExchanges(view), 'view');
  const memory = newLineMemory(known);
  memory.standing.update(view);
  return brokenIn(original, shown, memory);
}

/** The check's memory of a conversation from run to run. */
class CheckMemory {
  private ofLines: LineMemory;
  private relaid = 0;

  constructor(readonly known: KnownLines) {
    this.ofLines = newLineMemory(known);
  }

  /** Begins anew where a text has come to be read in another way. To be called when all texts are learned. */
  get lines(): LineMemory {
    const { relaid } = this.known;
    if (relaid !== this.relaid) this.ofLines = newLineMemory(this.known);
    this.relaid = relaid;
    return this.ofLines;
  }
}

/** What follows from how texts are read. */
interface LineMemory {
  readonly known: KnownLines;
  readonly standing: StandingLines;
  /** Places whose cuts promise nothing that doesn't stand. */
  readonly proven: Settled<readonly PlaceCuts[]>;
  /** By list of cuts. */
  readonly requirements: WeakMap<readonly Cut[], readonly Requirement[]>;
}

const newLineMemory = (known: KnownLines): LineMemory => ({
  known,
  standing: new StandingLines(known),
  proven: new Settled(),
  requirements: new WeakMap(),
});

const memoryOf = stepMemory((known) => new CheckMemory(known));

function brokenIn(
  original: readonly ApiMessage[],
  shown: Iterable<PlaceCuts>,
  memory: LineMemory,
  movable?: Movable,
): BrokenCut[] {
  const broken: BrokenCut[] = [];
  for (const at of shown) {
    const message = original[at.place.message];
    if (!message) continue;
    const missed = new Set<Cut>();
    for (const { cut, contentType, lines } of requirementsOf(at, message, memory)) {
      const line = missed.has(cut) ? undefined : missedLine(lines, memory, movable?.(cut) === true);
      if (line === undefined) continue;
      missed.add(cut);
      broken.push({ place: at.place, cut, contentType, line });
    }
  }
  return broken;
}

function requirementsOf(at: PlaceCuts, message: ApiMessage, memory: LineMemory): readonly Requirement[] {
  const { known, standing } = memory;
  const before = memory.requirements.get(at.cuts);
  if (before) return before;
  const requirements = trimList(requiredBy(at, listContents(message), known));
  memory.requirements.set(at.cuts, requirements);
  for (const { lines } of requirements) {
    if (!lines) continue;
    for (let line = lines.first; line <= lines.last; line++) {
      const id = lines.of.textId(line);
      if (!known.ids.isBlank(id)) standing.promise(id);
    }
  }
  return requirements;
}

/**
 * The first line that is missing from the view; undefined if there is none.
 * @param isMovable whether a line also counts as missing that has gone from a text in which it may have been shown
 */
function missedLine(
  lines: Requirement['lines'],
  { standing, known: { ids } }: LineMemory,
  isMovable: boolean,
): string | undefined {
  if (!lines) return '';
  const { content, of, first, last } = lines;
  for (let line = first; line <= last; line++) {
    const id = of.textId(line);
    if ((!standing.has(id) || (isMovable && standing.moved.has(id))) && !ids.isBlank(id))
      return content.text.slice(of.body(line), of.end(line));
  }
  return undefined;
}

/** Learns how the texts of a draft that are new are to be read. */
function learnLines(draft: Draft, tools: ToolTable = DEFAULT_TOOLS): CheckMemory {
  const known = takeKnownLines(draft, tools);
  const memory = memoryOf(known);
  known.learn(originalExchanges(draft.original), 'original');
  known.learn(draft.exchanges, 'view');
  return memory;
}

/**
 * Restores what strict cuts left out where it stands nowhere else any more, because a later operation took the kept copy.
 * New cuts are looked at, and all of them only where a line has gone that one of them promises.
 * @param movable which cuts are also restored if their lines have gone from some text, though they stand in another: the text
 *   that a marker names may be that one. To be given only if steps follow that refer to the other.
 * @returns how many cuts were taken back.
 */
export function restoreBroken(draft: Draft, tools: ToolTable = DEFAULT_TOOLS, movable?: Movable): number {
  const lines = linesNow(draft, tools, movable !== undefined);
  const { standing, proven } = lines;
  const { shown } = draft;
  const doubtful =
    standing.hasLost || standing.moved.size > 0 ? shown : proven.open(shown).map((at) => shown[at] ?? []);
  const broken = brokenIn(draft.original, doubtful.flat(), lines, movable);
  proven.settle(
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
    draft.restore(RESTORED, place, byPlace.get(placeKey(place)) ?? new Set(), {
      contentType,
      operation: 'restore',
      reason: 'the copy that a reference pointed to was removed',
      strict: true,
    });
  }
  return broken.length;
}

/** Brings what is known of a draft's lines to its view as it now stands. */
function linesNow(draft: Draft, tools: ToolTable, collectsMoved = false): LineMemory {
  const { lines } = learnLines(draft, tools);
  lines.standing.update(draft.messages, collectsMoved);
  return lines;
}

/**
 * Restores in a draft of its own what {@link restoreBroken} finds: of edits that were made without the check.
 * @returns how many cuts were taken back.
 */
export function restoreReferences(draft: Draft, tools?: ToolTable): number {
  try {
    return restoreBroken(draft, tools);
  } finally {
    draft.release();
  }
}

/** The step's name in reports. */
export const RESTORED = 'Restored references';

/**
 * Notes for a person about the restored places; their tokens are in the rows of the steps that took the
 * copies.
 */
export function restoredNotes(edits: readonly Edit[]): string[] {
  const places = edits.filter(({ operation }) => operation === 'restore').length;
  if (places === 0) return [];
  const what = places === 1 ? 'One place was' : `${places} places were`;
  return [`${what} restored: a later step removed the copy that a reference pointed to.`];
}

/** Whether a cut is taken back if a text that it may name has lost its lines, though another has them. */
type Movable = (cut: Cut) => boolean;

function movableIn(draft: Draft, which: RewrittenReferences | undefined): Movable | undefined {
  const { earlierCuts } = draft;
  if (which === 'earlier' && earlierCuts.size > 0) return (cut) => earlierCuts.has(cut);
  return which === 'all' && draft.shown.some((places) => places.length > 0) ? () => true : undefined;
}

/** Reads the lines of a draft that are new, which is half of the check's work, with turns between the parts. */
async function readLines(draft: Draft, tools: ToolTable, signal: AbortSignal | undefined): Promise<void> {
  takeKnownLines(draft, tools).learn(originalExchanges(draft.original), 'original');
  await betweenSteps(signal);
  const { lines } = learnLines(draft, tools);
  for (const _ of lines.standing.read(draft.messages)) await betweenSteps(signal);
  await betweenSteps(signal);
}

/**
 * Keeps the references of a draft true while a pipeline's steps run.
 * @returns to be called before a step runs; the function that this gives, after the step: it puts back what references still
 *   point to, and says whether there was any.
 */
export const watchReferences =
  (tools: ToolTable = DEFAULT_TOOLS, signal?: AbortSignal) =>
  (draft: Draft, { rewrites }: Pick<Step, 'rewrites'>): (() => Promise<boolean>) => {
    const movable = movableIn(draft, rewrites);
    const { tokens } = draft;
    if (movable) linesNow(draft, tools);
    return async () => {
      if (draft.tokens === tokens) return false;
      await readLines(draft, tools, signal);
      return restoreBroken(draft, tools, movable) > 0;
    };
  };

/** The cuts at a place. */
export interface PlaceCuts {
  readonly place: Place;
  readonly cuts: readonly Cut[];
}

/** A promise of a strict cut: each of these lines stands in the rest of the view, except blank ones. */
export interface Requirement {
  readonly cut: Cut;
  readonly contentType: ContentType;
  /** Lines of the original; undefined for what can't be true any more. */
  readonly lines: { readonly content: Content; readonly of: Lines; readonly first: number; last: number } | undefined;
}

/** The promises of a place's strict cuts. */
const requiredBy = (
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
      if (line === 0 || (before && !findMarkers(before.text).some(({ what }) => tellsNumbers(what)))) {
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
