import { hashText, type Hash } from '../hash';
import { blocksOf } from '../messages/blocks';
import { isSamePath, valueAt, withValueAt } from '../messages/path';
import { taskIndex } from '../messages/task';
import type { ApiMessage, Block, Place } from '../messages/types';
import type { MessageCounter } from '../tokens/messageCounter';
import type { CutInfo, CutRequest } from './cutRequest';
import {
  hashAt,
  lastByPlace,
  placeKey,
  renderCuts,
  type BlockEdit,
  type Cut,
  type CutEdit,
  type Edit,
  type EditId,
  type SummaryEdit,
} from './edits';
import { knownView, rememberView, type ViewState } from './knownViews';
import { isOneMarker, marker, referenceFor, tellsRule, withoutRule, withRule, type ReferenceId } from './markers';
import { mergeCuts, originalRanges, type PlaceState, type Slice } from './placeState';
import { hasShortReferences, refuse, wasRefused, wishKey } from './refusedWishes';

/** What {@link Draft.rollback} goes back to. */
export interface Checkpoint extends ViewState {
  readonly edits: ReadonlyMap<string, Edit>;
}

const NO_PLACES: readonly PlaceState[] = [];

/** Stands in the draft for thinking that was taken out: no tokens. */
const GONE: Block = { type: 'thinking', thinking: '' };

/** Stands in the draft for a message that a summary took in: nothing to see, nothing to edit, no tokens. */
const HIDDEN: ApiMessage = { role: 'user', content: [] };

/**
 * A view in the making. Providers ask for cuts in the text as it now stands; the draft keeps each as a cut of the
 * original, refuses what would not save tokens, and hands out the edits at the end.
 */
export class Draft {
  private places: (readonly PlaceState[])[];
  private view: ApiMessage[];
  private made = new Map<string, Edit>();
  private total: number;
  private ruleTold = false;
  private summaries: readonly SummaryEdit[] = [];
  /** Never rolled back: an id that was given once keeps its meaning. */
  private readonly references: Map<ReferenceId, Hash>;
  /** Index of the task, with which the conversation begins; -1 where there is none. */
  readonly task: number;

  /**
   * @param original the immutable conversation.
   * @param active edits of earlier condensations, which the view starts with; where a draft over the same conversation
   *   had them before, this one costs what is new.
   * @throws Error where an edit doesn't belong to the conversation; drop stale edits first.
   */
  constructor(
    readonly original: readonly ApiMessage[],
    readonly counter: MessageCounter,
    private readonly active: readonly Edit[] = [],
  ) {
    this.task = taskIndex(original);
    const known = knownView(original, counter, active);
    const added = original.slice(known?.original.length ?? 0);
    this.view = [...(known?.state.messages ?? []), ...added];
    this.places = [...(known?.state.places ?? []), ...added.map(() => NO_PLACES)];
    this.references = new Map(known?.references);
    this.ruleTold = known?.state.ruleTold ?? false;
    this.summaries = known?.state.summaries ?? [];
    this.total = (known?.state.tokens ?? 0) + this.tokensOf(added);
    const rest = active.slice(known?.edits.length ?? 0);
    if (rest.length > 0) this.showAll(lastByPlace(rest));
  }

  private showAll(edits: readonly Edit[]): void {
    const blocks: BlockEdit[] = [];
    for (const edit of edits) {
      if (edit.kind === 'cut') this.showCuts(edit);
      else if (edit.kind === 'block') blocks.push(edit);
      else {
        this.references.set(edit.reference, edit.before);
        this.summaries = [...this.summaries, edit];
      }
    }
    for (const edit of blocks) this.showWithoutBlock(edit);
    for (const summary of this.summaries) this.hide(summary);
    this.ruleTold = this.places.some((states) => states.some(({ cuts }) => cuts.some(({ text }) => tellsRule(text))));
    this.total = this.tokensOf(this.view);
    this.remember();
  }

  /** A draft that stands as this one does and goes its own way from here. */
  copy(): Draft {
    const copy = new Draft(this.original, this.counter, this.active);
    copy.rollback(this.checkpoint());
    for (const [id, hash] of this.references) copy.references.set(id, hash);
    return copy;
  }

  /**
   * The view as it now stands, by the original's indexes: of a summarized range the first message is the summary, the
   * others are empty.
   */
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

