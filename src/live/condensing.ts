/** Condensations of live conversations: when, by what, and what becomes of them. */
import { condenseWithFallback, type CondensationOutcome } from '../core/condense';
import { whyNot } from '../core/condense/fallback';
import { FILE_AWARE_NAME, isBuiltIn, withConfigName } from '../core/condense/types';
import { percentOf } from '../core/condense/trigger/thresholds';
import { followingLossless, policyFor, requestFor, termsOf } from './condensationRequest';
import { cacheOf, decisionOf } from './decision';
import { dueReason, preparingTokens } from './due';
import type { LiveConversation } from './liveConversation';
import type { LiveParts, LiveSettings } from './types';
import { ownToolsOf } from './ownTools';
import { Preparation } from './preparation';
import type { CondensationReason } from './events';
import type { UpstreamModel } from './request';
import { duePointOf } from './tokenLearning';
import { stayingImages } from './weight';
import { formatTokens } from '../core/condense/report/report';

/** Percent of the window from which on a single result is too large, and o200k tokens that it has at least. */
const LARGE_PERCENT = 25;
const MIN_LARGE_TOKENS = 20_000;

const KEPT = { mode: 'keep' } as const;
/** The configuration of Truncation that leaves all but images alone. */
const ONLY_IMAGES = { preserveRecentCount: 0, toolResults: KEPT, toolParameters: KEPT, messageText: KEPT } as const;

const WAIT_MS = 30_000;
const GIVE_UP_MS = 300_000;
/** A request must have grown so many times before a model is asked again that came to nothing. */
const RETRY_GROWTH = 1.13;
/** Requests in a row that each had to be condensed, from which on the window is too small for the task, and that is said. */
const CRAMPED_REQUESTS = 4;
/** Share of the window from which a request that can't be condensed any further is told. */
const FULL_SHARE = 2 / 3;
/** Share of a refused request that is tried again. */
const FURTHER_SHARE = 0.6;
const OTHER_WAY = 'the conversation has taken another course or has been condensed in the meantime';
const FOLLOWS_NOT = `${FILE_AWARE_NAME} does not follow until the request no longer fits, because this agent has no tool to recall what it removes.`;
const NO_ROOM = 'the request would not have fit without being condensed immediately';

/** Condenses the live conversations of a window; one object for all of them. */
export class Condensing {
  private readonly settings: UsableSettings;

  constructor(private readonly parts: LiveParts) {
    this.settings = new UsableSettings(parts);
  }

  /**
   * Condenses results that arrive with a request.
   * @param canRecall whether the agent can ask for what is taken out of a large one; else that goes only where the request
   *   would not fit.
   */
  condenseArrivals(conversation: LiveConversation, canRecall: boolean): void {
    const settings = this.parts.settings();
    if (settings.isPaused) return;
    const {
      onArrival,
      noiseOnArrival: noise = false,
      isCautious = true,
      largeResultPercent = LARGE_PERCENT,
    } = settings;
    const { model } = conversation;
    const rules = { lossless: onArrival !== 'off', noise, isCautious, tools: ownToolsOf(settings) };
    const share = percentOf(largeResultPercent, model.contextWindow) / this.parts.learning.factor(model);
    const withLarge = { ...rules, largeTokens: Math.max(MIN_LARGE_TOKENS, share) };
    if (largeResultPercent <= 0 || model.contextWindow <= 0) conversation.condenseArrivals(rules);
    else if (canRecall) conversation.condenseArrivals(withLarge);
    else {
      const isNeeded = (countedTokens: number): boolean => !this.fits(model, countedTokens);
      conversation.condenseArrivals(rules, { rules: withLarge, isNeeded });
    }
  }

  /**
   * Does what is due for a request.
   * @returns what was done; undefined where nothing was.
   * @throws the signal's reason where it was aborted.
   */
  async condenseIfDue(
    conversation: LiveConversation,
    signal: AbortSignal | undefined,
  ): Promise<CondensationOutcome | undefined> {
    const lighter = await this.takeWeight(conversation, signal);
    const prepared = (await this.applyPrepared(conversation)) ?? lighter;
    const reason = this.reason(conversation);
    this.noteCramped(conversation, reason);
    if (reason) {
      const outcome = await this.condense(conversation, reason, signal);
      this.noteExhausted(conversation, reason, outcome);
      return outcome;
    }
    this.prepareInBackground(conversation);
    return prepared;
  }

