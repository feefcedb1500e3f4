import type { MessageCounter } from '../tokens/messageCounter';
import { mayCallModel, parseConfigOrThrow } from './config';
import { checkCondensationResult } from './checkResult';
import { measureCoherence, describeFloorBreaches } from './coherence/coherence';
import {
  DEFAULT_MINIMUM_GAIN,
  type CondensationOutcome,
  type CondensationRequest,
  type OutcomeFields,
  type ProviderInfo,
} from './condensation';
import { explainTooLittleGain } from './minimumGain';
import { CondensationCooldown } from './cooldown';
import { applyEdits } from './edits/applyEdits';
import { yieldBetweenSteps } from '../betweenSteps';
import {
  ProviderFailure,
  getProviderName,
  type CondensationEstimate,
  type CondensationProvider,
  type ConversationContext,
  type CachedLosslessRunsByMessages,
  type ProviderResult,
  type UnchangedReason,
} from './types';
import type { ApiMessage } from '../messages/types';
import { makeEditPlaceKey } from './edits/edits';
import { formatTokens } from '../format';

export class UnknownProviderError extends Error {
  constructor(
    readonly id: string,
    knownIds: readonly string[],
  ) {
    super(`There is no provider "${id}". Known providers: ${knownIds.join(', ')}.`);
    this.name = 'UnknownProviderError';
  }
}

export class CondensationManager {
  private readonly providers = new Map<string, CondensationProvider>();
  private readonly cooldown = new CondensationCooldown();
  private readonly losslessRuns: CachedLosslessRunsByMessages = new WeakMap();

  /** @param providers at least one; the first is the default */
  constructor(
    private readonly counter: MessageCounter,
    providers: readonly [CondensationProvider, ...CondensationProvider[]],
  ) {
    for (const provider of providers) this.registerProvider(provider);
  }

  /** @throws Error if another provider has the ID */
  registerProvider(provider: CondensationProvider): void {
    if (this.providers.has(provider.id)) throw new Error(`A provider "${provider.id}" is already registered.`);
    this.providers.set(provider.id, provider);
  }

  unregisterProvider(id: string): void {
    this.providers.delete(id);
  }

  /** @throws UnknownProviderError */
  getProvider(id: string): CondensationProvider {
    const provider = this.providers.get(id);
    if (!provider) throw new UnknownProviderError(id, [...this.providers.keys()]);
    return provider;
  }

  getProviderDisplayName(id: string): string {
    return getProviderName(id, [...this.providers.values()]);
  }

  listProviders(): ProviderInfo[] {
    return [...this.providers.values()].map((provider) => ({
      id: provider.id,
      name: provider.name,
      description: provider.description,
      version: provider.version,
      capabilities: provider.getCapabilities(),
    }));
  }

  /** @throws UnknownProviderError */
  mayCallModel(id: string, config: unknown): boolean {
    const provider = this.getProvider(id);
    return mayCallModel(provider, config);
  }

  /**
   * Used by requests that name no provider.
   * @throws Error if all were removed
   */
  get defaultProvider(): CondensationProvider {
    const [firstProvider] = this.providers.values();
    if (!firstProvider) throw new Error('There is no provider.');
    return firstProvider;
  }

  private resolveProvider({ provider }: CondensationRequest): CondensationProvider {
    return provider === undefined ? this.defaultProvider : this.getProvider(provider);
  }

  countTokensUntilDue(conversation: string, tokens: number): number {
    return this.cooldown.countTokensUntilEnd(conversation, tokens);
  }

  /** Makes automatic attempts wait until the conversation has grown. */
  startCooldown(conversation: string, tokens: number, overheadTokens: number): void {
    this.cooldown.startCooldown(conversation, tokens, overheadTokens);
  }

  /** Ends a delay that {@link startCooldown} began. */
  endCooldown(conversation: string): void {
    this.cooldown.endCooldown(conversation);
  }

  /**
   * Makes no paid calls.
   * @throws UnknownProviderError, and the signal's reason if it was aborted
   */
  async estimate(request: CondensationRequest): Promise<CondensationEstimate> {
    const provider = this.resolveProvider(request);
    const { config } = parseConfigOrThrow(provider, request.config);
    const { context } = this.createSituation(request);
    return provider.estimate(context, config, request);
  }

