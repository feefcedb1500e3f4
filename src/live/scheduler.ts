import { condenseWithFallback, type CondensationOutcome } from '../core/condense';
import { explainWhyNothingRemoved } from '../core/condense/fallback';
import { findReasonToCondense, computePreparationTokens, type ReasonToCondense } from '../core/condense/trigger/due';
import { computePercentOfWindow } from '../core/condense/trigger/thresholds';
import { FILE_AWARE_NAME, isBuiltInProvider, formatProviderName } from '../core/condense/types';
import { yieldBetweenSteps } from '../core/betweenSteps';
import { getErrorKind } from '../core/errors';
import { rejectOnAbort } from '../core/orAborted';
import type { OverflowReport } from '../api/tooLong';
import {
  getFileAwareFollowUp,
  createFallbackPolicy,
  createCondensationRequest,
  createCondensationTerms,
} from './condensationRequest';
import { getCacheState, evaluateCondensationEffect } from './decision';
import { computeViewFromLedger } from './followEdits';
import type { LiveConversation } from './liveConversation';
import type { LiveDependencies, LiveSettings } from './types';
import { condenseNewResults, createNewResultRules } from './newResults';
import { BackgroundCondensation } from './preparation';
import { computeDueTokensOfModel } from './tokenLearning';
import { findMessagesWhenUndone, type LedgerCommand } from './commands';
import type { CondensationReason, LiveDecision } from './events';
import type { AgentRequest } from './request';
import type { UsableSettingsReader } from './usableSettings';
import { areSingleImagesTooLarge, measureRequestBytes, chooseImagesToKeep } from './weight';
import { WindowWarnings } from './windowWarnings';

const KEEP_MODE_CONFIG = { mode: 'keep' } as const;
const ONLY_IMAGES_CONFIG = {
  preserveRecentCount: 0,
  toolResults: KEEP_MODE_CONFIG,
  toolParameters: KEEP_MODE_CONFIG,
  messageText: KEEP_MODE_CONFIG,
} as const;

const MAX_WAIT_FOR_PREPARATION_MS = 30_000;
const MAX_PREPARATION_MS = 300_000;
/** After a model has failed, a request must grow by this factor before a model is called again. */
const RETRY_GROWTH_FACTOR = 1.13;
/** After this many summaries in a row that came too late, no more summaries are paid for. */
const MAX_LATE_PREPARATIONS = 2;
/** A request rejected as too long is next condensed to this share of its size. */
const RETRY_SIZE_SHARE = 0.6;
const CONVERSATION_DIVERGED_REASON = 'the conversation has taken another course or has been condensed in the meantime';
const CHANGED_BY_HAND_REASON = 'what the model gets was changed by hand';
const NO_FOLLOW_UP_NOTE = `${FILE_AWARE_NAME} does not follow until the request no longer fits, because this agent has no tool to recall what it removes.`;
const NO_ROOM_REASON = 'the request would not have fit without being condensed immediately';

/**
 * For these reasons a condensation is applied even if the disk is full, because the request can't
 * be sent without it.
 */
const REASONS_REQUIRED_TO_SEND: ReadonlySet<CondensationReason> = new Set(['window', 'too-long', 'bytes']);

export interface ScheduleResult {
  readonly outcome: CondensationOutcome | undefined;
  readonly notes: readonly string[];
}

/** All condensations of a conversation go through this class. */
export class CondensationScheduler {
  private preparation: BackgroundCondensation | undefined;
  /** After a failure, no model is called again until the request has this many o200k tokens. */
  private retryAtTokens = 0;
  private latePreparationCount = 0;
  private readonly warnings: WindowWarnings;
  private whyNotWords: string | undefined;
  private decision: LiveDecision | undefined;
  private queue: Promise<unknown> = Promise.resolve();

  constructor(
    readonly conversation: LiveConversation,
    private readonly dependencies: LiveDependencies,
    private readonly settings: UsableSettingsReader,
  ) {
    this.warnings = new WindowWarnings(conversation, dependencies);
  }

  get exhausted(): string | undefined {
    return this.warnings.exhausted;
  }

  get whyNot(): string | undefined {
    return this.whyNotWords;
  }

  get lastDecision(): LiveDecision | undefined {
    return this.decision;
  }

  get isPreparing(): boolean {
    return this.preparation?.isOver === false;
  }

  /** @throws the signal's reason if it aborts before the action has begun */
  async runExclusively<T>(action: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const turn = rejectOnAbort(this.queue, signal);
    const result = this.queue.then(() => turn).then(action);
    this.queue = result.catch(() => undefined);
    await turn;
    return result;
  }

