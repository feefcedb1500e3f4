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
import { getConversationMemory } from '../conversationMemory';
import type { MessageRange } from '../../messages/messageRange';
import type { PlaceState } from './cuts';
import type { MessageCounter } from '../../tokens/messageCounter';
import type { ReferenceId } from '../../messages/markers';

export interface DraftContent {
  readonly messages: readonly ApiMessage[];
  readonly places: readonly (readonly PlaceState[])[];
  readonly summaries: readonly SummaryEdit[];
}

const NO_PLACE_STATES: readonly PlaceState[] = [];

/** Replaces removed thinking in a draft's view; it has no tokens. */
const REMOVED_BLOCK: Block = { type: 'thinking', thinking: '' };

export const HIDDEN_MESSAGE: ApiMessage = { role: 'user', content: [] };

/** Messages and blocks keep their indexes: placeholders without tokens replace removed ones. */
export class DraftView {
  private shownPlaces: (readonly PlaceState[])[] = [];
  private shownMessages: ApiMessage[] = [];
  private shownSummaries: readonly SummaryEdit[] = [];

  constructor(
    private readonly original: readonly ApiMessage[],
    known: DraftContent = { messages: [], places: [], summaries: [] },
  ) {
    this.rollback(known);
  }

  checkpoint(): DraftContent {
    return { messages: [...this.shownMessages], places: [...this.shownPlaces], summaries: this.shownSummaries };
  }

  rollback({ messages, places, summaries }: DraftContent): void {
    const added = this.original.slice(messages.length);
    this.shownMessages = [...messages, ...added];
    this.shownPlaces = [...places, ...added.map(() => NO_PLACE_STATES)];
    this.shownSummaries = summaries;
  }

  get messages(): readonly ApiMessage[] {
    return this.shownMessages;
  }

  get summaries(): readonly SummaryEdit[] {
    return this.shownSummaries;
  }

  get places(): readonly (readonly PlaceState[])[] {
    if (this.shownSummaries.length === 0) return this.shownPlaces;
    return this.shownPlaces.map((states, message) => (this.isSummarized(message) ? NO_PLACE_STATES : states));
  }

  /** @throws Error if there is no such message */
  getMessage(index: number): ApiMessage {
    const message = this.shownMessages[index];
    if (!message) throw new Error(`no message ${index}`);
    return message;
  }

  isSummarized(message: number): boolean {
    return this.shownSummaries.some(({ start, end }) => message >= start && message < end);
  }

  /** @throws Error if there is no text at the place */
  getPlaceState(place: Place): PlaceState {
    const known = this.shownPlaces[place.message]?.find((state) => isSamePath(state.place.path, place.path));
    if (known) return known;
    const original = getValueAt(this.original[place.message], place.path);
    if (typeof original !== 'string') throw new Error(`no text at ${placeKey(place)}`);
    return { place, original, cuts: [], text: original, strict: true };
  }

  makeMessageWith({ message, path }: Place, text: string): ApiMessage {
    return withValueAt(this.getMessage(message), path, text);
  }

  showState(state: PlaceState, message = this.makeMessageWith(state.place, state.text)): void {
    const states = this.shownPlaces[state.place.message] ?? NO_PLACE_STATES;
    const at = states.findIndex((other) => isSamePath(other.place.path, state.place.path));
    this.shownPlaces[state.place.message] = at < 0 ? [...states, state] : states.with(at, state);
    this.shownMessages[state.place.message] = message;
  }

  /** @throws Error if the edit does not fit the conversation */
  showCuts({ place, before, cuts, strict, id }: CutEdit): PlaceState {
    const state = this.getPlaceState(place);
    if (hashAt(this.original, place, state.original) !== before) throw createForeignEditError(id);
    const shown = { ...state, cuts, text: renderCuts(state.original, cuts), strict };
    this.showState(shown);
    return shown;
  }

  /** @throws Error if the edit does not fit the conversation */
  showWithoutBlock({ place, placeholder, before, id }: BlockEdit): void {
    const { message, path } = place;
    const block = JSON.stringify(getValueAt(this.original[message], path)) as string | undefined;
    if (block === undefined || hashText(block) !== before) throw createForeignEditError(id);
    const shown = placeholder ? { type: 'text', text: placeholder.text } : REMOVED_BLOCK;
    this.shownMessages[message] = withValueAt(this.getMessage(message), path, shown);
  }

  listSummariesIn(range: MessageRange): SummaryEdit[] {
    return this.shownSummaries.filter(({ start, end }) => start < range.end && end > range.start);
  }

  showSummary(summary: SummaryEdit): void {
    const { start, end, message } = summary;
    const isInside = (other: SummaryEdit): boolean => other.start >= start && other.end <= end;
    this.shownSummaries = [...this.shownSummaries.filter((other) => !isInside(other)), summary];
    for (let index = start; index < end; index++)
      this.shownMessages[index] = index === start ? message : HIDDEN_MESSAGE;
  }
}

const createForeignEditError = (id: string): Error => new Error(`the edit ${id} belongs to another conversation`);

export interface Checkpoint extends DraftContent {
  readonly edits: ReadonlyMap<string, Edit>;
  readonly tokens: number;
  readonly ruleStated: boolean;
}

export interface KnownDraft {
  readonly original: readonly ApiMessage[];
  readonly counter: MessageCounter;
  readonly edits: readonly Edit[];
  readonly state: Checkpoint;
  readonly references: ReadonlyMap<ReferenceId, Hash>;
}

/** A draft is cached as it began and as it ended, because its edits may be rejected. */
const MAX_DRAFTS = 2;

const newDrafts = (): { latest: readonly KnownDraft[] } => ({ latest: [] });

/**
 * Finds a cached draft of this conversation or its beginning whose edits, compared by identity,
 * begin `edits`.
 */
export function findKnownDraft(
  original: readonly ApiMessage[],
  counter: MessageCounter,
  edits: readonly Edit[],
): KnownDraft | undefined {
  return getConversationMemory(original)
    .getPart(newDrafts)
    .latest.filter(
      (known) =>
        known.counter === counter &&
        isPrefix(known.original, original) &&
        isPrefix(known.edits, edits) &&
        canShow(known, edits.slice(known.edits.length)),
    )
    .reduce<KnownDraft | undefined>((a, b) => (a && a.edits.length >= b.edits.length ? a : b), undefined);
}

export function rememberDraft(draft: KnownDraft): void {
  const drafts = getConversationMemory(draft.original).getPart(newDrafts);
  drafts.latest = [draft, ...drafts.latest].slice(0, MAX_DRAFTS);
}

/** Only cuts outside of summaries can be added later, because the order of other edits matters. */
const canShow = ({ state: { summaries } }: KnownDraft, rest: readonly Edit[]): boolean =>
  rest.every(
    (edit) =>
      edit.kind === 'cut' &&
      summaries.every(({ start, end }) => edit.place.message < start || edit.place.message >= end),
  );

function isPrefix<T>(short: readonly T[], long: readonly T[]): boolean {
  if (short.length > long.length) return false;
  for (let at = 0; at < short.length; at++) if (short[at] !== long[at]) return false;
  return true;
}