  /**
   * Reports a provider's errors in the outcome and never throws them.
   * @throws UnknownProviderError
   */
  async condense(request: CondensationRequest): Promise<CondensationOutcome> {
    const provider = this.resolveProvider(request);
    const startTime = performance.now();
    const { context, current, staleEdits } = this.createSituation(request);
    const tokensBefore = this.counter.countMessages(current);
    const notes = [...describeStaleEdits(staleEdits), ...this.describeUnreachableTargetOnce(request, tokensBefore)];
    const configName = request.configName ?? provider.nameOfConfig?.(request.config);
    const makeOutcomeFields = ({ steps, cost, calls, estimatedCost }: ProviderSpending): OutcomeFields => ({
      provider: provider.id,
      ...(configName !== undefined && { configNames: { [provider.id]: configName } }),
      tokensBefore,
      steps,
      cost,
      ...(calls && { calls }),
      ...(estimatedCost !== undefined && { estimatedCost }),
      timeMs: performance.now() - startTime,
      notes,
    });
    const makeUnchangedOutcome = (
      reason: UnchangedReason,
      detail: string,
      spent: ProviderSpending = NO_PROVIDER_SPENDING,
    ) => ({ ...makeOutcomeFields(spent), kind: 'unchanged', reason, detail }) as const;

    if (request.targetTokens !== undefined && tokensBefore <= request.targetTokens) {
      return makeUnchangedOutcome(
        'target-met',
        `${formatTokens(tokensBefore)} tokens are within the target of ${formatTokens(request.targetTokens)}.`,
      );
    }
    if (request.trigger === 'automatic') {
      const tokensUntilCooldownEnd = this.cooldown.countTokensUntilEnd(request.conversation, tokensBefore);
      if (tokensUntilCooldownEnd > 0) {
        return makeUnchangedOutcome(
          'cooling-down',
          `The last condensation freed too little; the next waits for ${tokensUntilCooldownEnd} new tokens.`,
        );
      }
    }
    const outcome = await this.runProvider(provider, context, request, {
      makeOutcomeFields,
      makeUnchangedOutcome,
      tokensBefore,
      notes,
    });
    if (request.trigger !== 'weight') this.cooldown.recordOutcome(request.conversation, outcome, request);
    return outcome;
  }

  private async runProvider(
    provider: CondensationProvider,
    context: ConversationContext,
    request: CondensationRequest,
    makers: OutcomeBuilder,
  ): Promise<CondensationOutcome> {
    let result: ProviderResult | undefined;
    try {
      const { config, notes } = parseConfigOrThrow(provider, request.config);
      makers.notes.push(...notes);
      // Applying the earlier edits and counting tokens took time, so the event loop runs first.
      await yieldBetweenSteps(request.signal);
      result = await provider.condense(context, config, request);
      makers.notes.push(...(result.notes ?? []));
      return await this.checkProviderResult(provider, result, context, request, makers);
    } catch (error) {
      // Spending is reported even without a result.
      const baseOutcome = makers.makeOutcomeFields(
        result ?? (error instanceof ProviderFailure ? error.spent : NO_PROVIDER_SPENDING),
      );
      if (error instanceof ProviderFailure) makers.notes.push(...(error.spent.notes ?? []));
      if (request.signal?.aborted) return { ...baseOutcome, kind: 'cancelled' };
      return { ...baseOutcome, kind: 'failed', error: error instanceof Error ? error : new Error(String(error)) };
    }
  }

  private createSituation(request: CondensationRequest): ConversationSituation {
    const { messages, edits = [], system, vendor, pinned, ownModel } = request;
    const { messages: currentMessages, stale: staleEdits } = applyEdits(messages, edits);
    const staleKeys = new Set(staleEdits.map(makeEditPlaceKey));
    const conversationParts = {
      conversation: request.conversation,
      ...(system !== undefined && { system }),
      ...(vendor !== undefined && { vendor }),
      ...(pinned && { pinned }),
      ...(ownModel && { ownModel }),
    };
    const { counter, losslessRuns } = this;
    const activeEdits = edits.filter((edit) => !staleKeys.has(makeEditPlaceKey(edit)));
    return {
      context: { messages, edits: activeEdits, counter, losslessRuns, ...conversationParts },
      current: currentMessages,
      staleEdits: staleEdits.length,
    };
  }