  /**
   * Makes cuts in the text at a place. A cut that would save nothing is left out, and so is the whole request where the
   * message would hardly shrink.
   * @returns the tokens saved, 0 where nothing was done.
   */
  cut(step: string, place: Place, requests: readonly CutRequest[], info: CutInfo): number {
    if (this.isSummarized(place.message)) return 0;
    const state = this.stateOf(place);
    const wish = wishKey(place, requests, info);
    if (wasRefused(this.messageAt(place.message), wish)) return 0;
    const told = this.ruleTold;
    const cuts = this.compose(state, requests, info.strict);
    if (cuts === state.cuts) return 0;
    const text = renderCuts(state.original, cuts);
    const changed: PlaceState = { ...state, cuts, text, strict: state.strict && info.strict };
    const message = this.messageAt(place.message);
    this.show(changed);
    const tokens = { before: this.counter.text(state.text), after: this.counter.text(text) };
    const before = this.tokensAt(message, place, tokens.before);
    const saved = before - this.tokensAt(this.messageAt(place.message), place, tokens.after);
    const judged = this.ruleTold === told ? saved : before - this.tokensWithoutRule(changed);
    if (judged < MIN_SAVED || saved <= 0 || this.leavesBlank(place)) {
      this.setState(state);
      this.view[place.message] = message;
      this.ruleTold = told;
      if (judged < MIN_SAVED && hasShortReferences(cuts)) refuse(message, wish);
      return 0;
    }
    this.total -= saved;
    this.record(step, changed, info, tokens);
    return saved;
  }

  /**
   * Takes a block that is not text out whole. In the draft something without tokens stands for one that goes, so that the
   * other blocks keep their places.
   * @param what what a marker in its place says; null for none.
   * @returns the tokens saved, 0 where nothing was done.
   */
  takeBlock(step: string, place: Place, what: string | null, info: { readonly reason: string }): number {
    if (this.isSummarized(place.message)) return 0;
    const block = valueAt(this.original[place.message], place.path) as Block;
    if (valueAt(this.view[place.message], place.path) !== block) return 0;
    const before = hashText(JSON.stringify(block));
    const reference = what === null ? undefined : referenceFor(before, this.references);
    const standIn = what === null || reference === undefined ? undefined : { text: marker(what, reference), reference };
    const tokensBefore = this.counter.block(block);
    const tokensAfter = standIn ? this.counter.text(standIn.text) : 0;
    if (tokensBefore <= tokensAfter) return 0;
    const key = `${step} ${placeKey(place)}`;
    const id = hashText(`${key} ${standIn?.text ?? ''}`).slice(0, 16) as EditId;
    const kind = { kind: 'block', id, step, ...info, strict: false } as const;
    const edit: BlockEdit = { ...kind, place, before, ...(standIn && { standIn }), tokensBefore, tokensAfter };
    this.made.set(key, edit);
    this.showWithoutBlock(edit);
    this.total -= tokensBefore - tokensAfter;
    return tokensBefore - tokensAfter;
  }

  private showWithoutBlock({ place, standIn, before, id }: BlockEdit): void {
    const { message, path } = place;
    const original = JSON.stringify(valueAt(this.original[message], path)) as string | undefined;
    if (original === undefined || hashText(original) !== before) {
      throw new Error(`the edit ${id} belongs to another conversation`);
    }
    if (standIn) this.references.set(standIn.reference, before);
    const shown = standIn ? { type: 'text', text: standIn.text } : GONE;
    this.view[message] = withValueAt(this.messageAt(message), path, shown);
  }

  /** Remembers the view: a draft over the conversation with these edits, or one over what it has grown to, has it at once. */
  remember(): void {
    const { original, counter } = this;
    const edits = [...this.active, ...this.made.values()];
    rememberView({ original, counter, edits, state: this.checkpoint(), references: new Map(this.references) });
  }

  /** By message the places of which something was cut; the very same list while nothing changes there. */
  get shown(): readonly (readonly PlaceState[])[] {
    if (this.summaries.length === 0) return this.places;
    return this.places.map((states, message) => (this.isSummarized(message) ? NO_PLACES : states));
  }

  /**
   * Takes cuts of a place back: what they left out stands there again.
   * @param taken the cuts to take back.
   */
  restore(step: string, place: Place, taken: ReadonlySet<Cut>, info: CutInfo): void {
    const state = this.stateOf(place);
    const cuts = state.cuts.filter((cut) => !taken.has(cut));
    if (cuts.length === state.cuts.length) return;
    const before = this.counter.message(this.messageAt(place.message));
    const text = renderCuts(state.original, cuts);
    const changed = { ...state, cuts, text, strict: !cuts.some((cut) => cut.recoverable) };
    this.show(changed);
    this.total += this.counter.message(this.messageAt(place.message)) - before;
    if (state.cuts.some((cut) => taken.has(cut) && tellsRule(cut.text))) this.ruleTold = false;
    this.record(step, changed, info, { before: this.counter.text(state.text), after: this.counter.text(text) });
  }

