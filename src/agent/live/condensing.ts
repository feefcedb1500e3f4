/** Condensations of live conversations: when, by what, and what becomes of them. */
import {
  condenseWithFallback,
  type CondensationOutcome,
  type CondensationRequest,
  type FallbackPolicy,
} from '../../core/condense';
import { targetTokensOf } from '../../core/condense/automatic';
import type { WindowLimits } from '../../core/condense/fallback';
import { savingOf } from '../../core/cost/saving';
import type { Shown } from './followEdits';
import { cacheState, dueReason, tokensFrom, type CacheState } from './due';
import type { LiveConversation } from './liveConversation';
import type { LiveParts } from './liveParts';
import { Preparation } from './preparation';
import type { CondensationReason, LiveDecision, LiveSettings, UpstreamModel } from './types';

const WAIT_MS = 30_000;
const GIVE_UP_MS = 300_000;
/** Share of the window that is left free once a request didn't fit: each condensation breaks the cache. */
const ROOM_PERCENT = 20;
/** Share of the window that must be new before a model is asked again that came to nothing. */
const RETRY_PERCENT = 10;
/** Share of the window that a condensation at the threshold must free to be worth a broken cache. */
const WORTHWHILE_PERCENT = 15;
/** Share of a refused request that is tried again. */
const HARDER_SHARE = 0.6;

type Condensed = CondensationOutcome & { readonly kind: 'condensed' };

/** Condenses the live conversations of a window; one object for all of them. */
export class Condensing {
  /** Providers that were told to be missing. */
  private readonly missing = new Set<string>();

  constructor(private readonly parts: LiveParts) {}

  /**
   * Does what is due for a request.
   * @returns what was done; undefined where nothing was.
   * @throws the signal's reason where it was aborted.
   */
  async whatIsDue(
    conversation: LiveConversation,
    signal: AbortSignal | undefined,
  ): Promise<CondensationOutcome | undefined> {
    const prepared = await this.applyPrepared(conversation);
    const reason = this.reason(conversation);
    if (reason) return this.condense(conversation, reason, signal);
    this.prepareInBackground(conversation);
    return prepared;
  }

  /**
   * Condenses harder what the model refused as too long.
   * @returns undefined where nothing could be taken out.
   */
  async harder(
    conversation: LiveConversation,
    signal: AbortSignal | undefined,
  ): Promise<CondensationOutcome | undefined> {
    conversation.preparation?.abort();
    const limitTokens = Math.floor(conversation.countedTokens * HARDER_SHARE) - conversation.overheadTokens;
    const settings = this.settings();
    const provider = this.needsModel(settings) ? 'truncation' : settings.provider;
    const outcome = await condenseWithFallback(
      this.parts.manager,
      {
        ...this.request(conversation, settings, signal),
        provider,
        config: provider === settings.provider ? settings.config : settings.configs?.[provider],
        trigger: 'manual',
        coherenceFloor: {},
        targetTokens: Math.max(0, limitTokens),
      },
      {
        ...this.policy(conversation, settings),
        mayUseNative: false,
        limitTokens,
        truncateTo: limitTokens,
        roomTokens: 0,
      },
    );
    return this.take(conversation, outcome, 'too-long', signal);
  }

  /** Condenses because a person asked for it, as far as they asked; by default to half of what is there. */
  async byHand(
    conversation: LiveConversation,
    options: { readonly provider?: string; readonly config?: unknown; readonly targetPercent?: number },
    signal: AbortSignal | undefined,
  ): Promise<CondensationOutcome> {
    conversation.preparation?.abort();
    const settings = this.settings();
    const messages = conversation.countedTokens - conversation.overheadTokens;
    const { provider = settings.provider, config = provider === settings.provider ? settings.config : undefined } =
      options;
    const outcome = await this.parts.manager.condense({
      ...this.request(conversation, settings, signal),
      provider,
      config,
      trigger: 'manual',
      targetTokens: Math.ceil((messages * (options.targetPercent ?? 50)) / 100),
    });
    return this.take(conversation, outcome, 'by-hand', signal);
  }

  /** The settings as they are now; a provider that isn't there gives way to the active one, and that is told once. */
  private settings(): LiveSettings {
    const { manager, emit } = this.parts;
    const settings = this.parts.settings();
    const { provider } = settings;
    if (manager.listProviders().some(({ id }) => id === provider)) {
      this.missing.delete(provider);
      return settings;
    }
    const { id, name } = manager.getActiveProvider();
    if (!this.missing.has(provider)) {
      this.missing.add(provider);
      const message = `There is no provider "${provider}"; ${name} condenses until the extension that brings it has started.`;
      emit({ kind: 'problem', message });
    }
    return { ...settings, provider: id, config: undefined };
  }

  /** Whether the request, as it stands, fits into the model's window. */
  isFitting(conversation: LiveConversation): boolean {
    const { model, countedTokens } = conversation;
    return model.contextWindow <= 0 || countedTokens <= this.parts.learning.fitting(model);
  }