  /** @param explanation without a full stop */
  abandonPreparation(explanation: string): void {
    this.preparation?.abandonPreparation(explanation);
  }

  async followRequest(request: AgentRequest): Promise<void> {
    const { conversation } = this;
    const isFirst = !conversation.hasBegun;
    await conversation.followRequest({
      ...request,
      model: this.dependencies.learning.applyLearnedLimits(request.model),
    });
    if (!isFirst) return;
    const messagesWhenUndone = findMessagesWhenUndone(conversation);
    if (messagesWhenUndone !== undefined) this.postponeNextCondensation(messagesWhenUndone);
  }

  /** @throws only the signal's reason if it was aborted */
  async scheduleRequest(request: AgentRequest, signal?: AbortSignal): Promise<ScheduleResult> {
    const notes: string[] = [];
    try {
      await this.followRequest(request);
      await this.condenseNewResultsIfAny(notes);
      await yieldBetweenSteps(signal);
      return { outcome: await this.condenseIfDue(signal), notes };
    } catch (error) {
      signal?.throwIfAborted();
      // A failure to condense must not stop the agent.
      this.addNote(`The request was not condensed: ${getErrorKind(error)}`, notes);
      return { outcome: undefined, notes };
    }
  }

  /**
   * Condenses new results. A failure only costs a saving, so it must not prevent a condensation
   * that the request needs to fit.
   */
  private async condenseNewResultsIfAny(notes: string[]): Promise<void> {
    const { conversation, dependencies: parts } = this;
    const { model, canRecall } = conversation;
    try {
      const state = conversation.newResults;
      const config = createNewResultRules(parts.settings(), {
        contextWindow: model.contextWindow,
        tokenFactor: parts.learning.getTokenFactor(model),
        canRecall: canRecall === true,
        isFitting: (shown) => this.fitsWindow(conversation.countRequestTokensWithView(shown)),
      });
      const condensedResults = state && config && (await condenseNewResults(state, config, parts.counter));
      if (condensedResults) conversation.keepNewResults(condensedResults);
    } catch (error) {
      this.addNote(`New results were not condensed: ${getErrorKind(error)}`, notes);
    }
  }

  private addNote(message: string, notes: string[]): void {
    notes.push(message);
    this.dependencies.emit({ kind: 'problem', conversation: this.conversation.id, message });
  }

  /**
   * @returns undefined if nothing more could be removed
   * @throws the signal's reason if it was aborted
   */
  async shortenRequest(
    request: AgentRequest,
    refusedTokens: number,
    overflowReport: OverflowReport,
    signal?: AbortSignal,
  ): Promise<{ readonly outcome: CondensationOutcome | undefined } | undefined> {
    const { conversation } = this;
    const { learning } = this.dependencies;
    const { weight: exceededLimits, tokens = Infinity, limit = 0 } = overflowReport;
    await this.followRequest(request);
    if (exceededLimits) {
      learning.learnBodyLimits(request.model, measureRequestBytes(conversation.requestForMeasuring), exceededLimits);
      const imageRemovalOutcome = await this.removeImagesIfTooLarge(signal);
      if (imageRemovalOutcome) return { outcome: imageRemovalOutcome };
      if (areSingleImagesTooLarge(exceededLimits)) return undefined;
    }
    // The prompt itself fits. The limits just learned reserve less for the answer, so nothing needs
    // to be removed.
    if (tokens < limit && this.isFitting) return { outcome: undefined };
    const tokensBefore = conversation.countedTokens;
    const outcome = await this.condenseRejectedRequest(overflowReport.tokens !== undefined, signal);
    return conversation.countedTokens >= Math.min(tokensBefore, refusedTokens) ? undefined : { outcome };
  }

  /** @returns undefined if no condensation was due */
  private async condenseIfDue(signal: AbortSignal | undefined): Promise<CondensationOutcome | undefined> {
    const imageRemovalOutcome = await this.removeImagesIfTooLarge(signal);
    const preparedOutcome = (await this.applyPreparedOutcome()) ?? imageRemovalOutcome;
    const reason = this.findReasonToCondenseNow();
    this.warnings.recordDueReason(reason);
    if (reason) {
      const outcome = await this.condenseNow(reason, signal);
      this.warnings.recordOutcomeAndWarn(reason, outcome, this.settings.getSettings(this.conversation));
      return outcome;
    }
    this.prepareInBackground();
    return preparedOutcome;
  }

