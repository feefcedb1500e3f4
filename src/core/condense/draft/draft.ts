import { hashText, type Hash } from '../../hash';
import { getBlocks } from '../../messages/blocks';
import { getValueAt } from '../../messages/path';
import { findTaskMessage } from '../../messages/task';
import type { ApiMessage, Block, ContentPlace } from '../../messages/types';
import type { MessageCounter } from '../../tokens/messageCounter';
import {
  containMarkerRule,
  hasShortReferences,
  mergeCuts,
  createCuts,
  createRejectedCuts,
  addMarkerRuleOnce,
  makeKeyOfRejectedCuts,
  type CutDetails,
  type CutRequest,
  type TextAtPlaceWithCuts,
} from './cuts';
import { Exchanges, type ToolExchange } from '../../messages/exchanges';
import { getConversationMemory, type ConversationMemory } from '../conversationMemory';
import { DraftView, HIDDEN_MESSAGE, findRememberedDraft, rememberDraft, type DraftCheckpoint } from './draftView';
import {
  hashBlock,
  hashTextAtPlace,
  selectLastEditPerPlace,
  makePlaceKey,
  renderCuts,
  type Cut,
  type Edit,
} from '../edits/edits';
import type { PipelineWork } from './work';
import {
  createBlockEdit,
  createCutEdit,
  getEditKey,
  createSummaryEdit,
  getSummaryKey,
  type TokensBeforeAndAfter,
} from './madeEdits';
import { makeMarker, makeUniqueReference, removeMarkerRule, type ReferenceId } from '../../messages/markers';
import type { MessageRange } from '../../messages/messageRange';
import { isEqual } from '../../isEqual';

/**
 * A view in the making: turns cuts in the current text into edits of the original and rejects those
 * that save no tokens.
 */
export class Draft implements PipelineWork {
  private readonly view: DraftView;
  private madeEdits = new Map<string, Edit>();
  private cachedEdits: readonly Edit[] | undefined;
  private readonly textsWithoutNewCuts = new Map<string, TextAtPlaceWithCuts>();
  private totalTokens: number;
  private cutsBefore: ReadonlySet<Cut> | undefined;
  private isRuleStated: boolean;
  private readonly releaseListeners: (() => void)[] = [];
  /** A rollback keeps references, so that an ID always names the same text. */
  private readonly references: Map<ReferenceId, Hash>;
  /** Index of the first user message; -1 if there is none. */
  readonly task: number;
  readonly memory: ConversationMemory;
  private cachedExchanges: readonly ToolExchange[] | undefined;

  /**
   * @param activeEdits edits of earlier condensations
   * @param sentCount number of leading messages that must not change, because a vendor has cached
   *   them
   * @throws Error if an edit does not fit the conversation; drop stale edits first
   */
  constructor(
    readonly original: readonly ApiMessage[],
    readonly counter: MessageCounter,
    private readonly activeEdits: readonly Edit[] = [],
    readonly sentCount = 0,
  ) {
    this.task = findTaskMessage(original);
    this.memory = getConversationMemory(original);
    const knownDraft = findRememberedDraft(original, counter, activeEdits);
    this.view = new DraftView(original, knownDraft?.state);
    this.references = new Map(knownDraft?.references);
    this.isRuleStated = knownDraft?.state.ruleStated ?? false;
    this.totalTokens =
      (knownDraft?.state.tokens ?? 0) + this.countVisibleTokens(original.slice(knownDraft?.original.length ?? 0));
    const newEdits = activeEdits.slice(knownDraft?.edits.length ?? 0);
    if (newEdits.length > 0) this.showEditsInView(selectLastEditPerPlace(newEdits));
  }

  /** Shows cuts first, because block edits and summaries remove messages that contain cuts. */
  private showEditsInView(edits: readonly Edit[]): void {
    for (const edit of edits) {
      if (edit.kind !== 'cut') continue;
      const { original } = this.view.showCuts(edit);
      for (const { reference, start, end } of edit.cuts)
        if (reference !== undefined) this.references.set(reference, hashText(original.slice(start, end)));
    }
    for (const edit of edits) {
      if (edit.kind !== 'block') continue;
      this.view.hideBlock(edit);
      if (edit.placeholder) this.references.set(edit.placeholder.reference, edit.before);
    }
    for (const edit of edits) {
      if (edit.kind !== 'summary') continue;
      this.view.showSummary(edit);
      this.references.set(edit.reference, edit.before);
    }
    this.isRuleStated = this.view.places.some((states) => states.some(({ cuts }) => containMarkerRule(cuts)));
    this.totalTokens = this.countVisibleTokens(this.view.messages);
    this.rememberDraftWithEdits();
  }

