import { randomUUID } from 'node:crypto';
import { Draft } from '../core/condense/draft/draft';
import type { OutcomeFields } from '../core/condense/condensation';
import { NEW_RESULTS_PROVIDER_ID } from '../core/condense/types';
import { applyEdits } from '../core/condense/edits/applyEdits';
import { selectLastEditPerPlace, type Edit } from '../core/condense/edits/edits';
import { createUneditedView, appendToView, type View } from '../core/condense/edits/view';
import {
  getActiveCondensations,
  isNewResultsCondensation,
  hashView,
  type NewResultsLedgerEntry,
  type Condensation,
  type CondensationId,
  type Ledger,
  type LedgerEntry,
  type MessageWithKey,
} from '../core/condense/ledger/ledger';
import { restoreDraftReferences, RESTORED_REFERENCES_STEP_NAME } from '../core/condense/lossless/integrity';
import { memoizeByObject } from '../core/memoizeByObject';
import { findNewViolations } from '../core/messages/firewall';
import { makeMessageKey, type MessageKey } from '../core/messages/messageKey';
import type { ApiMessage } from '../core/messages/types';
import { isStorageError, collectOriginals } from '../storage/ledgerStore';
import { AnsweredRequests } from './answeredRequests';
import { computeViewFromLedger, getMessageKeys } from './followEdits';
import type { LiveLedger } from './liveLedger';
import { readOwnTools } from './ownTools';
import type { LiveDependencies } from './types';
import type { CondensedResults, NewResultsState } from './newResults';
import type { ConversationState } from './preparation';
import { countCommonPrefix } from './align';
import type { AgentRequest, LiveId, UpstreamModel } from './request';
import { ReferenceUseWatch } from './referenceUseWatch';
import type { RequestForMeasuring } from './weight';
import { ToolCallCounter, measureToolTokens, type DeclaredTool } from './toolWeights';
import { findVisibleTools } from './deferredTools';
import { countTokensVendorMaySkip } from './vendorReads';
import { isUseExcessive, type UseAfterCondensation } from '../core/condense/ledger/use';

export type CondensationRecord = Pick<
  Condensation,
  'provider' | 'edits' | 'steps' | 'tokensBefore' | 'tokensAfter' | 'cost'
> &
  Pick<OutcomeFields, 'configNames'> & { readonly alsoBy?: readonly string[] };

/** Provider recorded for edits that only restore text whose reference no longer resolves. */
const RESTORE_PROVIDER_ID = 'restored-references';

export interface ConversationIdentity {
  readonly id: LiveId;
  readonly conversationId?: string;
  readonly task: MessageKey;
  /** Messages up to the first task. */
  readonly beginning: readonly ApiMessage[];
  /** True for a side conversation, which the user does not see. */
  readonly isSideRequest?: boolean;
}

interface ParsedRequest {
  readonly messages: readonly ApiMessage[];
  readonly model: UpstreamModel;
  readonly system: string | undefined;
  readonly title: string;
  readonly canRecall: boolean | undefined;
  readonly tools: readonly DeclaredTool[];
  readonly toolsJson: string;
  /** o200k tokens of system prompt and tools, and how many of these the vendor may leave unread. */
  readonly overheadTokens: number;
  readonly optionalTokens: number;
  readonly overheadBytes: number;
  readonly isTransformedByVendor: boolean;
  /** When the request arrived, in milliseconds since the epoch. */
  readonly at: number;
}

/** A conversation that an agent continues. The scheduler decides when and what to condense. */
export class LiveConversation {
  readonly id: LiveId;
  /**
   * When the conversation arrived, in milliseconds since the epoch, if it then had earlier answers;
   * undefined if it began here.
   */
  resumed: number | undefined;
  readonly calls = new ToolCallCounter();
  readonly answers = new AnsweredRequests();
  private lastRequest: ParsedRequest | undefined;
  private current: View = createUneditedView([]);
  /**
   * Changes whenever the view changes, because results prepared for an earlier view no longer fit.
   */
  private revision = 0;
  /** Index of the first message that no earlier request contained. */
  private firstNew = 0;
  private watch: ReferenceUseWatch | undefined;
  private readonly viewTokens = memoizeByObject(({ messages }: View) =>
    this.dependencies.counter.countMessages(messages),
  );