  /**
   * Condenses further what the model refused as too long.
   * @param isExact the refusal named the request's length: then it is known what fits.
   * @returns undefined where nothing could be taken out.
   */
  async condenseFurther(
    conversation: LiveConversation,
    isExact: boolean,
    signal: AbortSignal | undefined,
  ): Promise<CondensationOutcome | undefined> {
    conversation.preparation?.giveUp(NO_ROOM);
    const { countedTokens, overheadTokens, model } = conversation;
    const fitting = isExact ? this.parts.learning.fitting(model) : Math.floor(countedTokens * FURTHER_SHARE);
    const limitTokens = fitting - overheadTokens;
    const settings = this.settings.now(conversation);
    const provider = this.asksModel(settings) ? 'truncation' : settings.provider;
    const outcome = await condenseWithFallback(
      this.parts.manager,
      {
        ...requestFor(conversation, settings, this.parts.learning, signal),
        provider,
        config: provider === settings.provider ? settings.config : settings.configs?.[provider],
        trigger: 'manual',
        coherenceFloor: {},
        targetTokens: Math.max(0, limitTokens),
      },
      {
        ...policyFor(conversation, settings, this.parts.learning),
        mayUseNative: false,
        limitTokens,
        truncateTo: limitTokens,
        roomTokens: 0,
      },
    );
    return applyOutcome(conversation, outcome, 'too-long', this.parts, signal);
  }

  /**
   * Takes images out where the request weighs more, in bytes or pixels, than the model's vendor takes.
   * @returns undefined where it does not, or no image could go.
   */
  async takeWeight(
    conversation: LiveConversation,
    signal: AbortSignal | undefined,
  ): Promise<CondensationOutcome | undefined> {
    const { model, weighed } = conversation;
    const images = stayingImages(weighed, this.parts.learning.limits(model));
    if (!images) return undefined;
    const outcome = await this.parts.manager.condense({
      ...requestFor(conversation, this.settings.now(conversation), this.parts.learning, signal),
      provider: 'truncation',
      config: { ...ONLY_IMAGES, images: { mode: 'suppress', ...images } },
      trigger: 'weight',
      minimumGain: { percent: 0, tokens: 0 },
      coherenceFloor: {},
      targetTokens: 0,
    });
    const applied = await applyOutcome(conversation, outcome, 'bytes', this.parts, signal);
    return applied.kind === 'condensed' ? applied : undefined;
  }

  /**
   * Condenses because a person asked for it, as far as they asked; by default to half of what is there. What may call a model is made
   * beside the requests: they go out as they are meanwhile, and one that is due waits for it as for any summary.
   * @throws the signal's reason where it was aborted, Error in words where it was given up, UnknownProviderError
   */
  async byHand(
    conversation: LiveConversation,
    options: { readonly provider?: string; readonly config?: unknown; readonly targetPercent?: number },
    signal: AbortSignal | undefined,
  ): Promise<CondensationOutcome> {
    const { manager, learning } = this.parts;
    const settings = this.settings.now();
    const { provider = settings.provider, config = provider === settings.provider ? settings.config : undefined } =
      options;
    // Providers of other extensions may take their time, too.
    const isQuick = !manager.asksModel(provider, config) && isBuiltIn(provider);
    const run = (until: AbortSignal | undefined): Promise<CondensationOutcome> => {
      const messages = conversation.countedTokens - conversation.overheadTokens;
      return manager.condense({
        ...requestFor(conversation, settings, learning, until),
        provider,
        config,
        trigger: 'manual',
        targetTokens: Math.ceil((messages * (options.targetPercent ?? 50)) / 100),
      });
    };
    const begun = await conversation.exclusive(async () => {
      conversation.preparation?.giveUp('another condensation was asked for');
      conversation.preparation = undefined;
      return isQuick
        ? applyOutcome(conversation, await run(signal), 'by-hand', this.parts, signal)
        : this.begin(conversation, run, settings, true);
    }, signal);
    return begun instanceof Preparation ? this.finish(conversation, begun, signal) : begun;
  }