  /**
   * @param isExact true if the rejection named the request's length
   * @returns undefined if nothing could be removed
   */
  private async condenseRejectedRequest(
    isExact: boolean,
    signal: AbortSignal | undefined,
  ): Promise<CondensationOutcome | undefined> {
    this.preparation?.abandonPreparation(NO_ROOM_REASON);
    const { countedTokens, overheadTokens, model } = this.conversation;
    const fittingTokens = isExact
      ? this.dependencies.learning.computeFittingTokens(model)
      : Math.floor(countedTokens * RETRY_SIZE_SHARE);
    const limitTokens = fittingTokens - overheadTokens;
    const settings = this.settings.getSettings(this.conversation);
    const provider = this.mayCallModel(settings) ? 'truncation' : settings.provider;
    const outcome = await condenseWithFallback(
      this.dependencies.manager,
      {
        ...createCondensationRequest(this.conversation, settings, this.dependencies.learning, signal),
        provider,
        config: provider === settings.provider ? settings.config : settings.configs?.[provider],
        trigger: 'manual',
        coherenceFloor: {},
        targetTokens: Math.max(0, limitTokens),
      },
      {
        ...createFallbackPolicy(this.conversation, settings, this.dependencies.learning),
        mayUseNative: false,
        limitTokens,
        fittingTargetTokens: limitTokens,
        roomTokens: 0,
      },
    );
    return this.applyOutcome(outcome, 'too-long', signal);
  }

  /** Removes images from a request that exceeds the vendor's limits of bytes or pixels. */
  private async removeImagesIfTooLarge(signal: AbortSignal | undefined): Promise<CondensationOutcome | undefined> {
    const { model, requestForMeasuring } = this.conversation;
    const images = chooseImagesToKeep(requestForMeasuring, this.dependencies.learning.getBodyLimits(model));
    if (!images) return undefined;
    const outcome = await this.dependencies.manager.condense({
      ...createCondensationRequest(
        this.conversation,
        this.settings.getSettings(this.conversation),
        this.dependencies.learning,
        signal,
      ),
      provider: 'truncation',
      config: { ...ONLY_IMAGES_CONFIG, images: { mode: 'suppress', ...images } },
      trigger: 'weight',
      minimumGain: { percent: 0, tokens: 0 },
      coherenceFloor: {},
      targetTokens: 0,
    });
    const appliedOutcome = await this.applyOutcome(outcome, 'bytes', signal);
    return appliedOutcome.kind === 'condensed' ? appliedOutcome : undefined;
  }

  /**
   * Condenses to half by default. If a model may be called, requests continue unchanged meanwhile;
   * only a request that is due to be condensed waits.
   * @throws the signal's reason, Error for the user if it was abandoned, UnknownProviderError
   */
  async condenseManually(
    options: { readonly provider?: string; readonly config?: unknown; readonly targetPercent?: number },
    signal: AbortSignal | undefined,
  ): Promise<CondensationOutcome> {
    const { manager, learning } = this.dependencies;
    const settings = this.settings.getSettings();
    const { provider = settings.provider, config = provider === settings.provider ? settings.config : undefined } =
      options;
    // Providers of other extensions may also take long.
    const isQuick = !manager.mayCallModel(provider, config) && isBuiltInProvider(provider);
    const runCondensation = (runSignal: AbortSignal | undefined): Promise<CondensationOutcome> => {
      const messageTokens = this.conversation.countedTokens - this.conversation.overheadTokens;
      return manager.condense({
        ...createCondensationRequest(this.conversation, settings, learning, runSignal),
        provider,
        config,
        trigger: 'manual',
        targetTokens: Math.ceil((messageTokens * (options.targetPercent ?? 50)) / 100),
      });
    };
    const result = await this.runExclusively(async () => {
      this.preparation?.abandonPreparation('another condensation was asked for');
      this.preparation = undefined;
      return isQuick
        ? this.applyOutcome(await runCondensation(signal), 'by-hand', signal)
        : this.beginPreparation(runCondensation, settings, true);
    }, signal);
    return result instanceof BackgroundCondensation ? this.finishPreparation(result, signal) : result;
  }

