import { hashText, type Hash } from '../../hash';
import { isSamePath, getValueAt, withValueAt } from '../../messages/path';
import type { ApiMessage, Block, Place } from '../../messages/types';
import {
  hashAt,
  placeKey,
  renderCuts,
  type BlockEdit,
  type CutEdit,
  type Edit,
  type SummaryEdit,
} from '../edits/edits';
import { conversationMemory } from '../conversationMemory';
import type { MessageRange } from '../../messages/messageRange';
import type { PlaceState } from './cuts';
import type { MessageCounter } from '../../tokens/messageCounter';
import type { ReferenceId } from '../../messages/markers';

/** The content of a view, and how it came about. */
export interface ViewContent {
  readonly messages: readonly ApiMessage[];
  /** By message the places of which something was cut. */
  readonly places: readonly (readonly PlaceState[])[];
  readonly summaries: readonly SummaryEdit[];
}

const NO_PLACES: readonly PlaceState[] = [];

/** Stands in a draft's view for thinking that was taken out: no tokens. */
const GONE: Block = { type: 'thinking', thinking: '' };

/** Stands in a draft's view for a message that a summary took in: nothing to see, nothing to edit, no tokens. */
export const HIDDEN: ApiMessage = { role: 'user', content: [] };

/**
 * The view of a draft: messages keep their indexes and blocks their places, for what goes is stood in for by something
 * without tokens.
 */
export class DraftView {
  private shownPlaces: (readonly PlaceState[])[] = [];
  private shownMessages: ApiMessage[] = [];
  private shownSummaries: readonly SummaryEdit[] = [];

  /** @param known the view of the first messages; the others stand as the original has them. */
  constructor(
    private readonly original: readonly ApiMessage[],
    known: ViewContent = { messages: [], places: [], summaries: [] },
  ) {
    this.rollback(known);
  }

  checkpoint(): ViewContent {
    return { messages: [...this.shownMessages], places: [...this.shownPlaces], summaries: this.shownSummaries };
  }

  /** Shows again what it showed at the checkpoint. */
  rollback({ messages, places, summaries }: ViewContent): void {
    const added = this.original.slice(messages.length);
    this.shownMessages = [...messages, ...added];
    this.shownPlaces = [...places, ...added.map(() => NO_PLACES)];
    this.shownSummaries = summaries;
  }

  get messages(): readonly ApiMessage[] {
    return this.shownMessages;
  }

  get summaries(): readonly SummaryEdit[] {
    return this.shownSummaries;
  }

  /** By message the places of which something was cut; the very same list while nothing changes there. */
  get places(): readonly (readonly PlaceState[])[] {
    if (this.shownSummaries.length === 0) return this.shownPlaces;
    return this.shownPlaces.map((states, message) => (this.isSummarized(message) ? NO_PLACES : states));
  }

  /** @throws Error where there is no such message. */
  message(index: number): ApiMessage {
    const message = this.shownMessages[index];
    if (!message) throw new Error(`no message ${index}`);
    return message;
  }

  /** Whether a summary stands for a message. */
  isSummarized(message: number): boolean {
    return this.shownSummaries.some(({ start, end }) => message >= start && message < end);
  }

  /**
   * How a place stands.
   * @throws Error where there is no text.
   */
  stateOf(place: Place): PlaceState {
    const known = this.shownPlaces[place.message]?.find((state) => isSamePath(state.place.path, place.path));
    if (known) return known;
    const original = getValueAt(this.original[place.message], place.path);
    if (typeof original !== 'string') throw new Error(`no text at ${placeKey(place)}`);
    return { place, original, cuts: [], text: original, strict: true };
  }

  /** The message with another text at a place; the view stays as it is. */
  messageWith({ message, path }: Place, text: string): ApiMessage {
    return withValueAt(this.message(message), path, text);
  }

  /**
   * Shows a place in another state.
   * @param message what {@link messageWith} gave for it, where that is known.
   */
  show(state: PlaceState, message = this.messageWith(state.place, state.text)): void {
    const states = this.shownPlaces[state.place.message] ?? NO_PLACES;
    const at = states.findIndex((other) => isSamePath(other.place.path, state.place.path));
    this.shownPlaces[state.place.message] = at < 0 ? [...states, state] : states.with(at, state);
    this.shownMessages[state.place.message] = message;
  }