  constructor(
    readonly about: ConversationIdentity,
    private readonly store: LiveLedger,
    private readonly dependencies: LiveDependencies,
  ) {
    this.id = about.id;
  }

  get messages(): readonly ApiMessage[] {
    return this.lastRequest?.messages ?? [];
  }

  get view(): View {
    return this.current;
  }

  /** @throws Error before the first request */
  get model(): UpstreamModel {
    if (!this.lastRequest) throw new Error('The conversation has had no request yet.');
    return this.lastRequest.model;
  }

  get system(): string | undefined {
    return this.lastRequest?.system;
  }

  get title(): string {
    return this.lastRequest?.title ?? '';
  }

  get canRecall(): boolean | undefined {
    return this.lastRequest?.canRecall;
  }

  get lastUsed(): number {
    return this.lastRequest?.at ?? 0;
  }

  get hasBegun(): boolean {
    return this.lastRequest !== undefined;
  }

  get ledger(): Ledger {
    return this.store.ledger;
  }

  /** o200k tokens of the system prompt and the visible tools. */
  get overheadTokens(): number {
    return this.lastRequest?.overheadTokens ?? 0;
  }

  /** o200k tokens of the whole request. */
  get countedTokens(): number {
    return this.countRequestTokensWithView(this.current);
  }

  countRequestTokensWithView(shown: View): number {
    return this.overheadTokens + this.viewTokens(shown);
  }

  /**
   * o200k tokens of the request that the vendor must read; undefined if its reports say nothing
   * about the request.
   */
  get minReadTokens(): number | undefined {
    if (!this.lastRequest || this.lastRequest.isTransformedByVendor) return undefined;
    const { messages } = this.current;
    return (
      this.countedTokens -
      this.lastRequest.optionalTokens -
      countTokensVendorMaySkip(messages, this.dependencies.counter)
    );
  }

  get tools(): readonly DeclaredTool[] {
    return this.lastRequest?.tools ?? [];
  }

  get requestForMeasuring(): RequestForMeasuring {
    const { original, messages } = this.current;
    return { original, messages, overheadBytes: this.lastRequest?.overheadBytes ?? 0, pinned: this.pinned };
  }

  get state(): ConversationState {
    return { revision: this.revision, view: this.current };
  }

  /**
   * True if nothing changed since that state. A side request in between doesn't count as a change.
   */
  isUnchanged({ revision, view: { original, messages } }: ConversationState): boolean {
    return (
      revision === this.revision &&
      countCommonPrefix(original, this.messages) === original.length &&
      countCommonPrefix(messages, this.current.messages) === messages.length
    );
  }

  /**
   * How often the agent later requested content that this condensation removed; undefined if its
   * requests were not watched.
   */
  getReferenceUse(id: CondensationId): UseAfterCondensation | undefined {
    return this.watch?.id === id ? this.watch.use : this.ledger.uses.get(id);
  }

  /** True if the agent asked for so much removed content again that only duplicates are removed. */
  get isCareful(): boolean {
    const { uses, undone } = this.ledger;
    return [...uses].some(([id, use]) => !undone.has(id) && isUseExcessive(use));
  }

  get pinned(): ReadonlySet<number> {
    const indexes = new Set<number>();
    for (const { message, key } of this.ledger.pinned) {
      const index = this.isMessageAt(message, key)
        ? message
        : this.messages.findIndex((other) => makeMessageKey(other) === key);
      if (index >= 0) indexes.add(index);
    }
    return indexes;
  }

