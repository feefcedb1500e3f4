import { sumCosts } from '../../../cost/callCost';
import { sumTokens, type TokensByKind } from '../../../cost/usage';
import { getErrorMessage } from '../../../errors';
import { listToolExchanges } from '../../../messages/exchanges';
import { checkCondensationResult } from '../../checkResult';
import { parseUsableConfig, type UsableConfig } from '../../config';
import type { PipelineStep, PipelineResult } from '../../draft/steps';
import type { PipelineWork } from '../../draft/work';
import { applyEdits } from '../../edits/applyEdits';
import type { Edit } from '../../edits/edits';
import { makeStepReport, runPipeline, type PipelineRound } from '../../pipeline';
import { describeUnmetCondition } from '../../trigger/condition';
import {
  ProviderFailure,
  getProviderName,
  type CondensationEstimate,
  type CondensationOptions,
  type CondensationProvider,
  type ConversationContext,
  type ModelCall,
  type ProviderResult,
  type StepReport,
} from '../../types';
import type { Preset } from '../smart/presets';
import type { Strategy, StrategyStep } from './strategy';

export interface StrategyStepDependencies {
  readonly provider: (id: string) => CondensationProvider | undefined;
  readonly preset: (id: string) => Preset | undefined;
}

/**
 * Drops a failed step's changes and runs the next step.
 * @throws the signal's reason if nothing was paid before the abort; otherwise a ProviderFailure
 */
export async function runStrategy(
  { steps }: Strategy,
  dependencies: StrategyStepDependencies,
  context: ConversationContext,
  options: CondensationOptions,
): Promise<ProviderResult> {
  const work = new StrategyProgress(context, options);
  try {
    await runPipeline(
      work,
      steps.map((step) => makePipelineStep(step, dependencies, false)),
      work.pipelineOptions,
    );
  } catch (error) {
    if (work.calls.length === 0) throw error;
    throw new ProviderFailure('The run was canceled.', work.spent, { canRetry: true, offerOtherProfile: false });
  }
  return { ...work.spent, edits: work.edits };
}

/** Each step's estimate starts from the estimated result of the steps before it. */
export async function estimateStrategy(
  { steps }: Strategy,
  dependencies: StrategyStepDependencies,
  context: ConversationContext,
  options: CondensationOptions,
): Promise<CondensationEstimate> {
  const work = new StrategyProgress(context, options);
  const tokensBefore = work.tokens;
  await runPipeline(
    work,
    steps.map((step) => makePipelineStep(step, dependencies, true)),
    work.pipelineOptions,
  );
  const { tokens, edits, reports, cost, callTokens } = work;
  return { tokensBefore, tokensAfter: tokens, steps: reports, edits, cost, ...callTokens };
}

/** @param isEstimate whether to treat the step's estimate as its result */
function makePipelineStep(
  step: StrategyStep,
  dependencies: StrategyStepDependencies,
  isEstimate: boolean,
): PipelineStep<StrategyProgress> {
  const name = step.preset ?? getProviderName(step.provider ?? '');
  let result: PipelineResult = { reports: [] };
  return {
    name,
    skip: (work) => work.describeWhySkipped(step),
    run: async (work) => {
      const preparedStep = prepareStrategyStep(step, dependencies);
      result =
        typeof preparedStep === 'string'
          ? { reports: [work.addFailedStep(name, preparedStep)] }
          : await runProviderStep(work, step, name, preparedStep, isEstimate);
    },
    result: () => result,
  };
}