  /** Each note is reported only once per conversation. */
  private describeUnreachableTargetOnce(request: CondensationRequest, tokens: number): string[] {
    const note = describeUnreachableTarget(request, tokens, this.counter);
    return note !== undefined && this.cooldown.isFirstReport(request.conversation) ? [note] : [];
  }

  private async checkProviderResult(
    provider: CondensationProvider,
    result: ProviderResult,
    context: ConversationContext,
    request: CondensationRequest,
    { makeOutcomeFields, makeUnchangedOutcome, tokensBefore }: OutcomeBuilder,
  ): Promise<CondensationOutcome> {
    if (result.edits.length === 0) {
      const { reason, detail } = result.unchanged ?? {
        reason: 'nothing-to-gain',
        detail: `${provider.name} found nothing to remove.`,
      };
      return makeUnchangedOutcome(reason, detail, result);
    }
    await yieldBetweenSteps(request.signal);
    const checkedResult = await checkCondensationResult(context, result.edits, request);
    const { edits, view, tokens: tokensAfter, staleEdits, violations } = checkedResult;
    if (staleEdits > 0) throw new Error(`${provider.name} gave ${staleEdits} edits of another conversation.`);
    if (violations.length > 0) return { ...makeOutcomeFields(result), kind: 'refused', violations };
    const savedTokens = tokensBefore - tokensAfter;
    if (savedTokens < 0)
      return makeUnchangedOutcome('grew', `The result is ${formatTokens(-savedTokens)} tokens larger.`, result);
    const tooLittleGainText = explainTooLittleGain(
      tokensBefore,
      tokensAfter,
      request.minimumGain ?? DEFAULT_MINIMUM_GAIN,
    );
    if (tooLittleGainText !== undefined) return makeUnchangedOutcome('below-minimum-gain', tooLittleGainText, result);
    await yieldBetweenSteps(request.signal);
    const coherence = measureCoherence(request.messages, [...context.edits, ...edits]);
    const floorBreaches = describeFloorBreaches(coherence, request.coherenceFloor ?? {});
    if (floorBreaches.length > 0) return makeUnchangedOutcome('incoherent', `${floorBreaches.join('; ')}.`, result);
    return { ...makeOutcomeFields(result), kind: 'condensed', tokensAfter, edits, view, coherence };
  }
}

type ProviderSpending = Pick<ProviderResult, 'steps' | 'cost' | 'calls' | 'estimatedCost'>;
const NO_PROVIDER_SPENDING: ProviderSpending = { steps: [], cost: 0 };

interface OutcomeBuilder {
  readonly notes: string[];
  readonly makeOutcomeFields: (spent: ProviderSpending) => OutcomeFields;
  readonly makeUnchangedOutcome: (
    reason: UnchangedReason,
    detail: string,
    spent?: ProviderSpending,
  ) => CondensationOutcome;
  readonly tokensBefore: number;
}

export interface ConversationSituation {
  readonly context: ConversationContext;
  readonly current: readonly ApiMessage[];
  /** Number of earlier edits dropped because the conversation has diverged. */
  readonly staleEdits: number;
}

const describeStaleEdits = (staleEdits: number): string[] =>
  staleEdits === 0
    ? []
    : [`${staleEdits} earlier edits no longer fit the conversation and were left out: it has taken another course.`];

/**
 * Warns if the task alone exceeds the target.
 * @param tokens o200k tokens of the view
 */
function describeUnreachableTarget(
  request: CondensationRequest,
  tokens: number,
  counter: MessageCounter,
): string | undefined {
  const { messages, targetTokens, overheadTokens } = request;
  if (targetTokens === undefined || tokens <= targetTokens) return undefined;
  const taskMessage = messages.find((message) => message.role === 'user');
  const taskTokens = taskMessage ? counter.countMessage(taskMessage) : 0;
  if (taskTokens <= targetTokens) return undefined;
  const overheadText = overheadTokens ? `, plus ${formatTokens(overheadTokens)} for the system prompt and tools` : '';
  return `The task alone has ${formatTokens(taskTokens)} tokens${overheadText}: the messages can’t be reduced below ${formatTokens(targetTokens)}.`;
}