  /** @throws like {@link condenseManually} */
  private async finishPreparation(
    preparation: BackgroundCondensation,
    signal: AbortSignal | undefined,
  ): Promise<CondensationOutcome> {
    const cancel = (): void => {
      preparation.abandonPreparation('it was canceled');
    };
    signal?.addEventListener('abort', cancel);
    if (signal?.aborted) cancel();
    await preparation.finished;
    signal?.removeEventListener('abort', cancel);
    return this.runExclusively(async () => {
      // A request may have applied the preparation already.
      if (this.preparation === preparation) await this.applyPreparedOutcome();
      if (preparation.appliedOutcome) return preparation.appliedOutcome;
      signal?.throwIfAborted();
      throw new Error(`The condensation was abandoned: ${preparation.reason ?? 'it broke off'}.`);
    });
  }

  get isFitting(): boolean {
    return this.fitsWindow(this.conversation.countedTokens);
  }

  describeCondenser(): string {
    const { manager } = this.dependencies;
    const settings = this.settings.getSettings(this.conversation);
    const { provider, config } = settings;
    const name = formatProviderName(
      manager.getProviderDisplayName(provider),
      manager.getProvider(provider).nameOfConfig?.(config),
    );
    return getFileAwareFollowUp(this.conversation, settings) === 'fileAware'
      ? `${name}, then ${FILE_AWARE_NAME} if that is not enough`
      : name;
  }

  /**
   * From this number of the model's tokens, an expired cache is a reason to condense; undefined if
   * cache expiry is never known.
   */
  get coldTokens(): number | undefined {
    const { model } = this.conversation;
    const { coldPercent } = this.settings.getSettings();
    const { coldMs = Infinity } = this.dependencies.learning.getCacheLifespan(model) ?? {};
    if (
      coldPercent === undefined ||
      coldMs === Infinity ||
      getCacheState(this.conversation, this.dependencies).state === 'none'
    )
      return undefined;
    const tokens = computePercentOfWindow(coldPercent, model.contextWindow);
    return tokens < computeDueTokensOfModel(model).tokens ? tokens : undefined;
  }

  private fitsWindow(countedTokens: number): boolean {
    const { model } = this.conversation;
    return model.contextWindow <= 0 || countedTokens <= this.dependencies.learning.computeFittingTokens(model);
  }

  /** Abandons a preparation, since it was made for the view before the command. */
  async enterCommand({ entries, automatic }: LedgerCommand): Promise<void> {
    await this.conversation.applyNewEntries(entries);
    this.preparation?.abandonPreparation(CHANGED_BY_HAND_REASON);
    this.preparation = undefined;
    if (automatic === 'waits') this.postponeNextCondensation();
    else if (automatic === 'runs') this.dependencies.manager.endCooldown(this.conversation.id);
  }

  /** @param count the conversation must grow beyond its size with this many messages */
  private postponeNextCondensation(count = this.conversation.messages.length): void {
    const { id, messages, ledger, overheadTokens } = this.conversation;
    const { messages: shown } = computeViewFromLedger(ledger, messages.slice(0, count));
    this.dependencies.manager.startCooldown(id, this.dependencies.counter.countMessages(shown), overheadTokens);
  }

  private findReasonToCondenseNow(): ReasonToCondense | undefined {
    const { manager } = this.dependencies;
    const { model, countedTokens, overheadTokens, id } = this.conversation;
    const settings = this.settings.getSettings();
    return findReasonToCondense({
      contextWindow: model.contextWindow,
      threshold: model.threshold,
      tokens: this.modelTokens,
      isFitting: this.isFitting,
      isCold: getCacheState(this.conversation, this.dependencies).state === 'cold',
      coldPercent: settings.coldPercent,
      isWaiting: settings.isPaused === true || manager.countTokensUntilDue(id, countedTokens - overheadTokens) > 0,
    });
  }

  private get modelTokens(): number {
    const { model, countedTokens } = this.conversation;
    return Math.ceil(countedTokens * this.dependencies.learning.getTokenFactor(model));
  }

  /**
   * If true, the condensation runs in the background; otherwise it runs while the request waits.
   */
  private mayCallModel({ provider, config }: LiveSettings): boolean {
    return this.dependencies.manager.mayCallModel(provider, config);
  }

  private condenseNow(
    reason: CondensationReason,
    signal: AbortSignal | undefined,
  ): Promise<CondensationOutcome | undefined> {
    const settings = this.settings.getSettings(this.conversation);
    return this.mayCallModel(settings) || this.preparation?.isByHand === true
      ? this.condenseWithModel(reason, signal, settings)
      : this.condenseWithoutModel(reason, signal, settings);
  }

