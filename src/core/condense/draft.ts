import { hashText, type Hash } from '../hash';
import { blocksOf } from '../messages/blocks';
import { valueAt, withValueAt } from '../messages/path';
import type { ApiMessage, ContentType, Place } from '../messages/types';
import type { MessageCounter } from '../tokens/messageCounter';
import { lastByPlace, placeKey, renderCuts, type Cut, type Edit, type EditId } from './edits';
import { isOneMarker, marker, MARKER_RULE, referenceFor, type ReferenceId } from './markers';

/** A wish to take a slice out of a string as it now stands in the draft. */
export interface CutRequest {
  readonly start: number;
  readonly end: number;
  /** What a marker there says; null for no marker (what was taken out follows from what stands elsewhere). */
  readonly marker: string | null;
}

export interface CutInfo {
  readonly contentType: ContentType;
  readonly reason: string;
  readonly strict: boolean;
}

interface PlaceState {
  readonly place: Place;
  readonly original: string;
  readonly before: Hash;
  readonly cuts: readonly Cut[];
}

/** What {@link Draft.rollback} goes back to. */
export interface Checkpoint {
  readonly places: ReadonlyMap<string, PlaceState>;
  readonly messages: readonly ApiMessage[];
  readonly edits: ReadonlyMap<string, Edit>;
  readonly tokens: number;
  readonly ruleTold: boolean;
}

/**
 * A view in the making. Providers ask for cuts in the text as it now stands; the draft keeps each as a cut of the
 * original, refuses what would not save tokens, and hands out the edits at the end.
 */
export class Draft {
  private places: Map<string, PlaceState>;
  private view: ApiMessage[];
  private made = new Map<string, Edit>();
  private total: number;
  private ruleTold: boolean;
  /** Never rolled back: an id that was given once keeps its meaning. */
  private readonly references = new Map<ReferenceId, Hash>();

  /**
   * @param original the immutable conversation.
   * @param active edits of earlier condensations, which the view starts with.
   * @throws Error where an edit doesn't belong to the conversation; drop stale edits first.
   */
  constructor(
    readonly original: readonly ApiMessage[],
    readonly counter: MessageCounter,
    active: readonly Edit[] = [],
  ) {
    this.view = [...original];
    this.places = new Map();
    for (const edit of lastByPlace(active)) {
      const state = this.stateOf(edit.place);
      if (state.before !== edit.before) throw new Error(`the edit ${edit.id} belongs to another conversation`);
      this.show({ ...state, cuts: edit.cuts });
      for (const cut of edit.cuts) {
        if (cut.reference !== undefined)
          this.references.set(cut.reference, hashText(state.original.slice(cut.start, cut.end)));
      }
    }
    this.ruleTold = this.references.size > 0;
    this.total = counter.messages(this.view);
  }

  /** The view as it now stands. */
  get messages(): readonly ApiMessage[] {
    return this.view;
  }

  /** Tokens of the view. */
  get tokens(): number {
    return this.total;
  }

  /** The edits made in this draft, in order; of one step and place only the last. */
  get edits(): readonly Edit[] {
    return [...this.made.values()];
  }

  /** The string at a place as it now stands. */
  text(place: Place): string {
    const value = valueAt(this.view[place.message], place.path);
    if (typeof value !== 'string') throw new Error(`no text at ${placeKey(place)}`);
    return value;
  }

  /** The slices of the original that still stand at a place, each with its offset in the view's string. */
  standing(place: Place): { start: number; end: number; viewStart: number }[] {
    const state = this.stateOf(place);
    const slices: { start: number; end: number; viewStart: number }[] = [];
    let at = 0;
    let viewAt = 0;
    for (const cut of [...state.cuts, { start: state.original.length, end: state.original.length, text: '' }]) {
      if (cut.start > at) slices.push({ start: at, end: cut.start, viewStart: viewAt });
      viewAt += cut.start - at + cut.text.length;
      at = cut.end;
    }
    return slices;
  }

  /**
   * Makes cuts in the text at a place. A cut that would save nothing is left out, and so is the whole request where the
   * message would hardly shrink.
   * @returns the tokens saved, 0 where nothing was done.
   */
  cut(step: string, place: Place, requests: readonly CutRequest[], info: CutInfo): number {
    const state = this.stateOf(place);
    const told = this.ruleTold;
    const cuts = this.compose(state, requests);
    if (cuts === state.cuts) return 0;
    const message = this.messageAt(place.message);
    this.show({ ...state, cuts });
    const before = this.counter.message(message);
    const saved = before - this.counter.message(this.messageAt(place.message));
    const judged = this.ruleTold === told ? saved : before - this.tokensWithoutRule(state, cuts);
    if (judged < MIN_SAVED || saved <= 0 || this.leavesBlank(place)) {
      this.show(state);
      this.view[place.message] = message;
      this.ruleTold = told;
      return 0;
    }
    this.total -= saved;
    const tokensOf = (shown: readonly Cut[]): number => this.counter.text(renderCuts(state.original, shown));
    this.record(step, { ...state, cuts }, info, tokensOf(state.cuts), tokensOf(cuts));
    return saved;
  }

  checkpoint(): Checkpoint {
    return {
      places: new Map(this.places),
      messages: [...this.view],
      edits: new Map(this.made),
      tokens: this.total,
      ruleTold: this.ruleTold,
    };
  }

  /** Drops all that was done since the checkpoint. */
  rollback(checkpoint: Checkpoint): void {
    this.places = new Map(checkpoint.places);
    this.view = [...checkpoint.messages];
    this.made = new Map(checkpoint.edits);
    this.total = checkpoint.tokens;
    this.ruleTold = checkpoint.ruleTold;
  }

