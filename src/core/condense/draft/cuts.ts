import type { EditOperation } from '../edits/operations';
import { hashText, type Hash } from '../../hash';
import { compareStart, type Slice } from '../../slice';
import type { MessageCounter } from '../../tokens/messageCounter';
import type { Cut } from '../edits/edits';
import {
  isSingleMarker,
  makeMarker,
  makeUniqueReference,
  MIN_REFERENCE_DIGITS,
  statesMarkerRule,
  addMarkerRule,
  type ReferenceId,
} from '../../messages/markers';
import type { ApiMessage, ContentType, ContentPlace } from '../../messages/types';

/** Offsets refer to the draft's current text, not to the original. */
export interface CutRequest extends Slice {
  /** Null if the slice needs no marker, because the rest of the view implies it. */
  readonly marker: string | null;
  /** A summary of the slice, or lines of it that stay, in front of the marker. */
  readonly textInFront?: string;
}

export interface CutDetails {
  readonly contentType: ContentType;
  readonly operation: EditOperation;
  readonly reason: string;
  readonly strict: boolean;
}

export interface TextAtPlaceWithCuts {
  readonly place: ContentPlace;
  readonly original: string;
  readonly cuts: readonly Cut[];
  readonly text: string;
  /** False if a cut removed text that only the reference store has. */
  readonly strict: boolean;
}

/** Maps slices of the view to slices of the original, widened by any marker that they touch. */
function createViewToOriginalMapper({ cuts }: TextAtPlaceWithCuts): (slice: Slice) => Slice {
  let cutIndex = 0;
  let originalOffset = 0;
  let viewOffset = 0;
  const advanceTo = (place: number, isEnd: boolean): Cut | undefined => {
    for (let cut = cuts[cutIndex]; cut; cut = cuts[++cutIndex]) {
      const start = viewOffset + cut.start - originalOffset;
      const end = start + cut.text.length;
      if (isEnd ? place <= start : place < start) return undefined;
      if (isEnd ? place <= end : place < end) return cut;
      originalOffset = cut.end;
      viewOffset = end;
    }
    return undefined;
  };
  return (slice) => {
    const cutAtStart = advanceTo(slice.start, false);
    const start = cutAtStart ? cutAtStart.start : originalOffset + slice.start - viewOffset;
    const cutAtEnd = advanceTo(slice.end, true);
    return { start, end: cutAtEnd ? cutAtEnd.end : originalOffset + slice.end - viewOffset };
  };
}

/**
 * Both lists must be sorted. A new cut absorbs old cuts inside it, and is recoverable if one of
 * them is.
 */
export function mergeCuts(oldCuts: readonly Cut[], newCuts: readonly Cut[]): Cut[] {
  const mergedCuts: Cut[] = [];
  let oldIndex = 0;
  for (const cut of newCuts) {
    while (oldIndex < oldCuts.length && (oldCuts[oldIndex]?.start ?? 0) < cut.start)
      mergedCuts.push(oldCuts[oldIndex++] as Cut);
    let recoverable = cut.recoverable === true;
    for (; oldIndex < oldCuts.length && (oldCuts[oldIndex]?.end ?? 0) <= cut.end; oldIndex++)
      recoverable ||= oldCuts[oldIndex]?.recoverable === true;
    mergedCuts.push(recoverable && !cut.recoverable ? { ...cut, recoverable } : cut);
  }
  return [...mergedCuts, ...oldCuts.slice(oldIndex)];
}

/**
 * Skips requests that overlap an earlier one, cover only a marker, or save no tokens.
 * @param references the function adds those of the new cuts
 */