  /**
   * Shows a place with its edit of an earlier condensation.
   * @throws Error where the edit doesn't belong to the conversation.
   */
  showCuts({ place, before, cuts, strict, id }: CutEdit): PlaceState {
    const state = this.stateOf(place);
    if (hashAt(this.original, place, state.original) !== before) throw externalEdit(id);
    const shown = { ...state, cuts, text: renderCuts(state.original, cuts), strict };
    this.show(shown);
    return shown;
  }

  /**
   * Shows a message without a block, or with its placeholder.
   * @throws Error where the edit doesn't belong to the conversation.
   */
  showWithoutBlock({ place, placeholder, before, id }: BlockEdit): void {
    const { message, path } = place;
    const block = JSON.stringify(getValueAt(this.original[message], path)) as string | undefined;
    if (block === undefined || hashText(block) !== before) throw externalEdit(id);
    const shown = placeholder ? { type: 'text', text: placeholder.text } : GONE;
    this.shownMessages[message] = withValueAt(this.message(message), path, shown);
  }

  /** The summaries that a range of messages touches. */
  summariesIn(range: MessageRange): SummaryEdit[] {
    return this.shownSummaries.filter(({ start, end }) => start < range.end && end > range.start);
  }

  /** Shows a summary in the place of its range; summaries inside the range are part of it. */
  showSummary(summary: SummaryEdit): void {
    const { start, end, message } = summary;
    const isInside = (other: SummaryEdit): boolean => other.start >= start && other.end <= end;
    this.shownSummaries = [...this.shownSummaries.filter((other) => !isInside(other)), summary];
    for (let index = start; index < end; index++) this.shownMessages[index] = index === start ? message : HIDDEN;
  }
}

const externalEdit = (id: string): Error => new Error(`the edit ${id} belongs to another conversation`);

/** A view with what is known of it. */
export interface ViewState extends ViewContent {
  readonly tokens: number;
  /** Whether a marker of the view tells the rule about markers. */
  readonly ruleStated: boolean;
}

/** A view that a draft had, and what it was made of. */
export interface KnownView {
  readonly original: readonly ApiMessage[];
  readonly counter: MessageCounter;
  readonly edits: readonly Edit[];
  readonly state: ViewState;
  readonly references: ReadonlyMap<ReferenceId, Hash>;
}

/** The view that the latest draft began with, and the one that it ended with: its edits may not be taken. */
const MAX_VIEWS = 2;

/** The latest first. */
const newViews = (): { latest: readonly KnownView[] } => ({ latest: [] });

/**
 * The view of the first of these edits over the conversation, or over what it has grown from: what is left is to show the
 * other edits. Messages and edits must be the very same objects; to compare them costs nanoseconds each.
 */
export function knownView(
  original: readonly ApiMessage[],
  counter: MessageCounter,
  edits: readonly Edit[],
): KnownView | undefined {
  return conversationMemory(original)
    .part(newViews)
    .latest.filter(
      (known) =>
        known.counter === counter &&
        isBeginning(known.original, original) &&
        isBeginning(known.edits, edits) &&
        canShow(known, edits.slice(known.edits.length)),
    )
    .reduce<KnownView | undefined>((a, b) => (a && a.edits.length >= b.edits.length ? a : b), undefined);
}

/** Keeps a view for the next draft. */
export function rememberView(view: KnownView): void {
  const views = conversationMemory(view.original).part(newViews);
  views.latest = [view, ...views.latest].slice(0, MAX_VIEWS);
}

/** Blocks go and summaries come in an order of their own, so that only cuts outside of summaries can be added. */
const canShow = ({ state: { summaries } }: KnownView, rest: readonly Edit[]): boolean =>
  rest.every(
    (edit) =>
      edit.kind === 'cut' &&
      summaries.every(({ start, end }) => edit.place.message < start || edit.place.message >= end),
  );

function isBeginning<T>(short: readonly T[], long: readonly T[]): boolean {
  if (short.length > long.length) return false;
  for (let at = 0; at < short.length; at++) if (short[at] !== long[at]) return false;
  return true;
}