  /** Waits for what a person asked for. @throws as {@link byHand} */
  private async finish(
    conversation: LiveConversation,
    preparation: Preparation,
    signal: AbortSignal | undefined,
  ): Promise<CondensationOutcome> {
    const cancel = (): void => {
      preparation.giveUp('it was cancelled');
    };
    signal?.addEventListener('abort', cancel);
    if (signal?.aborted) cancel();
    await preparation.over;
    signal?.removeEventListener('abort', cancel);
    return conversation.exclusive(async () => {
      // A request may have taken it already.
      if (conversation.preparation === preparation) await this.applyPrepared(conversation);
      if (preparation.taken) return preparation.taken;
      signal?.throwIfAborted();
      throw new Error(`The condensation was abandoned: ${preparation.why ?? 'it broke off'}.`);
    });
  }

  /** Whether the request, as it stands, fits into the model's window. */
  isFitting(conversation: LiveConversation): boolean {
    const { model, countedTokens } = conversation;
    return this.fits(model, countedTokens);
  }

  /** What condenses a conversation at its threshold, in words. */
  condensedBy(conversation: LiveConversation): string {
    const { manager } = this.parts;
    const settings = this.settings.now(conversation);
    const { provider, config } = settings;
    const name = withConfigName(manager.providerName(provider), manager.getProvider(provider).nameOfConfig?.(config));
    return followingLossless(conversation, settings) === 'fileAware'
      ? `${name}, then ${FILE_AWARE_NAME} if that is not enough`
      : name;
  }

  private fits(model: UpstreamModel, countedTokens: number): boolean {
    return model.contextWindow <= 0 || countedTokens <= this.parts.learning.fitting(model);
  }

  private reason(conversation: LiveConversation): CondensationReason | undefined {
    const { manager } = this.parts;
    const { model, countedTokens, overheadTokens, id } = conversation;
    const settings = this.settings.now();
    return dueReason({
      model,
      tokens: this.modelTokens(conversation),
      isFitting: this.isFitting(conversation),
      cache: cacheOf(conversation, this.parts).state,
      coldPercent: settings.coldPercent,
      isWaiting: settings.isPaused === true || manager.tokensToGo(id, countedTokens - overheadTokens) > 0,
    });
  }

  /** Without its condensation no such request would go out, so they go on; but nothing that was read stays for long. */
  private noteCramped(conversation: LiveConversation, reason: CondensationReason | undefined): void {
    const { id, model, overheadTokens } = conversation;
    const before = conversation.condensedInRow;
    conversation.condensedInRow = reason === undefined ? 0 : before + 1;
    if (before + 1 !== CRAMPED_REQUESTS || reason === undefined || conversation.isCramped) return;
    conversation.isCramped = true;
    const fixed = Math.ceil(overheadTokens * this.parts.learning.factor(model));
    const message = `The last ${CRAMPED_REQUESTS} requests each had to be condensed: the window of ${formatTokens(model.contextWindow)} tokens, ${formatTokens(fixed)} of which instructions and tools take, is too small for this task, so what was just read is removed right away. Use a model with a larger window; a local server can be given one (Ollama: num_ctx, or OLLAMA_CONTEXT_LENGTH).`;
    this.parts.emit({ kind: 'problem', conversation: id, message });
  }