  private reason(conversation: LiveConversation): CondensationReason | undefined {
    const { manager } = this.parts;
    const { model, countedTokens, overheadTokens, id } = conversation;
    return dueReason({
      model,
      tokens: this.modelTokens(conversation),
      isFitting: this.isFitting(conversation),
      cache: this.cache(conversation),
      coldPercent: this.settings().coldPercent,
      coolsDown: manager.tokensToGo(id, countedTokens - overheadTokens) > 0,
    });
  }

  private modelTokens({ model, countedTokens }: LiveConversation): number {
    return Math.ceil(countedTokens * this.parts.learning.factor(model));
  }

  private cache({ model, lastAnswered }: LiveConversation): CacheState {
    return cacheState(model, lastAnswered, this.parts.clock.now());
  }

  /** A mechanical condensation is made within the request, one that needs a model beside it. */
  private needsModel({ provider, config }: LiveSettings): boolean {
    return this.parts.manager.asksModel(provider, config);
  }

  private condense(
    conversation: LiveConversation,
    reason: CondensationReason,
    signal: AbortSignal | undefined,
  ): Promise<CondensationOutcome | undefined> {
    const settings = this.settings();
    return this.needsModel(settings)
      ? this.withModel(conversation, reason, signal, settings)
      : this.mechanically(conversation, reason, signal, settings);
  }

  private async mechanically(
    conversation: LiveConversation,
    reason: CondensationReason,
    signal: AbortSignal | undefined,
    settings: LiveSettings,
  ): Promise<CondensationOutcome> {
    const request = { ...this.request(conversation, settings, signal), ...this.terms(conversation, reason) };
    const outcome = await condenseWithFallback(this.parts.manager, request, this.policy(conversation, settings));
    return this.take(conversation, outcome, reason, signal);
  }

  /** At the threshold only what is worth a broken cache; before content would be lost, all that can be had without. */
  private terms(
    { model, countedTokens, overheadTokens }: LiveConversation,
    reason: CondensationReason,
  ): Partial<Pick<CondensationRequest, 'trigger' | 'minimumGain'>> {
    if (reason === 'window') return { trigger: 'manual' };
    if (reason !== 'threshold') return {};
    const tokens = this.shareOf(WORTHWHILE_PERCENT, model);
    const percent = Math.ceil((100 * tokens) / Math.max(1, countedTokens - overheadTokens));
    return { minimumGain: { percent, tokens } };
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
    if (reason !== 'window') return undefined;
    conversation.preparation?.abort();
    conversation.preparation = undefined;
    return this.mechanically(conversation, reason, signal, {
      ...settings,
      provider: 'truncation',
      config: settings.configs?.['truncation'],
    });
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
    if (signal?.aborted && isOwn) preparation.abort();
    signal?.throwIfAborted();
  }

  private prepareInBackground(conversation: LiveConversation): void {
    const settings = this.settings();
    const { backgroundPercent } = settings;
    const { model, id, countedTokens, overheadTokens } = conversation;
    if (backgroundPercent === undefined || conversation.preparation || model.contextWindow <= 0) return;
    if (this.modelTokens(conversation) < tokensFrom(backgroundPercent, model) || !this.needsModel(settings)) return;
    if (this.parts.manager.tokensToGo(id, countedTokens - overheadTokens) > 0) return;
    this.start(conversation, settings);
  }

  /** @returns undefined where one came to nothing and too little is new since. */
  private start(conversation: LiveConversation, settings: LiveSettings): Preparation | undefined {
    const { clock, manager, emit } = this.parts;
    const { id, revision, countedTokens } = conversation;
    if (countedTokens < conversation.waitFor) return undefined;
    const run = (signal: AbortSignal): Promise<CondensationOutcome> =>
      condenseWithFallback(manager, this.request(conversation, settings, signal), this.policy(conversation, settings));
    const preparation = new Preparation(revision, run, clock, settings.giveUpMs ?? GIVE_UP_MS);
    conversation.preparation = preparation;
    emit({ kind: 'preparing', conversation: id, isPreparing: true });
    void preparation.over.then(() => {
      emit({ kind: 'preparing', conversation: id, isPreparing: false });
    });
    return preparation;
  }

  /** Applies what was prepared, where the conversation has only grown since. */
  private async applyPrepared(
    conversation: LiveConversation,
    reason: CondensationReason = 'background',
  ): Promise<CondensationOutcome | undefined> {
    const { preparation } = conversation;
    if (!preparation) return undefined;
    if (preparation.revision !== conversation.revision) preparation.abort();
    else if (!preparation.isOver) return undefined;
    conversation.preparation = undefined;
    const { outcome } = preparation;
    if (preparation.revision !== conversation.revision) return undefined;
    if (outcome?.kind === 'condensed') return this.take(conversation, outcome, reason, undefined);
    conversation.waitFor = conversation.countedTokens + this.shareOf(RETRY_PERCENT, conversation.model);
    if (outcome) this.tell(conversation, outcome, reason);
    return outcome;
  }