  copyDraft(): Draft {
    const draftCopy = new Draft(this.original, this.counter, this.activeEdits, this.sentCount);
    draftCopy.restoreState(this.saveState());
    for (const [id, hash] of this.references) draftCopy.references.set(id, hash);
    for (const [place, state] of this.textsWithoutNewCuts) draftCopy.textsWithoutNewCuts.set(place, state);
    return draftCopy;
  }

  /**
   * Keeps the original's indexes: a summary replaces the first message of its range, the others are
   * empty.
   */
  get messages(): readonly ApiMessage[] {
    return this.view.messages;
  }

  get exchanges(): readonly ToolExchange[] {
    return (this.cachedExchanges ??= this.memory.getOrCreate(createEmptyViewExchanges).getExchanges(this.messages));
  }

  get tokens(): number {
    return this.totalTokens;
  }

  /** Returns only the last edit for each step and place. */
  get edits(): readonly Edit[] {
    return (this.cachedEdits ??= this.listEdits());
  }

  private listEdits(): readonly Edit[] {
    const madeEdits = [...this.madeEdits.values()];
    const unchangedKeys = new Set<string>();
    for (const edit of madeEdits) {
      if (edit.operation !== 'restore' || edit.kind !== 'cut') continue;
      const key = makePlaceKey(edit.place);
      const textBefore = this.textsWithoutNewCuts.get(key);
      if (textBefore && isSameTextWithCuts(textBefore, this.view.getTextWithCutsAt(edit.place))) unchangedKeys.add(key);
    }
    return unchangedKeys.size === 0
      ? madeEdits
      : madeEdits.filter((edit) => edit.kind !== 'cut' || !unchangedKeys.has(makePlaceKey(edit.place)));
  }

  /** Tokens of all restored text, even if later edits removed it again. */
  get restoredTokens(): number {
    let restoredTokens = 0;
    for (const edit of this.madeEdits.values()) if (edit.operation === 'restore') restoredTokens += edit.tokensAfter;
    return restoredTokens;
  }

  getText(place: ContentPlace): string {
    const value = getValueAt(this.view.messages[place.message], place.path);
    if (typeof value !== 'string') throw new Error(`no text at ${makePlaceKey(place)}`);
    return value;
  }

  get earlierCuts(): ReadonlySet<Cut> {
    return (this.cutsBefore ??= new Set(this.activeEdits.flatMap((edit) => (edit.kind === 'cut' ? edit.cuts : []))));
  }

  /** The places with cuts, by message index. An unchanged list keeps its identity. */
  get shown(): readonly (readonly TextAtPlaceWithCuts[])[] {
    return this.view.places;
  }

  /**
   * Skips cuts that save nothing, and skips all cuts if the message would hardly shrink.
   * @returns tokens saved
   */
  cutText(step: string, place: ContentPlace, requests: readonly CutRequest[], info: CutDetails): number {
    if (place.message < this.sentCount || this.view.isSummarized(place.message)) return 0;
    const textWithCuts = this.view.getTextWithCutsAt(place);
    const message = this.view.getMessage(place.message);
    const cutKey = makeKeyOfRejectedCuts(place, requests, info);
    const rejectedCuts = this.memory.getOrCreate(createRejectedCuts);
    if (rejectedCuts.wasRejected(message, cutKey)) return 0;
    const newCuts = createCuts(textWithCuts, requests, info.strict, this.counter, this.references);
    if (newCuts.length === 0) return 0;
    const { cuts, ruleStated } = addMarkerRuleOnce(
      textWithCuts.cuts,
      mergeCuts(textWithCuts.cuts, newCuts),
      this.isRuleStated,
    );
    const changedText = makeTextWithCuts(textWithCuts, cuts, textWithCuts.strict && info.strict);
    const shrunkMessage = this.view.makeMessageWithText(place, changedText.text);
    const tokensBefore = this.countTokensAtPlace(message, textWithCuts);
    const savedTokens = tokensBefore - this.countTokensAtPlace(shrunkMessage, changedText);
    const savingWithoutRule =
      ruleStated === this.isRuleStated ? savedTokens : tokensBefore - this.countTokensWithoutMarkerRule(changedText);
    if (savingWithoutRule < MIN_TOKENS_SAVED_BY_MARKER || savedTokens <= 0 || this.leavesOnlyBlankText(changedText)) {
      if (savingWithoutRule < MIN_TOKENS_SAVED_BY_MARKER && hasShortReferences(cuts))
        rejectedCuts.addRejected(message, cutKey);
      return 0;
    }
    this.view.showTextWithCuts(changedText, shrunkMessage);
    this.isRuleStated = ruleStated;
    this.totalTokens -= savedTokens;
    this.recordEdit(step, textWithCuts, changedText, info);
    return savedTokens;
  }