  /** Tells once, while there is still room, that what could be removed is gone. */
  private noteExhausted(
    conversation: LiveConversation,
    reason: CondensationReason,
    outcome: CondensationOutcome | undefined,
  ): void {
    if (conversation.exhausted !== undefined || (outcome?.kind !== 'condensed' && outcome?.kind !== 'unchanged'))
      return;
    const settings = this.settings.now(conversation);
    const isLossy = settings.provider !== 'lossless' || followingLossless(conversation, settings) === 'fileAware';
    const { model, id, overheadTokens, shown } = conversation;
    const tokens = this.modelTokens(conversation);
    if (
      (!isLossy && reason !== 'window') ||
      tokens < Math.max(duePointOf(model).tokens, model.contextWindow * FULL_SHARE)
    )
      return;
    const { counter, learning, emit } = this.parts;
    const share = (counted: number): string => formatTokens(counted * learning.factor(model));
    const ofRole = (role: 'user' | 'assistant'): string =>
      share(counter.messages(shown.messages.filter((message) => message.role === role)));
    conversation.exhausted = `Little more can be removed from this conversation: it still takes ${formatTokens(tokens)} of the window's ${formatTokens(model.contextWindow)} tokens (instructions and tools ${share(overheadTokens)}, what you wrote and current results ${ofRole('user')}, the model's answers ${ofRole('assistant')}). What would help: fewer tools, a model with a larger window, or a new conversation.`;
    emit({ kind: 'exhausted', conversation: id, message: conversation.exhausted });
  }

  private modelTokens({ model, countedTokens }: LiveConversation): number {
    return Math.ceil(countedTokens * this.parts.learning.factor(model));
  }

  /** A mechanical condensation is made within the request, one that needs a model beside it. */
  private asksModel({ provider, config }: LiveSettings): boolean {
    return this.parts.manager.asksModel(provider, config);
  }

  private condense(
    conversation: LiveConversation,
    reason: CondensationReason,
    signal: AbortSignal | undefined,
  ): Promise<CondensationOutcome | undefined> {
    const settings = this.settings.now(conversation);
    return this.asksModel(settings) || conversation.preparation?.isByHand === true
      ? this.withModel(conversation, reason, signal, settings)
      : this.mechanically(conversation, reason, signal, settings);
  }

  private async mechanically(
    conversation: LiveConversation,
    reason: CondensationReason,
    signal: AbortSignal | undefined,
    settings: LiveSettings,
  ): Promise<CondensationOutcome> {
    const request = {
      ...requestFor(conversation, settings, this.parts.learning, signal),
      ...termsOf(conversation, reason, this.parts.learning),
    };
    const isAtThreshold = reason === 'threshold';
    const fileAwareFollows = isAtThreshold && followingLossless(conversation, settings) === 'fileAware';
    const policy = policyFor(conversation, settings, this.parts.learning, fileAwareFollows);
    const outcome = await condenseWithFallback(this.parts.manager, request, policy);
    const told = isAtThreshold ? withWhyAlone(outcome, conversation, settings) : outcome;
    return applyOutcome(conversation, told, reason, this.parts, signal);
  }

  /** A model may take its time, or never answer: the request waits for it once, and goes on without. */
  private async withModel(
    conversation: LiveConversation,
    reason: CondensationReason,
    signal: AbortSignal | undefined,
    settings: LiveSettings,
  ): Promise<CondensationOutcome | undefined> {
    const running = conversation.preparation;
    const preparation = running ?? this.start(conversation, settings);
    if (preparation && !preparation.hasWaited) {
      preparation.hasWaited = true;
      await this.wait(preparation, settings, signal, running === undefined);
    }
    if (preparation?.isOver) {
      const outcome = await this.applyPrepared(conversation, reason);
      if (outcome && this.isFitting(conversation)) return outcome;
    }
    const asks = this.asksModel(settings);
    if (reason !== 'window' && (asks || conversation.preparation)) return undefined;
    conversation.preparation?.giveUp(NO_ROOM);
    conversation.preparation = undefined;
    const truncation = { ...settings, provider: 'truncation', config: settings.configs?.['truncation'] };
    return this.mechanically(conversation, reason, signal, asks ? truncation : settings);
  }

  /** @throws the signal's reason where it was aborted; what was begun for this request alone ends with it. */
  private async wait(
    preparation: Preparation,
    { waitMs = WAIT_MS }: LiveSettings,
    signal: AbortSignal | undefined,
    isOwn: boolean,
  ): Promise<void> {
    const done = new AbortController();
    const until = signal ? AbortSignal.any([signal, done.signal]) : done.signal;
    await Promise.race([preparation.over, this.parts.clock.sleep(waitMs, until)]);
    done.abort();
    if (signal?.aborted && isOwn) preparation.giveUp('the request that waited for it was cancelled');
    signal?.throwIfAborted();
  }

