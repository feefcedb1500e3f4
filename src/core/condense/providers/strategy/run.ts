import { sumOfCosts } from '../../../cost/callCost';
import { sumOfTokens, type TokensByKind } from '../../../cost/usage';
import { errorMessage } from '../../../errors';
import { toolExchanges } from '../../../messages/exchanges';
import { newViolations } from '../../../messages/firewall';
import { judge, missingFacts, type ConditionFacts } from '../../trigger/condition';
import { usableConfig, type UsableConfig } from '../../config';
import { applyEdits } from '../../edits/applyEdits';
import type { Edit } from '../../edits/edits';
import {
  ProviderFailure,
  providerNameOf,
  type CondensationEstimate,
  type CondensationOptions,
  type CondensationProvider,
  type ConversationContext,
  type ModelCall,
  type ProviderResult,
  type StepReport,
} from '../../types';
import type { Strategy, StrategyStep } from './strategy';
import type { Preset } from '../smart/presets';

/** One run of a strategy. What a step did wrong is dropped and told; the next one runs on what stands. */
export class StrategyRun {
  private readonly edits: Edit[] = [];
  private readonly steps: StepReport[] = [];
  private readonly notes: string[] = [];
  private readonly calls: ModelCall[] = [];
  private readonly costs: (number | undefined)[] = [];
  /** Of the steps that were estimated to call a model. */
  private readonly callTokens: TokensByKind[] = [];
  private readonly estimates: (number | undefined)[] = [];
  private hasFailed = false;
  /** Edits that stood before this round of the steps. */
  private standing: readonly Edit[];
  /** Rounds behind the first call no model: nobody asked for two. */
  private isFirstRound = true;
  private tokens: number;
  private readonly tokensBefore: number;

  constructor(
    private readonly parts: StepParts,
    private readonly context: ConversationContext,
    private readonly options: CondensationOptions,
  ) {
    this.standing = context.edits;
    this.tokens = this.tokensBefore = this.tokensWith([]);
  }

  /** @throws the signal's reason where it was aborted before anything was paid; a ProviderFailure afterwards. */
  async run(strategy: Strategy): Promise<ProviderResult> {
    await this.inRounds(() => this.runSteps(strategy));
    return { ...this.spent(), edits: this.edits };
  }

  /** Each step's own estimate, on what the estimates before it would leave. */
  async estimate(strategy: Strategy): Promise<CondensationEstimate> {
    await this.inRounds(() => this.estimateSteps(strategy));
    const { tokensBefore, tokens, steps, edits } = this;
    const callTokens = this.callTokens.length === 0 ? {} : { callTokens: sumOfTokens(this.callTokens) };
    return { tokensBefore, tokensAfter: tokens, steps, edits, cost: sumOfCosts(this.costs), ...callTokens };
  }

  /**
   * Goes through the steps once; again, where one ended the list above the target and nothing was paid: with fewer tokens, other
   * steps' conditions hold. Else the same strategy, run a second time, would find what was left here.
   */
  private async inRounds(round: () => Promise<'ended' | 'through'>): Promise<void> {
    const { targetTokens = 0 } = this.options;
    for (;;) {
      const { tokens } = this;
      const [steps, notes] = [this.steps.length, this.notes.length];
      const end = await round();
      const isFree = this.costs.every((cost) => cost === 0) && this.calls.length === 0;
      if (this.tokens === tokens && !this.isFirstRound) {
        // Nobody needs to read of a round that found nothing.
        this.steps.length = steps;
        this.notes.length = notes;
      }
      if (end === 'through' || !isFree || this.tokens >= tokens || this.tokens <= targetTokens) return;
      this.standing = [...this.context.edits, ...this.edits];
      this.isFirstRound = false;
      this.hasFailed = false;
    }
  }

  private async runSteps(strategy: Strategy): Promise<'ended' | 'through'> {
    for (const step of strategy.steps) {
      const why = this.whyNot(step) ?? (step.affordable ? await this.whyTooDear(step) : undefined);
      if (why !== undefined) {
        this.steps.push(this.skipped(nameOf(step), why));
        continue;
      }
      const { tokens } = this;
      const reports = await this.runStep(step);
      if (step.ends && (this.tokens < tokens || this.hasDone(reports))) return 'ended';
    }
    return 'through';
  }