async function runProviderStep(
  work: StrategyProgress,
  step: StrategyStep,
  name: string,
  preparedStep: PreparedStrategyStep,
  isEstimate: boolean,
): Promise<PipelineResult> {
  const { tokens } = work;
  const reports: StepReport[] = [];
  try {
    const providerInput = [work.contextNow, preparedStep.config, work.optionsNow] as const;
    const estimate = isEstimate || step.affordable ? await preparedStep.provider.estimate(...providerInput) : undefined;
    const reason = estimate?.refusal ?? (step.affordable ? work.describeExcessCost(estimate?.cost) : undefined);
    if (reason !== undefined) return { reports: [makeStepReport(work, name, { kind: 'skipped', reason })] };
    const result = isEstimate && estimate ? estimate : await preparedStep.provider.condense(...providerInput);
    work.addNotes(preparedStep.notes);
    reports.push(...work.addStepReport(preparedStep.name, result));
    const refusal = await work.addStepResult(result);
    if (refusal !== undefined) reports.push(work.addFailedStep(preparedStep.name, refusal));
    const endsRound = step.ends && (work.tokens < tokens || work.hasRunSteps(result.steps));
    return { reports, endsRound };
  } catch (error) {
    if (error instanceof ProviderFailure) reports.push(...work.addStepReport(preparedStep.name, error.spent));
    work.options.signal?.throwIfAborted();
    return { reports: [...reports, work.addFailedStep(preparedStep.name, getErrorMessage(error))] };
  }
}

type StepSpendingWithTokens = Omit<ProviderResult, 'edits'> & Pick<CondensationEstimate, 'callTokens'>;

class StrategyProgress implements PipelineWork {
  readonly reports: StepReport[] = [];
  readonly calls: ModelCall[] = [];
  edits: readonly Edit[] = [];
  tokens: number;
  private readonly notes: string[] = [];
  private readonly costs: (number | undefined)[] = [];
  /** Tokens of the steps that are estimated to call a model. */
  private readonly tokensOfCalls: TokensByKind[] = [];
  private readonly estimatedCosts: (number | undefined)[] = [];
  private readonly toolResults: number;
  private hasFailed = false;
  /** Edits from before this round. */
  private earlierEdits: readonly Edit[];
  private isFirstRound = true;

  constructor(
    private readonly context: ConversationContext,
    readonly options: CondensationOptions,
  ) {
    const { messages, edits, counter } = context;
    this.earlierEdits = edits;
    this.tokens = counter.countMessages(applyEdits(messages, edits).messages);
    this.toolResults = listToolExchanges(messages).filter(({ resultMessage }) => resultMessage !== undefined).length;
  }

  get pipelineOptions() {
    const { targetTokens, signal } = this.options;
    return {
      reports: this.reports,
      shouldRunAgain: (_: this, round: PipelineRound) => this.beginSecondRoundIfUseful(round),
      ...(targetTokens !== undefined && { targetTokens }),
      ...(signal && { signal }),
    };
  }

  /**
   * A smaller result may change other steps' conditions. The second round calls no model: the user
   * did not ask to pay twice.
   */
  private beginSecondRoundIfUseful({ isEnded, tokensBefore }: PipelineRound): boolean {
    const isFree = this.costs.every((cost) => cost === 0) && this.calls.length === 0;
    const isTargetMet = this.tokens <= (this.options.targetTokens ?? 0);
    if (!isEnded || !isFree || isTargetMet || this.tokens >= tokensBefore) return false;
    this.earlierEdits = [...this.context.edits, ...this.edits];
    this.isFirstRound = false;
    this.hasFailed = false;
    return true;
  }

  saveState() {
    const { edits, tokens } = this;
    return { edits, tokens };
  }

  restoreState({ edits, tokens }: ReturnType<StrategyProgress['saveState']>): void {
    this.edits = edits;
    this.tokens = tokens;
  }

  /** Returns undefined if the step runs. */
  describeWhySkipped({ after, when }: StrategyStep): string | undefined {
    const { targetTokens, windowTokens, overheadTokens = 0, cacheCold } = this.options;
    if (after === 'failure' && !this.hasFailed) return 'no earlier step failed';
    const { tokens, toolResults, budgetLeft } = this;
    return describeUnmetCondition(when, {
      tokens,
      overheadTokens,
      windowTokens,
      targetTokens,
      cacheCold,
      toolResults,
      budgetLeft,
    });
  }

  /** @param cost expected US dollars of a step */
  describeExcessCost(cost: number | undefined): string | undefined {
    if (cost === undefined) return 'what it would cost is not known';
    const { budgetLeft } = this;
    return cost > budgetLeft
      ? `it would cost $${cost.toFixed(4)}, and $${budgetLeft.toFixed(4)} may be spent`
      : undefined;
  }

