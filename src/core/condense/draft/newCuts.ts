import { hashText, type Hash } from '../../hash';
import { byStart, type Slice } from '../../slice';
import type { MessageCounter } from '../../tokens/messageCounter';
import type { CutRequest } from './cutRequest';
import type { Cut } from '../edits/edits';
import { isOneMarker, marker, referenceFor, tellsRule, withRule, type ReferenceId } from '../../messages/markers';
import { originalRanges, type PlaceState } from './placeState';

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
  { marker: what, summary }: CutRequest,
  strict: boolean,
  references: Map<ReferenceId, Hash>,
): Cut {
  const kind = strict ? {} : ({ recoverable: true } as const);
  if (what === null) return { start, end, text: '', ...kind };
  const hash = hashText(original.slice(start, end));
  const reference = referenceFor(hash, references);
  references.set(reference, hash);
  const text = marker(what, reference);
  return { start, end, text: summary === undefined ? text : `${summary}\n${text}`, reference, ...kind };
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
  readonly ruleTold: boolean;
}

/** Lets the first new marker tell the rule about markers where no other marker of the view does, or does any more. */
export function tellRule(old: readonly Cut[], cuts: readonly Cut[], ruleTold: boolean): CutsWithRule {
  if (ruleTold && (cutsTellRule(cuts) || !cutsTellRule(old))) return { cuts, ruleTold };
  const known = new Set(old);
  const first = cuts.findIndex((cut) => cut.reference !== undefined && !known.has(cut));
  const teller = cuts[first];
  if (!teller) return { cuts, ruleTold: false };
  return { cuts: cuts.with(first, { ...teller, text: withRule(teller.text) }), ruleTold: true };
}

/** Whether a marker of these cuts tells the rule. */
export const cutsTellRule = (cuts: readonly Cut[]): boolean => cuts.some(({ text }) => tellsRule(text));