  private async estimateSteps(strategy: Strategy): Promise<'ended' | 'through'> {
    for (const step of strategy.steps) {
      const ready = readyStep(step, this.parts);
      const why = this.whyNot(step) ?? (typeof ready === 'string' ? ready : undefined);
      if (why !== undefined || typeof ready === 'string') {
        this.steps.push(this.skipped(nameOf(step), why ?? ''));
        continue;
      }
      const { tokens } = this;
      const estimate = await ready.provider.estimate(this.contextNow(), ready.config, this.optionsNow());
      const tooDear = step.affordable ? this.whyNotAffordable(estimate.cost) : undefined;
      if (tooDear !== undefined) {
        this.steps.push(this.skipped(nameOf(step), tooDear));
        continue;
      }
      this.steps.push(...estimate.steps.map((report) => ({ ...report, name: `${ready.name}: ${report.name}` })));
      this.costs.push(estimate.cost);
      if (estimate.callTokens) this.callTokens.push(estimate.callTokens);
      if (estimate.edits) this.apply(ready.name, estimate.edits);
      else this.tokens = Math.min(this.tokens, estimate.tokensAfter);
      if (step.ends && (this.tokens < tokens || this.hasDone(estimate.steps))) return 'ended';
    }
    return 'through';
  }

  /**
   * Whether the view already shows what these steps do: a condensation before went this way, and a second one would not find more by
   * going on to steps that were never meant to follow.
   */
  private hasDone(reports: readonly StepReport[]): boolean {
    const names = new Set(reports.map(({ name }) => name));
    return this.standing.some(({ step }) => names.has(step));
  }

  /** Why a step doesn't run; undefined where it does. */
  private whyNot(step: StrategyStep): string | undefined {
    const { targetTokens, windowTokens, overheadTokens = 0, cacheCold } = this.options;
    if (targetTokens !== undefined && this.tokens <= targetTokens) return 'the target was already met';
    if (step.after === 'failure' && !this.hasFailed) return 'no earlier step failed';
    const facts: ConditionFacts = {
      tokens: this.tokens,
      overheadTokens,
      windowTokens,
      targetTokens,
      cacheCold,
      toolResults: toolExchanges(this.context.messages).filter(({ resultMessage }) => resultMessage !== undefined)
        .length,
      budgetLeft: this.budgetLeft(),
    };
    const verdict = judge(step.when, facts);
    if (verdict === 'fails') return 'condition not met';
    if (verdict === 'unknown') return missingFacts(step.when, facts);
    return undefined;
  }

  /** @param cost US dollars that a step is expected to cost; undefined where nobody knows. */
  private whyNotAffordable(cost: number | undefined): string | undefined {
    if (cost === undefined) return 'what it would cost is not known';
    return cost > this.budgetLeft()
      ? `it would cost $${cost.toFixed(4)}, and $${this.budgetLeft().toFixed(4)} may be spent`
      : undefined;
  }

  private async whyTooDear(step: StrategyStep): Promise<string | undefined> {
    const ready = readyStep(step, this.parts);
    if (typeof ready === 'string') return ready;
    const { cost } = await ready.provider.estimate(this.contextNow(), ready.config, this.optionsNow());
    return this.whyNotAffordable(cost);
  }

  /** @returns the reports of the step's own steps; none where it failed. */
  private async runStep(step: StrategyStep): Promise<readonly StepReport[]> {
    const ready = readyStep(step, this.parts);
    if (typeof ready === 'string') {
      this.fail(nameOf(step), ready);
      return [];
    }
    const { name, provider, config } = ready;
    this.notes.push(...ready.notes.filter((note) => !this.notes.includes(note)));
    try {
      const result = await provider.condense(this.contextNow(), config, this.optionsNow());
      this.take(name, result);
      this.apply(name, result.edits);
      return result.steps;
    } catch (error) {
      if (error instanceof ProviderFailure) this.take(name, error.spent);
      if (this.options.signal?.aborted) throw this.cancelled(error);
      this.fail(name, errorMessage(error));
      return [];
    }
  }

  /** A cancelled run applies nothing; what it spent is told. */
  private cancelled(error: unknown): unknown {
    if (this.calls.length === 0) return error;
    return new ProviderFailure('The run was cancelled.', this.spent(), { canRetry: true, offerOtherProfile: false });
  }