  /** Keeps and shows what was condensed. */
  private async take(
    conversation: LiveConversation,
    outcome: CondensationOutcome,
    reason: CondensationReason,
    signal: AbortSignal | undefined,
  ): Promise<CondensationOutcome> {
    if (outcome.kind !== 'condensed') {
      if (outcome.kind === 'cancelled') signal?.throwIfAborted();
      this.tell(conversation, outcome, reason);
      return outcome;
    }
    signal?.throwIfAborted();
    const before = { shown: conversation.shown, tokens: conversation.countedTokens };
    const { pinned } = conversation;
    const edits = outcome.edits.filter((edit) => edit.kind === 'summary' || !pinned.has(edit.place.message));
    if (edits.length === 0) {
      const detail = 'Nothing but pinned messages would have changed.';
      return { ...outcome, kind: 'unchanged', reason: 'nothing-to-gain', detail };
    }
    const id = await conversation.record({ ...outcome, edits }, reason === 'window' || reason === 'too-long');
    if (id === undefined) {
      const error = new Error('The originals could not be kept, so that nothing was taken out.');
      return { ...outcome, kind: 'failed', error };
    }
    const decision = this.decision(conversation, outcome, reason, before);
    conversation.lastDecision = decision;
    this.parts.emit({ kind: 'condensed', conversation: conversation.id, condensation: id, outcome, decision });
    return outcome;
  }

  private tell({ id }: LiveConversation, outcome: CondensationOutcome, reason: CondensationReason): void {
    this.parts.emit({ kind: 'not-condensed', conversation: id, outcome, reason });
  }

  /** What a condensation is worth: what it freed, what of the cache it broke, when it has paid for itself. */
  private decision(
    conversation: LiveConversation,
    outcome: Condensed,
    reason: CondensationReason,
    before: { readonly shown: Shown; readonly tokens: number },
  ): LiveDecision {
    const { model, shown, countedTokens, overheadTokens } = conversation;
    const factor = this.parts.learning.factor(model);
    const isCacheWarm = this.cache(conversation) === 'warm';
    const tokensBefore = Math.ceil(before.tokens * factor);
    const tokensAfter = Math.ceil(countedTokens * factor);
    const kept = shown.messages.findIndex((message, index) => message !== before.shown.messages[index]);
    const keptTokens =
      overheadTokens + this.parts.counter.messages(shown.messages.slice(0, kept < 0 ? undefined : kept));
    const effect = { tokensBefore, tokensAfter, keptPrefixTokens: Math.ceil(keptTokens * factor), cost: outcome.cost };
    const { prices, accounting = 'anthropic', cacheLifetime = 'none', contextWindow } = model;
    return {
      reason,
      tokensBefore,
      tokensAfter,
      contextWindow,
      isCacheWarm,
      ...(prices && { saving: savingOf(effect, { prices, accounting, cacheLifetime, isCacheWarm }) }),
    };
  }

  private window({ model }: LiveConversation): WindowLimits {
    const { contextWindow, maxOutputTokens } = model;
    const tokenFactor = this.parts.learning.factor(model);
    return { contextWindow, tokenFactor, ...(maxOutputTokens !== undefined && { maxOutputTokens }) };
  }

  /** O200k tokens of a percentage of the window. */
  private shareOf(percent: number, model: UpstreamModel): number {
    return Math.floor(tokensFrom(percent, model) / this.parts.learning.factor(model));
  }

  private request(
    conversation: LiveConversation,
    settings: LiveSettings,
    signal: AbortSignal | undefined,
  ): CondensationRequest {
    const { id, messages, shown, model, system, overheadTokens, pinned } = conversation;
    const { provider, config, target, maxCost, coherenceFloor } = settings;
    const window = this.window(conversation);
    return {
      conversation: id,
      messages,
      edits: shown.edits,
      provider,
      config,
      trigger: 'automatic',
      targetTokens: targetTokensOf(window, target, overheadTokens),
      windowTokens: Math.floor(model.contextWindow / (window.tokenFactor ?? 1)),
      overheadTokens,
      ...(system !== undefined && { system }),
      ...(model.vendor !== undefined && { vendor: model.vendor }),
      ...(pinned.size > 0 && { pinned }),
      ...(maxCost !== undefined && { maxCost }),
      ...(coherenceFloor && { coherenceFloor }),
      ...(signal && { signal }),
    };
  }

  private policy(conversation: LiveConversation, { mayUseNative, configs, target }: LiveSettings): FallbackPolicy {
    const { model, overheadTokens } = conversation;
    return {
      mayUseNative,
      limitTokens: this.parts.learning.fitting(model) - overheadTokens,
      roomTokens: this.shareOf(ROOM_PERCENT, model),
      truncateTo: targetTokensOf(this.window(conversation), target, overheadTokens),
      hasFloor: true,
      ...(configs && { configs }),
    };
  }
}