  /**
   * Puts a summary in the place of a range of messages; earlier summaries that the range touches become part of it.
   * @param range indexes in the original; the message at `end` is the first behind it.
   * @param info what the report says of it.
   * @returns the tokens saved, 0 where nothing was done because none would be.
   */
  summarize(
    step: string,
    range: { readonly start: number; readonly end: number },
    message: ApiMessage,
    info: { readonly reason: string },
  ): number {
    const touched = this.summaries.filter(({ start, end }) => start < range.end && end > range.start);
    const start = Math.min(range.start, ...touched.map((summary) => summary.start));
    const end = Math.max(range.end, ...touched.map((summary) => summary.end));
    const tokensBefore = this.tokensOf(this.view.slice(start, end));
    const tokensAfter = this.counter.message(message);
    if (tokensAfter >= tokensBefore) return 0;
    const before = hashText(JSON.stringify(this.original.slice(start, end)));
    const reference = referenceFor(before, this.references);
    this.references.set(reference, before);
    const id = hashText(`${step} ${before} ${JSON.stringify(message)}`).slice(0, 16) as EditId;
    const summary: SummaryEdit = {
      kind: 'summary',
      id,
      step,
      ...info,
      strict: false,
      start,
      end,
      message,
      reference,
      before,
      tokensBefore,
      tokensAfter,
    };
    this.summaries = [...this.summaries.filter((other) => !touched.includes(other)), summary];
    this.hide(summary);
    this.made.set(`${step} summary ${start}-${end}`, summary);
    this.total -= tokensBefore - tokensAfter;
    return tokensBefore - tokensAfter;
  }

  /** Shows a place with its edit of an earlier condensation. */
  private showCuts(edit: CutEdit): void {
    const state = this.stateOf(edit.place);
    const { original } = state;
    if (hashAt(this.original, edit.place, original) !== edit.before)
      throw new Error(`the edit ${edit.id} belongs to another conversation`);
    this.show({ ...state, cuts: edit.cuts, text: renderCuts(original, edit.cuts), strict: edit.strict });
    for (const { reference, start, end } of edit.cuts)
      if (reference !== undefined) this.references.set(reference, hashText(original.slice(start, end)));
  }

  private hide({ start, end, message }: SummaryEdit): void {
    for (let index = start; index < end; index++) this.view[index] = index === start ? message : HIDDEN;
  }

  private isSummarized(message: number): boolean {
    return this.summaries.some(({ start, end }) => message >= start && message < end);
  }

  private tokensOf(messages: readonly ApiMessage[]): number {
    return this.counter.messages(messages.filter((message) => message !== HIDDEN));
  }

  checkpoint(): Checkpoint {
    return {
      places: [...this.places],
      messages: [...this.view],
      edits: new Map(this.made),
      tokens: this.total,
      ruleTold: this.ruleTold,
      summaries: this.summaries,
    };
  }

  /** Drops all that was done since the checkpoint. */
  rollback(checkpoint: Checkpoint): void {
    this.places = [...checkpoint.places];
    this.view = [...checkpoint.messages];
    this.made = new Map(checkpoint.edits);
    this.total = checkpoint.tokens;
    this.ruleTold = checkpoint.ruleTold;
    this.summaries = checkpoint.summaries;
  }

  private messageAt(index: number): ApiMessage {
    const message = this.view[index];
    if (!message) throw new Error(`no message ${index}`);
    return message;
  }

  private stateOf(place: Place): PlaceState {
    const known = this.places[place.message]?.find((state) => isSamePath(state.place.path, place.path));
    if (known) return known;
    const original = valueAt(this.original[place.message], place.path);
    if (typeof original !== 'string') throw new Error(`no text at ${placeKey(place)}`);
    return { place, original, cuts: [], text: original, strict: true };
  }

  private show(state: PlaceState): void {
    const { message, path } = state.place;
    this.setState(state);
    this.view[message] = withValueAt(this.messageAt(message), path, state.text);
  }

  private setState(state: PlaceState): void {
    const { message, path } = state.place;
    const states = this.places[message] ?? NO_PLACES;
    const at = states.findIndex((other) => isSamePath(other.place.path, path));
    this.places[message] = at < 0 ? [...states, state] : states.with(at, state);
  }

  /**
   * Tokens of what changes with a place, give or take a constant: its text where the text is counted as it stands, else the
   * block that holds it.
   */
  private tokensAt(message: ApiMessage, place: Place, textTokens: number): number {
    const block = blocksOf(message)[Number(place.path[1])];
    const isText = place.path.at(-1) === 'text' || place.path.length === RESULT_DEPTH;
    return !block || (block.type !== 'tool_use' && isText) ? textTokens : this.counter.block(block);
  }