  /** Takes a step's edits over, unless the view would be worse for them. */
  private apply(name: string, edits: readonly Edit[]): void {
    if (edits.length === 0) return;
    const { messages } = this.context;
    const all = [...this.context.edits, ...this.edits, ...edits];
    const { messages: view, origins, stale } = applyEdits(messages, all);
    const violations = newViolations(messages, view, { origins });
    const tokens = this.context.counter.messages(view);
    if (stale.length > 0 || violations.length > 0) {
      this.fail(name, `the result would not be a valid conversation (${violations[0]?.rule ?? 'stale edits'})`);
    } else if (tokens < this.tokens) {
      this.edits.push(...edits);
      this.tokens = tokens;
    }
  }

  private take(name: string, { steps, cost, notes, calls, estimatedCost }: Omit<ProviderResult, 'edits'>): void {
    this.steps.push(...steps.map((report) => ({ ...report, name: `${name}: ${report.name}` })));
    this.notes.push(...(notes ?? []));
    this.calls.push(...(calls ?? []));
    this.costs.push(cost);
    if (calls && calls.length > 0) this.estimates.push(estimatedCost);
  }

  private fail(name: string, reason: string): void {
    this.hasFailed = true;
    this.steps.push({ ...this.skipped(name, reason), outcome: { kind: 'failed', reason } });
    this.notes.push(`${name}: ${reason}`);
  }

  private skipped(name: string, reason: string): StepReport {
    const { tokens } = this;
    const outcome = { kind: 'skipped', reason } as const;
    return { name, tokensBefore: tokens, tokensAfter: tokens, edits: 0, timeMs: 0, cost: 0, outcome };
  }

  private contextNow(): ConversationContext {
    return { ...this.context, edits: [...this.context.edits, ...this.edits] };
  }

  private optionsNow(): CondensationOptions {
    const maxCost = this.budgetLeft();
    return Number.isFinite(maxCost) ? { ...this.options, maxCost } : this.options;
  }

  /** US dollars; what nobody knows the cost of counts as all that was left. */
  private budgetLeft(): number {
    const { maxCost } = this.options;
    if (!this.isFirstRound) return 0;
    if (maxCost === undefined) return Number.POSITIVE_INFINITY;
    return Math.max(0, maxCost - (sumOfCosts(this.costs) ?? maxCost));
  }

  private spent(): Omit<ProviderResult, 'edits'> {
    const { steps, notes, calls } = this;
    const estimatedCost = sumOfCosts(this.estimates);
    return {
      steps,
      notes,
      calls,
      cost: sumOfCosts(this.costs),
      ...(calls.length > 0 && estimatedCost !== undefined && { estimatedCost }),
    };
  }

  private tokensWith(edits: readonly Edit[]): number {
    const { messages, counter } = this.context;
    return counter.messages(applyEdits(messages, [...this.context.edits, ...edits]).messages);
  }
}

const nameOf = ({ provider, preset }: StrategyStep): string => preset ?? providerNameOf(provider ?? '');

/** The providers and presets that steps may name. */
export interface StepParts {
  readonly provider: (id: string) => CondensationProvider | undefined;
  readonly preset: (id: string) => Preset | undefined;
}

/** A step's provider with its configuration, checked. */
export interface ReadyStep extends UsableConfig {
  readonly name: string;
  readonly provider: CondensationProvider;
}

/** A step made ready to run; the problem in words if it can't run. */
export function readyStep(
  step: StrategyStep,
  { provider: providerOf, preset: presetOf }: StepParts,
): ReadyStep | string {
  const id = step.preset === undefined ? (step.provider ?? '') : 'smart';
  const provider = providerOf(id);
  if (!provider) {
    return id === 'native'
      ? 'it needs a model, and no model is called here: remove this step, or condense in VS Code'
      : `there is no provider "${id}"`;
  }
  const preset = step.preset === undefined ? undefined : presetOf(step.preset);
  if (step.preset !== undefined && !preset) return `there is no preset "${step.preset}"`;
  const usable = usableConfig(provider, preset ? preset.config : step.config);
  return typeof usable === 'string' ? usable : { name: preset?.name ?? provider.name, provider, ...usable };
}