  async followRequest(request: AgentRequest): Promise<void> {
    const { clock, counter } = this.dependencies;
    const { lastRequest: previousRequest, messages: oldMessages } = this;
    const keptCount = countCommonPrefix(oldMessages, request.messages);
    const addedMessages = request.messages.slice(keptCount);
    const messages = [...oldMessages.slice(0, keptCount), ...addedMessages];
    // Everything before the model's last answer was sent earlier, perhaps by another process.
    const answeredCount = messages.findLastIndex(({ role }) => role === 'assistant') + 1;
    if (!previousRequest && answeredCount > 0) this.resumed = clock.now();
    this.lastRequest = parseAgentRequest({ ...request, messages }, previousRequest, this.dependencies);
    this.firstNew = Math.max(
      answeredCount,
      previousRequest ? keptCount : 0,
      this.findFirstUnrecordedMessage(answeredCount),
    );
    this.calls.followMessages(messages);
    const hasGrown = previousRequest !== undefined && keptCount === oldMessages.length;
    if (hasGrown) this.current = appendToView(this.current, messages);
    else if (!this.rebuildView()) await this.restoreReferences();
    await this.updateUseWatch(hasGrown);
    for (const message of this.current.messages) {
      counter.countMessage(message);
    }
  }

  /**
   * What is needed to condense new results; undefined if the user has undone the condensing of new
   * results.
   */
  get newResults(): NewResultsState | undefined {
    return this.ledger.undone.has(this.newResultsId) ? undefined : { view: this.current, firstNew: this.firstNew };
  }

  /** Applies condensed results; writes originals and ledger entry in the background. */
  keepNewResults({ edits, rereads, view, saved }: CondensedResults): void {
    const { messages } = this;
    const { counter, clock, emit } = this.dependencies;
    const changedMessages = new Set(edits.map(({ place }) => place.message));
    const changedTokens = counter.countMessages([...changedMessages].map((message) => messages[message] as ApiMessage));
    const arrivedIndexes = [...new Set([...changedMessages, ...rereads])];
    const ledgerEntry: NewResultsLedgerEntry = {
      type: 'arrived',
      condensation: this.newResultsId,
      at: new Date(clock.now()).toISOString(),
      arrivals: arrivedIndexes.map((message) => ({ message, key: makeMessageKey(messages[message] as ApiMessage) })),
      edits,
      ...(rereads.length > 0 && { rereads: rereads.length }),
      tokensBefore: changedTokens,
      tokensAfter: changedTokens - saved,
    };
    // The request doesn't wait for the disk: the agent has the full results, so a crash only costs
    // a cache.
    this.store.appendEntryInBackground(ledgerEntry, collectOriginals(messages, edits), ({ message }) => {
      emit({ kind: 'problem', conversation: this.id, message });
    });
    this.current = view;
  }

  waitUntilSettled(): Promise<void> {
    return this.store.waitUntilSettled();
  }

  private get newResultsId(): CondensationId {
    return `${NEW_RESULTS_PROVIDER_ID}-${this.id}` as CondensationId;
  }