  restoreCuts(step: string, place: ContentPlace, removedCuts: ReadonlySet<Cut>, info: CutDetails): void {
    if (place.message < this.sentCount) return;
    const state = this.view.getTextWithCutsAt(place);
    const cuts = state.cuts.filter((cut) => !removedCuts.has(cut));
    if (cuts.length === state.cuts.length) return;
    const tokensBefore = this.counter.countMessage(this.view.getMessage(place.message));
    const changedText = makeTextWithCuts(state, cuts, !cuts.some((cut) => cut.recoverable));
    this.view.showTextWithCuts(changedText);
    this.totalTokens += this.counter.countMessage(this.view.getMessage(place.message)) - tokensBefore;
    if (containMarkerRule(state.cuts.filter((cut) => removedCuts.has(cut)))) this.isRuleStated = false;
    this.recordEdit(step, state, changedText, info);
  }

  /**
   * @param marker words of the marker; null for none
   * @returns tokens saved
   */
  removeBlock(step: string, place: ContentPlace, marker: string | null, info: { readonly reason: string }): number {
    if (place.message < this.sentCount || this.view.isSummarized(place.message)) return 0;
    const block = getValueAt(this.original[place.message], place.path) as Block;
    if (getValueAt(this.view.messages[place.message], place.path) !== block) return 0;
    const hashBefore = hashBlock(block);
    const placeholder = marker === null ? undefined : this.createBlockPlaceholder(hashBefore, marker);
    const tokensBefore = this.counter.countBlock(block);
    const tokensAfter = placeholder ? this.counter.countText(placeholder.text) : 0;
    if (tokensBefore <= tokensAfter) return 0;
    const edit = createBlockEdit(step, {
      place,
      before: hashBefore,
      ...(placeholder && { placeholder }),
      ...info,
      tokensBefore,
      tokensAfter,
    });
    if (placeholder) this.references.set(placeholder.reference, hashBefore);
    this.view.hideBlock(edit);
    this.storeMadeEdit(getEditKey(step, place), edit);
    this.totalTokens -= tokensBefore - tokensAfter;
    return tokensBefore - tokensAfter;
  }

  private createBlockPlaceholder(
    hashBefore: Hash,
    description: string,
  ): { readonly text: string; readonly reference: ReferenceId } {
    const reference = makeUniqueReference(hashBefore, this.references);
    return { text: makeMarker(description, reference), reference };
  }

  /**
   * The new summary absorbs earlier ones that overlap the range.
   * @returns tokens saved
   */
  replaceWithSummary(
    step: string,
    range: MessageRange,
    message: ApiMessage,
    info: { readonly reason: string },
  ): number {
    const touchedSummaries = this.view.listSummariesIn(range);
    const start = Math.min(range.start, ...touchedSummaries.map((summary) => summary.start));
    const end = Math.max(range.end, ...touchedSummaries.map((summary) => summary.end));
    const tokensBefore = this.countVisibleTokens(this.view.messages.slice(start, end));
    const tokensAfter = this.counter.countMessage(message);
    if (tokensAfter >= tokensBefore) return 0;
    const hashBefore = hashText(JSON.stringify(this.original.slice(start, end)));
    const reference = makeUniqueReference(hashBefore, this.references);
    this.references.set(reference, hashBefore);
    const tokens = { tokensBefore, tokensAfter };
    const summary = createSummaryEdit(step, { start, end, message, reference, before: hashBefore, ...info, ...tokens });
    this.view.showSummary(summary);
    this.storeMadeEdit(getSummaryKey(step, summary), summary);
    this.totalTokens -= tokensBefore - tokensAfter;
    return tokensBefore - tokensAfter;
  }