  private async condenseWithoutModel(
    reason: CondensationReason,
    signal: AbortSignal | undefined,
    settings: LiveSettings,
  ): Promise<CondensationOutcome> {
    const request = {
      ...createCondensationRequest(this.conversation, settings, this.dependencies.learning, signal),
      ...createCondensationTerms(this.conversation, reason, this.dependencies.learning),
    };
    const isAtThreshold = reason === 'threshold';
    const fileAwareFollows = isAtThreshold && getFileAwareFollowUp(this.conversation, settings) === 'fileAware';
    const policy = createFallbackPolicy(this.conversation, settings, this.dependencies.learning, fileAwareFollows);
    const outcome = await condenseWithFallback(this.dependencies.manager, request, policy);
    const finalOutcome = isAtThreshold ? explainMissingFollowUp(outcome, this.conversation, settings) : outcome;
    return this.applyOutcome(finalOutcome, reason, signal);
  }

  /**
   * One request waits for the model and then continues without it, because a model may never
   * answer.
   */
  private async condenseWithModel(
    reason: CondensationReason,
    signal: AbortSignal | undefined,
    settings: LiveSettings,
  ): Promise<CondensationOutcome | undefined> {
    const runningPreparation = this.preparation;
    const preparation = runningPreparation ?? this.startPreparation(settings);
    if (preparation && !preparation.hasWaited) {
      preparation.hasWaited = true;
      await this.waitForPreparation(preparation, settings, signal, runningPreparation === undefined);
    }
    if (preparation?.isOver) {
      const outcome = await this.applyPreparedOutcome(reason);
      if (outcome && this.isFitting) return outcome;
    }
    const mayCallModel = this.mayCallModel(settings);
    if (reason !== 'window' && (mayCallModel || this.preparation)) return undefined;
    if (this.preparation?.isByHand === false) this.latePreparationCount++;
    this.preparation?.abandonPreparation(NO_ROOM_REASON);
    this.preparation = undefined;
    const truncationSettings = { ...settings, provider: 'truncation', config: settings.configs?.['truncation'] };
    return this.condenseWithoutModel(reason, signal, mayCallModel ? truncationSettings : settings);
  }

  /** @throws the signal's reason if it was aborted */
  private async waitForPreparation(
    preparation: BackgroundCondensation,
    { waitMs = MAX_WAIT_FOR_PREPARATION_MS }: LiveSettings,
    signal: AbortSignal | undefined,
    isOwn: boolean,
  ): Promise<void> {
    const waitController = new AbortController();
    const combinedSignal = signal ? AbortSignal.any([signal, waitController.signal]) : waitController.signal;
    await Promise.race([preparation.finished, this.dependencies.clock.sleep(waitMs, combinedSignal)]);
    waitController.abort();
    if (signal?.aborted && isOwn) preparation.abandonPreparation('the request that waited for it was canceled');
    signal?.throwIfAborted();
  }

  private prepareInBackground(): void {
    const settings = this.settings.getSettings(this.conversation);
    const { backgroundPercent, isPaused } = settings;
    const { model, id, countedTokens, overheadTokens } = this.conversation;
    if (backgroundPercent === undefined || isPaused || this.preparation || model.contextWindow <= 0) return;
    if (this.modelTokens < computePreparationTokens(backgroundPercent, model) || !this.mayCallModel(settings)) return;
    if (this.dependencies.manager.countTokensUntilDue(id, countedTokens - overheadTokens) > 0) return;
    this.startPreparation(settings);
  }

  /**
   * @returns undefined if a preparation failed and the request has hardly grown since, or if
   * preparations keep coming too late
   */
  private startPreparation(settings: LiveSettings): BackgroundCondensation | undefined {
    if (this.conversation.countedTokens < this.retryAtTokens || this.latePreparationCount >= MAX_LATE_PREPARATIONS)
      return undefined;
    const { manager, learning } = this.dependencies;
    const run = (signal: AbortSignal): Promise<CondensationOutcome> =>
      condenseWithFallback(
        manager,
        createCondensationRequest(this.conversation, settings, learning, signal),
        createFallbackPolicy(this.conversation, settings, learning),
      );
    return this.beginPreparation(run, settings, false);
  }