  /**
   * @param mustFit true if the request can't be sent without the condensation, which then stays in
   *   memory if the disk is full
   * @returns undefined if the view is invalid or can't be saved
   */
  async recordCondensation(record: CondensationRecord, mustFit: boolean): Promise<CondensationId | undefined> {
    const { clock, emit } = this.dependencies;
    const newView = applyEdits(this.messages, selectLastEditPerPlace([...this.current.edits, ...record.edits]));
    // The conversation may have grown since the condensation was made.
    if (findNewViolations(this.messages, newView.messages, { origins: newView.origins }).length > 0) return undefined;
    const id = randomUUID() as string as CondensationId;
    const { provider, alsoBy, configNames = {}, edits, steps, tokensBefore, tokensAfter, cost } = record;
    const tokenFactor = this.dependencies.learning.getTokenFactor(this.model);
    const condensation: Condensation = {
      provider,
      configName: configNames[provider],
      ...(alsoBy && { before: alsoBy.map((id) => ({ provider: id, configName: configNames[id] })) }),
      request: {
        tokensBefore: Math.ceil(this.countedTokens * tokenFactor),
        tokensAfter: Math.ceil(this.countRequestTokensWithView(newView) * tokenFactor),
      },
      edits,
      steps,
      tokensBefore,
      tokensAfter,
      cost,
      id,
      at: new Date(clock.now()).toISOString(),
      base: 'view',
      viewHash: hashView(newView.messages),
      messages: getMessageKeys(this.messages),
    };
    const ledgerEntry: LedgerEntry = { type: 'condensed', condensation };
    const originals = collectOriginals(this.messages, edits);
    try {
      await this.store.appendEntry(ledgerEntry, originals);
    } catch (error) {
      if (!isStorageError(error)) throw error;
      emit({ kind: 'problem', conversation: this.id, message: error.message });
      if (!mustFit) return undefined;
      this.store.keepInMemory(ledgerEntry, originals);
    }
    this.current = newView;
    this.revision++;
    if (provider !== RESTORE_PROVIDER_ID) {
      await this.recordUse();
      this.watch = this.createWatchOfLastCondensation();
    }
    return id;
  }

  /** @throws StorageError */
  async applyNewEntries(entries: readonly LedgerEntry[]): Promise<void> {
    // Undoes condensations that only restored text for references of the old view.
    // `restoreReferences` adds those that the new view needs.
    const activeRestorations = getActiveCondensations(this.ledger).filter(isRestoring);
    for (const { id } of activeRestorations) await this.store.appendEntry({ type: 'undone', condensation: id });
    for (const entry of entries) await this.store.appendEntry(entry);
    this.revision++;
    this.rebuildView();
    await this.restoreReferences();
  }

  readonly originals = (hashes: Parameters<LiveLedger['readOriginals']>[0]): ReturnType<LiveLedger['readOriginals']> =>
    this.store.readOriginals(hashes);

  private async updateUseWatch(hasGrown: boolean): Promise<void> {
    if (!hasGrown) this.watch = this.createWatchOfLastCondensation();
    this.watch?.followMessages(this.messages);
    if (this.watch?.isOver) await this.recordUse();
  }

  private createWatchOfLastCondensation(): ReferenceUseWatch | undefined {
    const condensations = getActiveCondensations(this.ledger).filter(
      (one) => !isRestoring(one) && !isNewResultsCondensation(one),
    );
    const lastCondensation = condensations.at(-1);
    const messageCount = lastCondensation?.messages?.length;
    const firstMessageCount = condensations[0]?.messages?.length;
    if (
      !lastCondensation ||
      messageCount === undefined ||
      firstMessageCount === undefined ||
      this.ledger.uses.has(lastCondensation.id)
    )
      return undefined;
    if (
      messageCount > this.messages.length ||
      !lastCondensation.messages?.every((key, at) => this.isMessageAt(at, key))
    )
      return undefined;
    return ReferenceUseWatch.startWatch(this.messages, {
      id: lastCondensation.id,
      from: messageCount,
      first: firstMessageCount,
      edits: this.current.edits,
    });
  }

  private async recordUse(): Promise<void> {
    const { watch } = this;
    this.watch = undefined;
    if (!watch || watch.use.turns === 0) return;
    const { id, use } = watch;
    const ledgerEntry: LedgerEntry = { type: 'used', condensation: id, use };
    await this.store.appendEntry(ledgerEntry).catch((error: unknown) => {
      // The count is not worth an error, so storage errors are ignored.
      if (!isStorageError(error)) throw error;
      this.store.keepInMemory(ledgerEntry, new Map());
    });
    if (!isUseExcessive(use)) return;
    this.revision++;
    this.dependencies.emit({ kind: 'careful', conversation: this.id, condensation: id, use });
  }