  private prepareInBackground(conversation: LiveConversation): void {
    const settings = this.settings.now(conversation);
    const { backgroundPercent, isPaused } = settings;
    const { model, id, countedTokens, overheadTokens } = conversation;
    if (backgroundPercent === undefined || isPaused || conversation.preparation || model.contextWindow <= 0) return;
    if (this.modelTokens(conversation) < preparingTokens(backgroundPercent, model) || !this.asksModel(settings)) return;
    if (this.parts.manager.tokensToGo(id, countedTokens - overheadTokens) > 0) return;
    this.start(conversation, settings);
  }

  /** @returns undefined where one came to nothing and too little is new since. */
  private start(conversation: LiveConversation, settings: LiveSettings): Preparation | undefined {
    if (conversation.countedTokens < conversation.waitFor) return undefined;
    const { manager, learning } = this.parts;
    const run = (signal: AbortSignal): Promise<CondensationOutcome> =>
      condenseWithFallback(
        manager,
        requestFor(conversation, settings, learning, signal),
        policyFor(conversation, settings, learning),
      );
    return this.begin(conversation, run, settings, false);
  }

  private begin(
    conversation: LiveConversation,
    run: (signal: AbortSignal) => Promise<CondensationOutcome>,
    { giveUpMs = GIVE_UP_MS }: LiveSettings,
    isByHand: boolean,
  ): Preparation {
    const { clock, emit } = this.parts;
    const { id } = conversation;
    const reason = isByHand ? 'by-hand' : 'background';
    const onGivenUp = (outcome: CondensationOutcome, why: string): void => {
      const notes = [...outcome.notes, `It was abandoned: ${why}.`];
      const given = { ...outcome, kind: 'cancelled' as const, notes };
      emit({ kind: 'not-condensed', conversation: id, outcome: given, reason, givenUp: why });
    };
    const preparation = new Preparation(conversation.standing, run, { clock, giveUpMs, isByHand, onGivenUp });
    conversation.preparation = preparation;
    emit({ kind: 'preparing', conversation: id, isPreparing: true });
    void preparation.over.then(() => {
      emit({ kind: 'preparing', conversation: id, isPreparing: false });
    });
    return preparation;
  }

  /**
   * Applies what was prepared, where the conversation has only grown since. What comes to nothing was paid for: a model is
   * not asked again by itself before the conversation has grown.
   */
  private async applyPrepared(
    conversation: LiveConversation,
    reason: CondensationReason = 'background',
  ): Promise<CondensationOutcome | undefined> {
    const { preparation } = conversation;
    if (!preparation) return undefined;
    const isCurrent = conversation.stillStands(preparation.madeFor);
    if (isCurrent && !preparation.isOver) return undefined;
    if (!isCurrent) preparation.giveUp(OTHER_WAY);
    conversation.preparation = undefined;
    const { outcome, isByHand } = preparation;
    const why = isByHand ? 'by-hand' : reason;
    const taken = outcome?.kind === 'condensed' ? await applyOutcome(conversation, outcome, why, this.parts) : outcome;
    preparation.taken = taken;
    if (taken?.kind === 'condensed') {
      // Results that arrived meanwhile may refer to what the condensation, which did not know of it, took out.
      await conversation.restoreReferences();
      return taken;
    }
    if (!isByHand) conversation.waitFor = Math.ceil(conversation.countedTokens * RETRY_GROWTH);
    if (taken) conversation.whyNot = whyNot(taken);
    if (taken) this.parts.emit({ kind: 'not-condensed', conversation: conversation.id, outcome: taken, reason: why });
    return taken;
  }
}

/** Says that nothing follows Lossless because the agent can't recall; whoever chose that knows it. */
function withWhyAlone(
  outcome: CondensationOutcome,
  { canRecall }: LiveConversation,
  { provider, whenNotEnough }: LiveSettings,
): CondensationOutcome {
  if (provider !== 'lossless' || whenNotEnough !== undefined || canRecall === true) return outcome;
  return outcome.kind === 'unchanged' && outcome.reason !== 'cooling-down' && outcome.reason !== 'target-met'
    ? { ...outcome, detail: `${outcome.detail} ${FOLLOWS_NOT}` }
    : outcome;
}

