import type { EditOperation } from '../edits/operations';
import { hashText, type Hash } from '../../hash';
import { byStart, type Slice } from '../../slice';
import type { MessageCounter } from '../../tokens/messageCounter';
import type { Cut } from '../edits/edits';
import {
  isOneMarker,
  marker,
  referenceFor,
  SHORTEST_REFERENCE,
  statesRule,
  withRule,
  type ReferenceId,
} from '../../messages/markers';
import type { ApiMessage, ContentType, Place } from '../../messages/types';

/** A request to take a slice out of a string as it now stands in the draft. */
export interface CutRequest extends Slice {
  /** The marker's words; null for no marker (the rest of the view says what was taken out). */
  readonly marker: string | null;
  /** Stands in front of the marker: a summary of the slice, or the lines of it that stay. */
  readonly inFront?: string;
}

export interface CutInfo {
  readonly contentType: ContentType;
  readonly operation: EditOperation;
  readonly reason: string;
  readonly strict: boolean;
}

/** A place of which something was cut, as it now stands. */
export interface PlaceState {
  readonly place: Place;
  readonly original: string;
  readonly cuts: readonly Cut[];
  /** The original with the cuts made. */
  readonly text: string;
  /** False once a cut took out what stands only in the reference store. */
  readonly strict: boolean;
}

/**
 * Gives the slice of the original behind a slice of the view; a marker that it touches belongs to it whole. Asked for
 * slices in order, it passes over the cuts once.
 */
function originalRanges({ cuts }: PlaceState): (slice: Slice) => Slice {
  let next = 0;
  // Where the last passed cut ends, in the original and in the view.
  let at = 0;
  let viewAt = 0;
  /** Passes the cuts whose text ends before a place in the view; gives the cut that has the place in its text. */
  const passTo = (place: number, isEnd: boolean): Cut | undefined => {
    for (let cut = cuts[next]; cut; cut = cuts[++next]) {
      const start = viewAt + cut.start - at;
      const end = start + cut.text.length;
      if (isEnd ? place <= start : place < start) return undefined;
      if (isEnd ? place <= end : place < end) return cut;
      at = cut.end;
      viewAt = end;
    }
    return undefined;
  };
  return (slice) => {
    const first = passTo(slice.start, false);
    const start = first ? first.start : at + slice.start - viewAt;
    const last = passTo(slice.end, true);
    return { start, end: last ? last.end : at + slice.end - viewAt };
  };
}

/** Both lists in order; an old cut that lies inside a new one is part of it, and makes it recoverable if it was. */
export function mergeCuts(old: readonly Cut[], made: readonly Cut[]): Cut[] {
  const merged: Cut[] = [];
  let next = 0;
  for (const cut of made) {
    while (next < old.length && (old[next]?.start ?? 0) < cut.start) merged.push(old[next++] as Cut);
    let recoverable = cut.recoverable === true;
    for (; next < old.length && (old[next]?.end ?? 0) <= cut.end; next++)
      recoverable ||= old[next]?.recoverable === true;
    merged.push(recoverable && !cut.recoverable ? { ...cut, recoverable } : cut);
  }
  return [...merged, ...old.slice(next)];
}

/**
 * Cuts of an original string, made of requests that speak of the string as it now stands. Requests that overlap an earlier
 * one, speak of nothing but a marker, or save no tokens are left out.
 * @param references the references given so far in this conversation, by id; those of the new cuts are added.
 */
export function newCuts(
  state: PlaceState,
  requests: readonly CutRequest[],
  strict: boolean,
  counter: MessageCounter,
  references: Map<ReferenceId, Hash>,
): Cut[] {
  const { text, original } = state;
  const rangeOf = originalRanges(state);
  const made: Cut[] = [];
  let reached = 0;
  for (const request of requests.toSorted(byStart)) {
    if (request.start < reached || request.end <= request.start || request.end > text.length) continue;
    reached = request.end;
    const slice = rangeOf(request);
    // Two slices may touch one marker, which belongs to the first.
    if (slice.start < (made.at(-1)?.end ?? 0)) continue;
    const standing = text.slice(request.start, request.end);
    if (isOneMarker(standing)) continue;
    const cut = cutOf(original, slice, request, strict, references);
    if (saves(counter, standing, cut.text)) made.push(cut);
  }
  return made;
}

function cutOf(
  original: string,
  { start, end }: Slice,
  { marker: what, inFront }: CutRequest,
  strict: boolean,
  references: Map<ReferenceId, Hash>,
): Cut {
  // The most cuts by far: nothing is spread into them, which takes room in each.
  if (what === null) return strict ? { start, end, text: '' } : { start, end, text: '', recoverable: true };
  const kind = strict ? {} : ({ recoverable: true } as const);
  const hash = hashText(original.slice(start, end));
  const reference = referenceFor(hash, references);
  references.set(reference, hash);
  const text = marker(what, reference);
  return { start, end, text: inFront === undefined ? text : `${inFront}\n${text}`, reference, ...kind };
}

/** A long slice saves more than any marker costs: only the short ones are counted. */
function saves(counter: MessageCounter, standing: string, replacement: string): boolean {
  if (replacement === '') return standing !== '';
  if (standing.length > 4 * replacement.length) return true;
  return counter.text(standing) > counter.text(replacement);
}

/** Cuts of which one tells the rule about markers, where one must. */
export interface CutsWithRule {
  readonly cuts: readonly Cut[];
  /** Whether a marker of the view tells the rule. */
  readonly ruleStated: boolean;
}

/** Lets the first new marker tell the rule about markers where no other marker of the view does, or does any more. */
export function stateRule(old: readonly Cut[], cuts: readonly Cut[], ruleStated: boolean): CutsWithRule {
  if (ruleStated && (cutsStateRule(cuts) || !cutsStateRule(old))) return { cuts, ruleStated };
  const known = new Set(old);
  const first = cuts.findIndex((cut) => cut.reference !== undefined && !known.has(cut));
  const stating = cuts[first];
  if (!stating) return { cuts, ruleStated: false };
  return { cuts: cuts.with(first, { ...stating, text: withRule(stating.text) }), ruleStated: true };
}

/** Whether a marker of these cuts tells the rule. */
export const cutsStateRule = (cuts: readonly Cut[]): boolean => cuts.some(({ text }) => statesRule(text));

/** A request by what it asks for; undefined where it asks for much, which is not remembered. */
export const requestKey = (place: Place, requests: readonly CutRequest[], { strict }: CutInfo): string | undefined =>
  requests.length > MAX_REMEMBERED ? undefined : JSON.stringify([place.path, strict, requests]);
const MAX_REMEMBERED = 4;

/** Requests that saved too little, by message: a conversation that grows is asked the same again and again. */
class RejectedCuts {
  private readonly byMessage = new WeakMap<ApiMessage, Set<string>>();

  /** @param key undefined for a request that asks for much, which is not remembered. */
  add(message: ApiMessage, key: string | undefined): void {
    if (key === undefined) return;
    const keys = this.byMessage.get(message);
    if (keys) keys.add(key);
    else this.byMessage.set(message, new Set([key]));
  }

  has(message: ApiMessage, key: string | undefined): boolean {
    return key !== undefined && this.byMessage.get(message)?.has(key) === true;
  }
}

export const newRejectedCuts = (): RejectedCuts => new RejectedCuts();

/** Whether the same request can't save more another time: a longer reference saves less. */
export const hasShortReferences = (cuts: readonly Cut[]): boolean =>
  cuts.every(({ reference }) => reference === undefined || reference.length === SHORTEST_REFERENCE);