  /**
   * Finds the first message, at or after `start`, that follows all messages named in the ledger:
   * those were sent before, perhaps by another host.
   */
  private findFirstUnrecordedMessage(start: number): number {
    const { condensations, pinned } = this.ledger;
    const listLastKnownMessage = ({ messages = [] }: Condensation): MessageWithKey[] => {
      const key = messages.at(-1);
      return key === undefined ? [] : [{ message: messages.length - 1, key }];
    };
    const pinnedPlaces = [...pinned, ...condensations.flatMap((one) => one.newResults ?? listLastKnownMessage(one))];
    const unchangedPlaces = pinnedPlaces.filter(
      ({ message, key }) => message >= start && this.isMessageAt(message, key),
    );
    return unchangedPlaces.reduce((first, { message }) => Math.max(first, message + 1), start);
  }

  private isMessageAt(message: number, key: MessageKey): boolean {
    const currentMessage = this.messages[message];
    return currentMessage !== undefined && makeMessageKey(currentMessage) === key;
  }

  /** @returns false if the conversation diverged after a condensation */
  private rebuildView(): boolean {
    const rebuiltView = computeViewFromLedger(this.ledger, this.messages);
    this.current = rebuiltView;
    return rebuiltView.isExact;
  }

  /** Restores text if the copy to which its reference points is gone. */
  async restoreReferences(): Promise<void> {
    const { counter, settings } = this.dependencies;
    if (!this.current.edits.some(({ kind }) => kind === 'cut')) return;
    const draft = new Draft(this.messages, counter, this.current.edits);
    const tokensBefore = draft.tokens;
    if (restoreDraftReferences(draft, readOwnTools(settings())) === 0) return;
    const edits: readonly Edit[] = draft.edits;
    const tokenCounts = { tokensBefore, tokensAfter: draft.tokens };
    const step = {
      name: RESTORED_REFERENCES_STEP_NAME,
      ...tokenCounts,
      edits: edits.length,
      timeMs: 0,
      cost: 0,
      outcome: { kind: 'done' },
    } as const;
    await this.recordCondensation(
      { provider: RESTORE_PROVIDER_ID, edits, steps: [step], ...tokenCounts, cost: 0 },
      true,
    );
  }
}

const renderToolsJson = (tools: readonly unknown[]): string => (tools.length > 0 ? JSON.stringify(tools) : '');

function parseAgentRequest(
  request: AgentRequest,
  previousRequest: ParsedRequest | undefined,
  { counter, clock }: LiveDependencies,
): ParsedRequest {
  const { messages, model, system, title, tools, canRecall, extraTokens = 0, isTransformedByVendor = false } = request;
  const { loaded, upFront } = findVisibleTools(tools, messages);
  const toolsJson = renderToolsJson(loaded);
  const deferredTokens =
    loaded === upFront ? 0 : counter.countText(toolsJson) - counter.countText(renderToolsJson(upFront));
  const sentJson = loaded === tools ? toolsJson : renderToolsJson(tools);
  return {
    messages,
    model,
    system,
    title: title ?? previousRequest?.title ?? '',
    canRecall,
    tools: previousRequest?.toolsJson === toolsJson ? previousRequest.tools : measureToolTokens(loaded, counter),
    toolsJson,
    overheadTokens: counter.countText(system ?? '') + counter.countText(toolsJson) + extraTokens,
    optionalTokens: deferredTokens + extraTokens,
    overheadBytes: Buffer.byteLength(system ?? '') + Buffer.byteLength(sentJson),
    isTransformedByVendor,
    at: clock.now(),
  };
}

/** True for a condensation that only repairs references, which users can't see or undo. */
export const isRestoring = ({ provider }: Pick<Condensation, 'provider'>): boolean => provider === RESTORE_PROVIDER_ID;