  /** The same as it would be if the rule had been told before. */
  private tokensWithoutRule({ place, original, cuts }: PlaceState): number {
    const plain = renderCuts(
      original,
      cuts.map((cut) => ({ ...cut, text: withoutRule(cut.text) })),
    );
    const message = withValueAt(this.messageAt(place.message), place.path, plain);
    return this.tokensAt(message, place, this.counter.text(plain));
  }

  /** No API takes a blank text. */
  private leavesBlank(place: Place): boolean {
    const value = this.text(place);
    if (value.trim() !== '') return false;
    const block = blocksOf(this.messageAt(place.message))[Number(place.path[1])];
    return block?.type !== 'tool_use';
  }

  /** The state's cuts with the requested ones added; the very same list where none of them saves anything. */
  private compose(state: PlaceState, requests: readonly CutRequest[], strict: boolean): readonly Cut[] {
    const { text } = state;
    const rangeOf = originalRanges(state);
    const made: Cut[] = [];
    let reached = 0;
    for (const request of requests.toSorted(byStart)) {
      if (request.start < reached || request.end <= request.start || request.end > text.length) continue;
      reached = request.end;
      const { start, end } = rangeOf(request);
      // Two slices may touch one marker, which belongs to the first.
      if (start < (made.at(-1)?.end ?? 0)) continue;
      const standing = text.slice(request.start, request.end);
      if (isOneMarker(standing)) continue;
      const cut = this.makeCut(state.original, { start, end }, request, strict);
      if (!this.saves(standing, cut.text)) continue;
      made.push(cut);
    }
    return made.length === 0 ? state.cuts : this.tellRule(state.cuts, mergeCuts(state.cuts, made));
  }

  /** The first new marker tells the rule where no other marker of the view does, or does any more. */
  private tellRule(old: readonly Cut[], cuts: readonly Cut[]): readonly Cut[] {
    const tells = (list: readonly Cut[]): boolean => list.some((cut) => tellsRule(cut.text));
    if (this.ruleTold && (tells(cuts) || !tells(old))) return cuts;
    const known = new Set(old);
    const first = cuts.findIndex((cut) => cut.reference !== undefined && !known.has(cut));
    const teller = cuts[first];
    this.ruleTold = teller !== undefined;
    return teller ? cuts.with(first, { ...teller, text: withRule(teller.text) }) : cuts;
  }

  /** A long slice saves more than any marker costs: only the short ones are counted. */
  private saves(standing: string, replacement: string): boolean {
    if (replacement === '') return standing !== '';
    if (standing.length > 4 * replacement.length) return true;
    return this.counter.text(standing) > this.counter.text(replacement);
  }

  private makeCut(original: string, slice: Slice, { marker: what, summary }: CutRequest, strict: boolean): Cut {
    const { start, end } = slice;
    const kind = strict ? {} : ({ recoverable: true } as const);
    if (what === null) return { start, end, text: '', ...kind };
    const hash = hashText(original.slice(start, end));
    const reference = referenceFor(hash, this.references);
    this.references.set(reference, hash);
    const text = marker(what, reference);
    return { start, end, text: summary === undefined ? text : `${summary}\n${text}`, reference, ...kind };
  }

  private record(
    step: string,
    state: PlaceState,
    info: CutInfo,
    tokens: { readonly before: number; readonly after: number },
  ): void {
    const key = `${step} ${placeKey(state.place)}`;
    const earlier = this.made.get(key);
    // What was made last stands last.
    this.made.delete(key);
    this.made.set(key, {
      kind: 'cut',
      id: hashText(`${key}${state.cuts.map((cut) => ` ${cut.start}-${cut.end}${cut.text}`).join('')}`).slice(
        0,
        16,
      ) as EditId,
      place: state.place,
      contentType: info.contentType,
      before: hashAt(this.original, state.place, state.original),
      cuts: state.cuts,
      step,
      reason: info.reason,
      strict: state.strict,
      tokensBefore: earlier?.tokensBefore ?? tokens.before,
      tokensAfter: tokens.after,
    });
  }
}

/** `content, 2, content`: the string of a tool's result. */
const RESULT_DEPTH = 3;

/**
 * Tokens that a change of one place must save. A marker that saves less only clutters the view; and it is more than the
 * rule costs, so that the marker that happens to tell it is judged like any other.
 */
const MIN_SAVED = 16;

const byStart = (a: { readonly start: number }, b: { readonly start: number }): number => a.start - b.start;