  /** @param madeEdits edits that produce the same view; default those of this draft */
  rememberDraftWithEdits(madeEdits: readonly Edit[] = this.edits): void {
    const { original, counter } = this;
    const edits = [...this.activeEdits, ...madeEdits];
    rememberDraft({ original, counter, edits, state: this.saveState(), references: new Map(this.references) });
  }

  addReleaseListener(release: () => void): void {
    this.releaseListeners.push(release);
  }

  /** Lets other drafts use this draft's part of the conversation's memory. */
  releaseResources(): void {
    for (const releaseListener of this.releaseListeners.splice(0)) releaseListener();
  }

  saveState(): DraftCheckpoint {
    const { totalTokens: tokens, isRuleStated: ruleStated } = this;
    return { ...this.view.saveState(), edits: new Map(this.madeEdits), tokens, ruleStated };
  }

  restoreState(checkpoint: DraftCheckpoint): void {
    this.view.restoreState(checkpoint);
    this.madeEdits = new Map(checkpoint.edits);
    this.dropCachedView();
    this.totalTokens = checkpoint.tokens;
    this.isRuleStated = checkpoint.ruleStated;
  }

  private countVisibleTokens(messages: readonly ApiMessage[]): number {
    return this.counter.countMessages(messages.filter((message) => message !== HIDDEN_MESSAGE));
  }

  private countTokensAtPlace(message: ApiMessage, { place: { path }, text }: TextAtPlaceWithCuts): number {
    const block = getBlocks(message)[Number(path[1])];
    const isText = path.at(-1) === 'text' || path.length === PATH_LENGTH_OF_RESULT_STRING;
    return !block || (block.type !== 'tool_use' && isText)
      ? this.counter.countText(text)
      : this.counter.countBlock(block);
  }

  private countTokensWithoutMarkerRule(state: TextAtPlaceWithCuts): number {
    const cuts = state.cuts.map((cut) => ({ ...cut, text: removeMarkerRule(cut.text) }));
    const textWithoutRule = makeTextWithCuts(state, cuts, state.strict);
    return this.countTokensAtPlace(this.view.makeMessageWithText(state.place, textWithoutRule.text), textWithoutRule);
  }

  /** APIs reject blank texts. */
  private leavesOnlyBlankText({ place, text }: TextAtPlaceWithCuts): boolean {
    if (text.trim() !== '') return false;
    const block = getBlocks(this.view.getMessage(place.message))[Number(place.path[1])];
    return block?.type !== 'tool_use';
  }

  private storeMadeEdit(key: string, edit: Edit): void {
    this.madeEdits.set(key, edit);
    this.dropCachedView();
  }

  private dropCachedView(): void {
    this.cachedEdits = undefined;
    this.cachedExchanges = undefined;
  }

  private recordEdit(
    step: string,
    state: TextAtPlaceWithCuts,
    changedText: TextAtPlaceWithCuts,
    info: CutDetails,
  ): void {
    const { place, original } = changedText;
    const placeId = makePlaceKey(place);
    if (!this.textsWithoutNewCuts.has(placeId)) this.textsWithoutNewCuts.set(placeId, state);
    const key = getEditKey(step, place);
    const tokens: TokensBeforeAndAfter = {
      tokensBefore: this.madeEdits.get(key)?.tokensBefore ?? this.counter.countText(state.text),
      tokensAfter: this.counter.countText(changedText.text),
    };
    this.madeEdits.delete(key);
    this.storeMadeEdit(
      key,
      createCutEdit(step, changedText, hashTextAtPlace(this.original, place, original), info, tokens),
    );
  }
}

const createEmptyViewExchanges = (): Exchanges => new Exchanges();

const isSameTextWithCuts = (a: TextAtPlaceWithCuts, b: TextAtPlaceWithCuts): boolean =>
  a.text === b.text && a.cuts.length === b.cuts.length && a.cuts.every((cut, at) => isEqual(cut, b.cuts[at]));

const makeTextWithCuts = (state: TextAtPlaceWithCuts, cuts: readonly Cut[], strict: boolean): TextAtPlaceWithCuts => ({
  ...state,
  cuts,
  text: renderCuts(state.original, cuts),
  strict,
});

/** Length of the path `content, 2, content` of a tool result's string. */
const PATH_LENGTH_OF_RESULT_STRING = 3;

/**
 * A marker that saves fewer tokens is clutter. The rule about markers has fewer tokens, so it does
 * not count against the marker that states it.
 */
const MIN_TOKENS_SAVED_BY_MARKER = 16;