export function createCuts(
  state: TextAtPlaceWithCuts,
  requests: readonly CutRequest[],
  isStrict: boolean,
  counter: MessageCounter,
  references: Map<ReferenceId, Hash>,
): Cut[] {
  const { text, original } = state;
  const mapToOriginal = createViewToOriginalMapper(state);
  const newCuts: Cut[] = [];
  let lastEnd = 0;
  for (const request of requests.toSorted(compareStart)) {
    if (request.start < lastEnd || request.end <= request.start || request.end > text.length) continue;
    lastEnd = request.end;
    const slice = mapToOriginal(request);
    // A marker that two requests touch belongs to the first.
    if (slice.start < (newCuts.at(-1)?.end ?? 0)) continue;
    const currentText = text.slice(request.start, request.end);
    if (isSingleMarker(currentText)) continue;
    const cut = createCutIfSmaller(original, slice, request, isStrict, references);
    if (savesTokens(counter, currentText, cut.text)) newCuts.push(cut);
  }
  return newCuts;
}

function createCutIfSmaller(
  original: string,
  { start, end }: Slice,
  { marker, textInFront }: CutRequest,
  isStrict: boolean,
  references: Map<ReferenceId, Hash>,
): Cut {
  if (marker === null) return isStrict ? { start, end, text: '' } : { start, end, text: '', recoverable: true };
  const recoverableField = isStrict ? {} : ({ recoverable: true } as const);
  const hash = hashText(original.slice(start, end));
  const reference = makeUniqueReference(hash, references);
  references.set(reference, hash);
  const text = makeMarker(marker, reference);
  return {
    start,
    end,
    text: textInFront === undefined ? text : `${textInFront}\n${text}`,
    reference,
    ...recoverableField,
  };
}

/** Counts the tokens of short slices only: a long slice saves more than any marker costs. */
function savesTokens(counter: MessageCounter, currentText: string, replacement: string): boolean {
  if (replacement === '') return currentText !== '';
  if (currentText.length > 4 * replacement.length) return true;
  return counter.countText(currentText) > counter.countText(replacement);
}

export interface CutsWithMarkerRule {
  readonly cuts: readonly Cut[];
  readonly ruleStated: boolean;
}

export function addMarkerRuleOnce(
  earlierCuts: readonly Cut[],
  cuts: readonly Cut[],
  ruleStated: boolean,
): CutsWithMarkerRule {
  if (ruleStated && (containMarkerRule(cuts) || !containMarkerRule(earlierCuts))) return { cuts, ruleStated };
  const oldCuts = new Set(earlierCuts);
  const firstIndex = cuts.findIndex((cut) => cut.reference !== undefined && !oldCuts.has(cut));
  const cutWithRule = cuts[firstIndex];
  if (!cutWithRule) return { cuts, ruleStated: false };
  return { cuts: cuts.with(firstIndex, { ...cutWithRule, text: addMarkerRule(cutWithRule.text) }), ruleStated: true };
}

export const containMarkerRule = (cuts: readonly Cut[]): boolean => cuts.some(({ text }) => statesMarkerRule(text));

/** Returns undefined for a request that is too large to be cached. */
export const makeKeyOfRejectedCuts = (
  place: ContentPlace,
  requests: readonly CutRequest[],
  { strict }: CutDetails,
): string | undefined =>
  requests.length > MAX_REJECTED_CUTS_PER_MESSAGE ? undefined : JSON.stringify([place.path, strict, requests]);
const MAX_REJECTED_CUTS_PER_MESSAGE = 4;

/** Providers request the same cuts again while the conversation grows. */
class RejectedCuts {
  private readonly keysByMessage = new WeakMap<ApiMessage, Set<string>>();

  addRejected(message: ApiMessage, key: string | undefined): void {
    if (key === undefined) return;
    const keys = this.keysByMessage.get(message);
    if (keys) keys.add(key);
    else this.keysByMessage.set(message, new Set([key]));
  }

  wasRejected(message: ApiMessage, key: string | undefined): boolean {
    return key !== undefined && this.keysByMessage.get(message)?.has(key) === true;
  }
}

export const createRejectedCuts = (): RejectedCuts => new RejectedCuts();

/**
 * If even the shortest references save nothing, the longer references of later runs save nothing
 * either.
 */
export const hasShortReferences = (cuts: readonly Cut[]): boolean =>
  cuts.every(({ reference }) => reference === undefined || reference.length === MIN_REFERENCE_DIGITS);