/** Without these no request goes out: they are made even where the disk is full. */
const IN_NEED: ReadonlySet<CondensationReason> = new Set(['window', 'too-long', 'bytes']);

/**
 * Keeps what was condensed and shows it from now on; what came to nothing is told.
 * @returns what really came of it: where it could not be kept, nothing was taken out.
 * @throws the signal's reason where it was aborted.
 */
async function applyOutcome(
  conversation: LiveConversation,
  outcome: CondensationOutcome,
  reason: CondensationReason,
  parts: LiveParts,
  signal?: AbortSignal,
): Promise<CondensationOutcome> {
  const { id, pinned } = conversation;
  if (outcome.kind !== 'condensed') {
    if (outcome.kind === 'cancelled') signal?.throwIfAborted();
    conversation.whyNot = whyNot(outcome);
    parts.emit({ kind: 'not-condensed', conversation: id, outcome, reason });
    return outcome;
  }
  signal?.throwIfAborted();
  const before = { shown: conversation.shown, tokens: conversation.countedTokens };
  const edits = outcome.edits.filter((edit) => edit.kind === 'summary' || !pinned.has(edit.place.message));
  if (edits.length === 0) {
    const detail = 'Only pinned messages would have changed.';
    return { ...outcome, kind: 'unchanged', reason: 'nothing-to-gain', detail };
  }
  const condensation = await conversation.record({ ...outcome, edits }, IN_NEED.has(reason));
  if (condensation === undefined) {
    const error = new Error('The originals could not be saved, so nothing was removed.');
    return { ...outcome, kind: 'failed', error };
  }
  const decision = decisionOf(conversation, outcome, reason, before, parts);
  conversation.lastDecision = decision;
  conversation.whyNot = undefined;
  parts.emit({ kind: 'condensed', conversation: id, condensation, outcome, decision });
  return outcome;
}

/** The settings with a provider that is there. */
class UsableSettings {
  /** Providers that were told to be missing. */
  private readonly missing = new Set<string>();

  constructor(private readonly parts: LiveParts) {}

  /**
   * The settings as they are now. A provider that isn't there gives way to the default one, and that is told once.
   * @param conversation for which nothing but Lossless runs where its agent asked for too much again.
   */
  now(conversation?: LiveConversation): LiveSettings {
    const { manager, emit } = this.parts;
    const given = conversation?.isCareful ? carefully(this.parts.settings()) : this.parts.settings();
    const settings = conversation?.canRecall === false ? strictly(given) : given;
    const { provider } = settings;
    if (manager.listProviders().some(({ id }) => id === provider)) {
      this.missing.delete(provider);
      // A request beside a task is asked once: no summary of it is worth its price.
      return conversation?.about.isAside === true && manager.asksModel(provider, settings.config)
        ? { ...settings, provider: 'truncation', config: settings.configs?.['truncation'] }
        : settings;
    }
    const { id, name } = manager.defaultProvider;
    if (!this.missing.has(provider)) {
      this.missing.add(provider);
      const message = `There is no provider "${provider}"; ${name} condenses until the extension that provides it has started.`;
      emit({ kind: 'problem', message });
    }
    return { ...settings, provider: id, config: undefined, whenNotEnough: 'nothing' };
  }
}

/** Unless a person said otherwise, an agent that can't recall loses only what stands elsewhere in its view. */
const strictly = (settings: LiveSettings): LiveSettings =>
  settings.provider === 'lossless' && settings.config === undefined
    ? { ...settings, config: { strictOnly: true } }
    : settings;

/** Takes out what stands elsewhere, and nothing else as long as the request fits. */
const carefully = (settings: LiveSettings): LiveSettings => ({
  ...settings,
  provider: 'lossless',
  config: settings.provider === 'lossless' ? settings.config : settings.configs?.['lossless'],
  whenNotEnough: 'nothing',
});