  private messageAt(index: number): ApiMessage {
    const message = this.view[index];
    if (!message) throw new Error(`no message ${index}`);
    return message;
  }

  private stateOf(place: Place): PlaceState {
    const known = this.places.get(placeKey(place));
    if (known) return known;
    const original = valueAt(this.original[place.message], place.path);
    if (typeof original !== 'string') throw new Error(`no text at ${placeKey(place)}`);
    return { place, original, before: hashText(original), cuts: [] };
  }

  private show(state: PlaceState): void {
    const { message, path } = state.place;
    this.places.set(placeKey(state.place), state);
    this.view[message] = withValueAt(this.messageAt(message), path, renderCuts(state.original, state.cuts));
  }

  /** Tokens of a message as it would be if the rule had been told before. */
  private tokensWithoutRule({ place, original }: PlaceState, cuts: readonly Cut[]): number {
    const plain = cuts.map((cut) => ({ ...cut, text: withoutRule(cut.text) }));
    return this.counter.message(withValueAt(this.messageAt(place.message), place.path, renderCuts(original, plain)));
  }

  /** No API takes a blank text. */
  private leavesBlank(place: Place): boolean {
    const value = this.text(place);
    if (value.trim() !== '') return false;
    const block = blocksOf(this.messageAt(place.message))[Number(place.path[1])];
    return block?.type !== 'tool_use';
  }

  /** The state's cuts with the requested ones added; the very same list where none of them saves anything. */
  private compose(state: PlaceState, requests: readonly CutRequest[]): readonly Cut[] {
    const text = renderCuts(state.original, state.cuts);
    const made: Cut[] = [];
    let reached = 0;
    for (const request of requests.toSorted(byStart)) {
      if (request.start < reached || request.end <= request.start) continue;
      reached = request.end;
      const { start, end } = originalRange(state, request);
      const cut = this.makeCut(state.original, start, end, request.marker);
      const standing = text.slice(request.start, request.end);
      if (isOneMarker(standing) || !this.saves(standing, withoutRule(cut.text))) continue;
      made.push(cut);
      if (cut.reference !== undefined) this.ruleTold = true;
    }
    return made.length === 0 ? state.cuts : mergeCuts(state.cuts, made);
  }

  /** A long slice saves more than any marker costs: only the short ones are counted. */
  private saves(standing: string, replacement: string): boolean {
    if (replacement === '') return standing !== '';
    if (standing.length > 4 * replacement.length) return true;
    return this.counter.text(standing) > this.counter.text(replacement);
  }

  private makeCut(original: string, start: number, end: number, what: string | null): Cut {
    if (what === null) return { start, end, text: '' };
    const hash = hashText(original.slice(start, end));
    const reference = referenceFor(hash, this.references);
    this.references.set(reference, hash);
    return { start, end, text: marker(this.ruleTold ? what : what + RULE, reference), reference };
  }

  private record(step: string, state: PlaceState, info: CutInfo, tokensBefore: number, tokensAfter: number): void {
    const key = `${step} ${placeKey(state.place)}`;
    const earlier = this.made.get(key);
    // What was made last stands last.
    this.made.delete(key);
    this.made.set(key, {
      id: hashText(`${key} ${JSON.stringify(state.cuts)}`).slice(0, 16) as EditId,
      place: state.place,
      contentType: info.contentType,
      before: state.before,
      cuts: state.cuts,
      step,
      reason: info.reason,
      strict: info.strict && (earlier?.strict ?? true),
      tokensBefore: earlier?.tokensBefore ?? tokensBefore,
      tokensAfter,
    });
  }
}

const RULE = `; ${MARKER_RULE}`;
const withoutRule = (text: string): string => text.replace(RULE, '');

/**
 * Tokens that a change of one place must save. A marker that saves less only clutters the view; and it is more than the
 * rule costs, so that the marker that happens to tell it is judged like any other.
 */
const MIN_SAVED = 16;

const byStart = (a: { readonly start: number }, b: { readonly start: number }): number => a.start - b.start;

/** The slice of the original behind a slice of the view; a marker that it touches belongs to it whole. */
function originalRange(state: PlaceState, slice: { start: number; end: number }): { start: number; end: number } {
  let start: number | undefined;
  let at = 0;
  let viewAt = 0;
  for (const cut of [...state.cuts, { start: state.original.length, end: state.original.length, text: '' }]) {
    const kept = cut.start - at;
    if (start === undefined && slice.start < viewAt + kept) start = at + Math.max(0, slice.start - viewAt);
    if (slice.end <= viewAt + kept) return { start: start ?? cut.start, end: at + slice.end - viewAt };
    viewAt += kept + cut.text.length;
    if (start === undefined && slice.start < viewAt) start = cut.start;
    if (slice.end <= viewAt) return { start: start ?? cut.start, end: cut.end };
    at = cut.end;
  }
  return { start: start ?? state.original.length, end: state.original.length };
}

/** Both lists in order; an old cut that lies inside a new one is part of it. */
function mergeCuts(old: readonly Cut[], made: readonly Cut[]): Cut[] {
  const merged: Cut[] = [];
  let next = 0;
  for (const cut of made) {
    while (next < old.length && (old[next]?.start ?? 0) < cut.start) merged.push(old[next++] as Cut);
    while (next < old.length && (old[next]?.end ?? 0) <= cut.end) next++;
    merged.push(cut);
  }
  return [...merged, ...old.slice(next)];
}