  private beginPreparation(
    run: (signal: AbortSignal) => Promise<CondensationOutcome>,
    { giveUpMs = MAX_PREPARATION_MS }: LiveSettings,
    isByHand: boolean,
  ): BackgroundCondensation {
    const { clock, emit } = this.dependencies;
    const { id } = this.conversation;
    const reason = isByHand ? 'by-hand' : 'background';
    const onGivenUp = (outcome: CondensationOutcome, explanation: string): void => {
      const notes = [...outcome.notes, `It was abandoned: ${explanation}.`];
      const canceledOutcome = { ...outcome, kind: 'cancelled' as const, notes };
      emit({ kind: 'not-condensed', conversation: id, outcome: canceledOutcome, reason, givenUp: explanation });
    };
    const preparation = new BackgroundCondensation(this.conversation.state, run, {
      clock,
      giveUpMs,
      isByHand,
      onGivenUp,
    });
    this.preparation = preparation;
    emit({ kind: 'preparing', conversation: id, isPreparing: true });
    void preparation.finished.then(() => {
      emit({ kind: 'preparing', conversation: id, isPreparing: false });
    });
    return preparation;
  }

  /**
   * Applies a finished preparation if the conversation has only grown. After a failure, which also
   * has a cost, no model is called automatically until the conversation has grown.
   */
  private async applyPreparedOutcome(
    reason: CondensationReason = 'background',
  ): Promise<CondensationOutcome | undefined> {
    const { preparation } = this;
    if (!preparation) return undefined;
    const isConversationUnchanged = this.conversation.isUnchanged(preparation.madeFor);
    if (isConversationUnchanged && !preparation.isOver) return undefined;
    if (!isConversationUnchanged) preparation.abandonPreparation(CONVERSATION_DIVERGED_REASON);
    this.preparation = undefined;
    const { outcome, isByHand } = preparation;
    const appliedReason = isByHand ? 'by-hand' : reason;
    const appliedOutcome = outcome?.kind === 'condensed' ? await this.applyOutcome(outcome, appliedReason) : outcome;
    preparation.appliedOutcome = appliedOutcome;
    if (appliedOutcome?.kind === 'condensed') {
      this.latePreparationCount = 0;
      // Results that arrived during the preparation may refer to content that the condensation
      // removed.
      await this.conversation.restoreReferences();
      return appliedOutcome;
    }
    if (!isByHand) this.retryAtTokens = Math.ceil(this.conversation.countedTokens * RETRY_GROWTH_FACTOR);
    if (appliedOutcome) this.whyNotWords = explainWhyNothingRemoved(appliedOutcome);
    if (appliedOutcome)
      this.dependencies.emit({
        kind: 'not-condensed',
        conversation: this.conversation.id,
        outcome: appliedOutcome,
        reason: appliedReason,
      });
    return appliedOutcome;
  }

  /** @returns the outcome as applied: nothing was removed if it could not be recorded */
  private async applyOutcome(
    outcome: CondensationOutcome,
    reason: CondensationReason,
    signal?: AbortSignal,
  ): Promise<CondensationOutcome> {
    const { conversation, dependencies: parts } = this;
    const { id, pinned } = conversation;
    if (outcome.kind !== 'condensed') {
      if (outcome.kind === 'cancelled') signal?.throwIfAborted();
      this.whyNotWords = explainWhyNothingRemoved(outcome);
      parts.emit({ kind: 'not-condensed', conversation: id, outcome, reason });
      return outcome;
    }
    signal?.throwIfAborted();
    const stateBefore = { view: conversation.view, tokens: conversation.countedTokens };
    const edits = outcome.edits.filter((edit) => edit.kind === 'summary' || !pinned.has(edit.place.message));
    if (edits.length === 0) {
      const detail = 'Only pinned messages would have changed.';
      return { ...outcome, kind: 'unchanged', reason: 'nothing-to-gain', detail };
    }
    const condensation = await conversation.recordCondensation(
      { ...outcome, edits },
      REASONS_REQUIRED_TO_SEND.has(reason),
    );
    if (condensation === undefined) {
      const error = new Error('The originals could not be saved, so nothing was removed.');
      return { ...outcome, kind: 'failed', error };
    }
    const decision = evaluateCondensationEffect(conversation, outcome, reason, stateBefore, parts);
    this.decision = decision;
    this.whyNotWords = undefined;
    parts.emit({ kind: 'condensed', conversation: id, condensation, outcome, decision });
    return outcome;
  }
}

function explainMissingFollowUp(
  outcome: CondensationOutcome,
  { canRecall }: LiveConversation,
  { provider, whenNotEnough }: LiveSettings,
): CondensationOutcome {
  if (provider !== 'lossless' || whenNotEnough !== undefined || canRecall === true) return outcome;
  return outcome.kind === 'unchanged' && outcome.reason !== 'cooling-down' && outcome.reason !== 'target-met'
    ? { ...outcome, detail: `${outcome.detail} ${NO_FOLLOW_UP_NOTE}` }
    : outcome;
}
