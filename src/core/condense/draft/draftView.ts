import { hashText, type Hash } from '../../hash';
import { isSamePath, getValueAt, replaceValueAt } from '../../messages/path';
import type { ApiMessage, Block, ContentPlace } from '../../messages/types';
import {
  hashTextAtPlace,
  makePlaceKey,
  renderCuts,
  type BlockEdit,
  type CutEdit,
  type Edit,
  type SummaryEdit,
} from '../edits/edits';
import { getConversationMemory } from '../conversationMemory';
import type { MessageRange } from '../../messages/messageRange';
import type { TextAtPlaceWithCuts } from './cuts';
import type { MessageCounter } from '../../tokens/messageCounter';
import type { ReferenceId } from '../../messages/markers';

export interface DraftViewState {
  readonly messages: readonly ApiMessage[];
  readonly places: readonly (readonly TextAtPlaceWithCuts[])[];
  readonly summaries: readonly SummaryEdit[];
}

const NO_TEXTS_WITH_CUTS: readonly TextAtPlaceWithCuts[] = [];

/** Replaces removed thinking in a draft's view; it has no tokens. */
const REMOVED_BLOCK: Block = { type: 'thinking', thinking: '' };

export const HIDDEN_MESSAGE: ApiMessage = { role: 'user', content: [] };

/** Messages and blocks keep their indexes: placeholders without tokens replace removed ones. */
export class DraftView {
  private shownPlaces: (readonly TextAtPlaceWithCuts[])[] = [];
  private shownMessages: ApiMessage[] = [];
  private shownSummaries: readonly SummaryEdit[] = [];

  constructor(
    private readonly original: readonly ApiMessage[],
    initial: DraftViewState = { messages: [], places: [], summaries: [] },
  ) {
    this.restoreState(initial);
  }

  saveState(): DraftViewState {
    return { messages: [...this.shownMessages], places: [...this.shownPlaces], summaries: this.shownSummaries };
  }

  restoreState({ messages, places, summaries }: DraftViewState): void {
    const addedMessages = this.original.slice(messages.length);
    this.shownMessages = [...messages, ...addedMessages];
    this.shownPlaces = [...places, ...addedMessages.map(() => NO_TEXTS_WITH_CUTS)];
    this.shownSummaries = summaries;
  }

  get messages(): readonly ApiMessage[] {
    return this.shownMessages;
  }

  get summaries(): readonly SummaryEdit[] {
    return this.shownSummaries;
  }

  get places(): readonly (readonly TextAtPlaceWithCuts[])[] {
    if (this.shownSummaries.length === 0) return this.shownPlaces;
    return this.shownPlaces.map((states, message) => (this.isSummarized(message) ? NO_TEXTS_WITH_CUTS : states));
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
  getTextWithCutsAt(place: ContentPlace): TextAtPlaceWithCuts {
    const knownState = this.shownPlaces[place.message]?.find((state) => isSamePath(state.place.path, place.path));
    if (knownState) return knownState;
    const original = getValueAt(this.original[place.message], place.path);
    if (typeof original !== 'string') throw new Error(`no text at ${makePlaceKey(place)}`);
    return { place, original, cuts: [], text: original, strict: true };
  }

  makeMessageWithText({ message, path }: ContentPlace, text: string): ApiMessage {
    return replaceValueAt(this.getMessage(message), path, text);
  }

  showTextWithCuts(state: TextAtPlaceWithCuts, message = this.makeMessageWithText(state.place, state.text)): void {
    const states = this.shownPlaces[state.place.message] ?? NO_TEXTS_WITH_CUTS;
    const stateIndex = states.findIndex((other) => isSamePath(other.place.path, state.place.path));
    this.shownPlaces[state.place.message] = stateIndex < 0 ? [...states, state] : states.with(stateIndex, state);
    this.shownMessages[state.place.message] = message;
  }

  /** @throws Error if the edit does not fit the conversation */
  showCuts({ place, before: hashBefore, cuts, strict, id }: CutEdit): TextAtPlaceWithCuts {
    const state = this.getTextWithCutsAt(place);
    if (hashTextAtPlace(this.original, place, state.original) !== hashBefore) throw createForeignEditError(id);
    const shownText = { ...state, cuts, text: renderCuts(state.original, cuts), strict };
    this.showTextWithCuts(shownText);
    return shownText;
  }

  /** @throws Error if the edit does not fit the conversation */
  hideBlock({ place, placeholder, before: hashBefore, id }: BlockEdit): void {
    const { message, path } = place;
    const block = JSON.stringify(getValueAt(this.original[message], path)) as string | undefined;
    if (block === undefined || hashText(block) !== hashBefore) throw createForeignEditError(id);
    const shownBlock = placeholder ? { type: 'text', text: placeholder.text } : REMOVED_BLOCK;
    this.shownMessages[message] = replaceValueAt(this.getMessage(message), path, shownBlock);
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

export interface DraftCheckpoint extends DraftViewState {
  readonly edits: ReadonlyMap<string, Edit>;
  readonly tokens: number;
  readonly ruleStated: boolean;
}

export interface RememberedDraft {
  readonly original: readonly ApiMessage[];
  readonly counter: MessageCounter;
  readonly edits: readonly Edit[];
  readonly state: DraftCheckpoint;
  readonly references: ReadonlyMap<ReferenceId, Hash>;
}

/** A draft is cached in its first and in its last state, because its edits may be rejected. */
const MAX_REMEMBERED_DRAFTS = 2;

const createRememberedDrafts = (): { latest: readonly RememberedDraft[] } => ({ latest: [] });

/**
 * Finds a cached draft of this conversation, or of its beginning, whose edits are the first of
 * `edits` (compared by identity).
 */
export function findRememberedDraft(
  original: readonly ApiMessage[],
  counter: MessageCounter,
  edits: readonly Edit[],
): RememberedDraft | undefined {
  return getConversationMemory(original)
    .getOrCreate(createRememberedDrafts)
    .latest.filter(
      (remembered) =>
        remembered.counter === counter &&
        isPrefix(remembered.original, original) &&
        isPrefix(remembered.edits, edits) &&
        canAddEditsToDraft(remembered, edits.slice(remembered.edits.length)),
    )
    .reduce<RememberedDraft | undefined>((a, b) => (a && a.edits.length >= b.edits.length ? a : b), undefined);
}

export function rememberDraft(draft: RememberedDraft): void {
  const drafts = getConversationMemory(draft.original).getOrCreate(createRememberedDrafts);
  drafts.latest = [draft, ...drafts.latest].slice(0, MAX_REMEMBERED_DRAFTS);
}

/** Only cuts outside of summaries can be added later, because the order of other edits matters. */
const canAddEditsToDraft = ({ state: { summaries } }: RememberedDraft, rest: readonly Edit[]): boolean =>
  rest.every(
    (edit) =>
      edit.kind === 'cut' &&
      summaries.every(({ start, end }) => edit.place.message < start || edit.place.message >= end),
  );

function isPrefix<T>(prefix: readonly T[], list: readonly T[]): boolean {
  if (prefix.length > list.length) return false;
  for (let index = 0; index < prefix.length; index++) if (prefix[index] !== list[index]) return false;
  return true;
}