  /**
   * True if an earlier condensation already ran these steps, so that the strategy ends here again.
   */
  hasRunSteps(reports: readonly StepReport[]): boolean {
    const names = new Set(reports.map(({ name }) => name));
    return this.earlierEdits.some(({ step }) => names.has(step));
  }

  /** @returns why the edits are rejected, in words */
  async addStepResult({ edits, tokensAfter }: Partial<Pick<CondensationEstimate, 'edits' | 'tokensAfter'>>) {
    if (edits === undefined) this.tokens = Math.min(this.tokens, tokensAfter ?? Infinity);
    if (edits === undefined || edits.length === 0) return undefined;
    const checkedResult = await checkCondensationResult(this.contextNow, edits, this.options);
    const { violations, staleEdits, tokens } = checkedResult;
    if (staleEdits > 0 || violations.length > 0)
      return `the result would not be a valid conversation (${violations[0]?.rule ?? 'stale edits'})`;
    if (tokens < this.tokens) this.restoreState({ edits: [...this.edits, ...checkedResult.edits], tokens });
    return undefined;
  }

  addStepReport(
    name: string,
    { steps, cost, notes = [], calls = [], estimatedCost, callTokens }: StepSpendingWithTokens,
  ): StepReport[] {
    this.notes.push(...notes);
    this.calls.push(...calls);
    this.costs.push(cost);
    if (calls.length > 0) this.estimatedCosts.push(estimatedCost);
    if (callTokens) this.tokensOfCalls.push(callTokens);
    return steps.map((report) => ({ ...report, name: `${name}: ${report.name}` }));
  }

  addNotes(notes: readonly string[]): void {
    this.notes.push(...notes.filter((note) => !this.notes.includes(note)));
  }

  addFailedStep(name: string, reason: string): StepReport {
    this.hasFailed = true;
    this.addNotes([`${name}: ${reason}`]);
    return makeStepReport(this, name, { kind: 'failed', reason });
  }

  get contextNow(): ConversationContext {
    return { ...this.context, edits: [...this.context.edits, ...this.edits] };
  }

  get optionsNow(): CondensationOptions {
    const { budgetLeft: maxCost } = this;
    return Number.isFinite(maxCost) ? { ...this.options, maxCost } : this.options;
  }

  /** In US dollars; a step of unknown cost counts as everything left. */
  private get budgetLeft(): number {
    const { maxCost } = this.options;
    if (!this.isFirstRound) return 0;
    if (maxCost === undefined) return Number.POSITIVE_INFINITY;
    return Math.max(0, maxCost - (this.cost ?? maxCost));
  }

  get cost(): number | undefined {
    return sumCosts(this.costs);
  }

  get callTokens(): Pick<CondensationEstimate, 'callTokens'> {
    return this.tokensOfCalls.length === 0 ? {} : { callTokens: sumTokens(this.tokensOfCalls) };
  }

  get spent(): Omit<ProviderResult, 'edits'> {
    const { reports: steps, notes, calls, cost } = this;
    const estimatedCost = sumCosts(this.estimatedCosts);
    const isEstimated = calls.length > 0 && estimatedCost !== undefined;
    return { steps, notes, calls, cost, ...(isEstimated && { estimatedCost }) };
  }
}

export interface PreparedStrategyStep extends UsableConfig {
  readonly name: string;
  readonly provider: CondensationProvider;
}

/** Returns the problem in words if the step cannot run. */
export function prepareStrategyStep(
  step: StrategyStep,
  { provider: findProvider, preset: findPreset }: StrategyStepDependencies,
): PreparedStrategyStep | string {
  const providerId = step.preset === undefined ? (step.provider ?? '') : 'smart';
  const provider = findProvider(providerId);
  if (!provider) {
    return providerId === 'native'
      ? 'it needs a model, and no model is called here: remove this step, or condense in VS Code'
      : `there is no provider "${providerId}"`;
  }
  const preset = step.preset === undefined ? undefined : findPreset(step.preset);
  if (step.preset !== undefined && !preset) return `there is no preset "${step.preset}"`;
  const usableConfig = parseUsableConfig(provider, preset ? preset.config : step.config);
  return typeof usableConfig === 'string'
    ? usableConfig
    : { name: preset?.name ?? provider.name, provider, ...usableConfig };
}
