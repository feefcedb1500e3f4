import { toJsonSchema, validateFields } from '../config';
import { Draft } from '../draft/draft';
import { createPlaceholderText, type OutputSample } from '../summary/expectedOutput';
import { nativeConfigSchema, type NativeConfig } from '../summary/nativeConfig';
import {
  estimateSummaryPlan,
  planSummary,
  type SummaryPlanEstimate,
  type SummaryPlanResult,
  type SummaryPlan,
} from '../summary/plan';
import { SentPromptMemory } from '../summary/promptMemory';
import { explainDisallowedCost, runSummaryPlan, type FailedReply } from '../summary/runPlan';
import type { LoadOwnModel, SelectedSummarizer, SummarizerModel } from '../summarizer';
import { createSummaryMessage, formatSummaryText, SUMMARY_EDIT_INFO } from '../summary/summaryMessage';
import {
  PROVIDER_DESCRIPTIONS,
  PROVIDER_NAMES,
  ProviderFailure,
  type CondensationOptions,
  type CondensationProvider,
  type ConversationContext,
  type ModelCall,
  type ProviderCapabilities,
  type ProviderResult,
  type StepReport,
  type UnchangedReason,
} from '../types';
import { sumCosts } from '../../cost/callCost';
import { sumTokensByKind } from '../../cost/usage';
import { formatTokens } from '../../format';

export interface NativeOptions {
  /**
   * Called for each condensation.
   * @throws NoSummarizerError
   */
  readonly select: (own: LoadOwnModel | undefined) => SelectedSummarizer | Promise<SelectedSummarizer>;
  readonly samples?: (model: SummarizerModel) => readonly OutputSample[];
  readonly memory?: SentPromptMemory;
}

/** Summarizes the messages between the task and the latest ones. */
export function createNativeProvider(options: NativeOptions): CondensationProvider<NativeConfig> {
  const { select, samples = () => [], memory = new SentPromptMemory() } = options;
  const reportedWarnings = new Set<string>();

  const prepareSummary = async (
    context: ConversationContext,
    config: NativeConfig,
    { signal }: CondensationOptions,
  ): Promise<PreparedSummaryPlan> => {
    const selectedSummarizer = await select(context.ownModel);
    const { model } = selectedSummarizer.summarizer;
    const plan = await planSummary({ context, config, model, signal });
    const expectedSummary = plan.kind === 'plan' ? estimateSummaryPlan(plan, model, samples(model), memory) : undefined;
    return { selectedSummarizer, model, plan, expectedSummary };
  };

  return {
    id: 'native',
    name: PROVIDER_NAMES.native,
    description: PROVIDER_DESCRIPTIONS.native,
    version: '1.0.0',

    getCapabilities: (): ProviderCapabilities => ({
      supportsLossless: false,
      supportsBatchMode: true,
      supportsIndividualMode: false,
      supportsMultiPass: false,
      supportsLLMSummarization: true,
      estimatedSpeed: 'slow',
    }),
    getConfigSchema: () => toJsonSchema(nativeConfigSchema),
    validateConfig: (config) => validateFields(nativeConfigSchema, config),

    async condense(context, config, run) {
      const { selectedSummarizer, model, plan, expectedSummary } = await prepareSummary(context, config, run);
      const notes = takeUnreportedWarnings(reportedWarnings, selectedSummarizer);
      if (plan.kind !== 'plan') return createUnchangedResult(plan, model, notes);
      const excessCost = explainDisallowedCost(expectedSummary?.cost, model, run.maxCost);
      if (excessCost !== undefined) return makeUnchangedResult('over-budget', excessCost, notes);
      return new SummaryProviderRun({
        selected: selectedSummarizer,
        context,
        config,
        options: run,
        samples: samples(model),
        memory,
        notes,
        estimatedCost: expectedSummary?.cost,
      }).runSummaryPlan(plan);
    },

    async estimate(context, config, run) {
      const { counter } = context;
      const { plan, expectedSummary, model } = await prepareSummary(context, config, run);
      const draft = new Draft(context.messages, counter, context.edits);
      const tokensBefore = draft.tokens;
      if (plan.kind !== 'plan' || !expectedSummary)
        return { tokensBefore, tokensAfter: tokensBefore, steps: [], cost: 0 };
      const refusal =
        expectedSummary.cost === undefined
          ? undefined
          : explainDisallowedCost(expectedSummary.cost, model, run.maxCost);
      const replacedTokens = draft.messages
        .slice(plan.range.start, plan.range.end)
        .reduce((sum, message) => sum + (message.content.length === 0 ? 0 : counter.countMessage(message)), 0);
      const factTokens = counter.countMessage(createSummaryMessage(formatSummaryText('', plan.facts)));
      const tokensAfter = Math.min(
        tokensBefore,
        tokensBefore - replacedTokens + factTokens + expectedSummary.proseTokens,
      );
      const stepReportFields = {
        name: getStepName(model, plan),
        edits: 1,
        timeMs: 0,
        cost: expectedSummary.cost,
        calls: expectedSummary.calls.length,
        outcome: { kind: 'done' },
      } as const;
      const message = createSummaryMessage(
        formatSummaryText(createPlaceholderText(expectedSummary.proseTokens), plan.facts),
      );
      draft.replaceWithSummary(stepReportFields.name, plan.range, message, SUMMARY_EDIT_INFO);
      const { cost, calls } = expectedSummary;
      const callTokens = sumTokensByKind(calls.map(({ usage }) => usage));
      const steps = [{ ...stepReportFields, tokensBefore, tokensAfter }];
      return {
        tokensBefore,
        tokensAfter,
        steps,
        cost,
        callTokens,
        edits: draft.edits,
        ...(refusal !== undefined && { refusal }),
      };
    },
  };
}

interface PreparedSummaryPlan {
  readonly selectedSummarizer: SelectedSummarizer;
  readonly model: SummarizerModel;
  readonly plan: SummaryPlanResult;
  readonly expectedSummary: SummaryPlanEstimate | undefined;
}

function takeUnreportedWarnings(reported: Set<string>, { warning }: SelectedSummarizer): string[] {
  if (warning === undefined || reported.has(warning)) return [];
  reported.add(warning);
  return [warning];
}

const makeUnchangedResult = (reason: UnchangedReason, detail: string, notes: readonly string[]): ProviderResult => ({
  edits: [],
  steps: [],
  cost: 0,
  notes,
  unchanged: { reason, detail },
});

function createUnchangedResult(
  { kind }: Exclude<SummaryPlanResult, SummaryPlan>,
  model: SummarizerModel,
  notes: string[],
): ProviderResult {
  switch (kind) {
    case 'not-enough':
      return makeUnchangedResult(
        'not-enough',
        'There are not enough messages between the task and the latest ones to condense.',
        notes,
      );
    case 'already-condensed':
      return makeUnchangedResult(
        'already-condensed',
        'It was condensed recently, and there is too little new content since then.',
        notes,
      );
    case 'window-too-small':
      throw new ProviderFailure(
        `The window of ${model.model} is too small to summarize with. Choose a model with a larger one.`,
        { steps: [], cost: 0, notes },
        { canRetry: false, offerOtherProfile: true },
      );
  }
}

interface SummaryRunDependencies {
  readonly selected: SelectedSummarizer;
  readonly context: ConversationContext;
  readonly config: NativeConfig;
  readonly options: CondensationOptions;
  readonly samples: readonly OutputSample[];
  readonly memory: SentPromptMemory;
  readonly notes: string[];
  /** In US dollars; undefined if no price is known. */
  readonly estimatedCost: number | undefined;
}

class SummaryProviderRun {
  private readonly calls: ModelCall[] = [];
  private readonly startTime = performance.now();

  constructor(private readonly dependencies: SummaryRunDependencies) {}

  private get model(): SummarizerModel {
    return this.dependencies.selected.summarizer.model;
  }

  async runSummaryPlan(firstPlan: SummaryPlan): Promise<ProviderResult> {
    const { model } = this;
    const { options } = this.dependencies;
    const outcome = await runSummaryPlan(firstPlan, {
      ...this.dependencies,
      onPart: (index, total) => {
        options.onProgress?.({ step: formatProgress(model, index, total), done: index, total });
      },
      onCall: (call) => this.calls.push(call),
    });
    if (outcome.kind === 'failed') throw this.createFailure(outcome.reply);
    return this.createResult(outcome.plan, outcome.prose);
  }

  private get cost(): number | undefined {
    return sumCosts(this.calls.map(({ cost }) => cost));
  }

  private get spending() {
    const { calls, cost } = this;
    const { notes, estimatedCost } = this.dependencies;
    return { notes, calls, cost, ...(estimatedCost !== undefined && { estimatedCost }) };
  }

  private createResult(plan: SummaryPlan, prose: string): ProviderResult {
    const { context, config, notes } = this.dependencies;
    const draft = new Draft(context.messages, context.counter, context.edits);
    const tokensBefore = draft.tokens;
    const name = getStepName(this.model, plan);
    const message = createSummaryMessage(formatSummaryText(prose, plan.facts));
    const savedTokens = draft.replaceWithSummary(name, plan.range, message, SUMMARY_EDIT_INFO);
    if (config.vendorCompaction && !plan.compacted) notes.push(describeMissingCompaction(this.model));
    const { length } = plan.parts;
    if (plan.isReduced) notes.push('Repeated content was left out of what the model was shown, to fit its window.');
    if (length > 1)
      notes.push(`The conversation was longer than the model’s window and was summarized in ${length} parts.`);
    const step = this.makeSummaryStepReport(name, tokensBefore, draft.tokens, draft.edits.length, { kind: 'done' });
    if (savedTokens <= 0) {
      const summaryTokens = context.counter.countMessage(message);
      const detail = `The summary (${formatTokens(summaryTokens)} tokens) would be as long as what it replaces.`;
      return { ...this.spending, edits: [], steps: [step], unchanged: { reason: 'grew', detail } };
    }
    return { ...this.spending, edits: draft.edits, steps: [step] };
  }

  private makeSummaryStepReport(
    name: string,
    tokensBefore: number,
    tokensAfter: number,
    edits: number,
    outcome: StepReport['outcome'],
  ): StepReport {
    return {
      name,
      tokensBefore,
      tokensAfter,
      edits,
      timeMs: performance.now() - this.startTime,
      cost: this.cost,
      outcome,
    };
  }

  private createFailure(reply: FailedReply): ProviderFailure {
    const { context } = this.dependencies;
    const { tokens } = new Draft(context.messages, context.counter, context.edits);
    const step = this.makeSummaryStepReport(getStepName(this.model), tokens, tokens, 0, {
      kind: 'failed',
      reason: reply.message,
    });
    return new ProviderFailure(reply.message, { ...this.spending, steps: [step] }, reply);
  }
}

function getStepName({ model, profile }: SummarizerModel, plan?: SummaryPlan): string {
  const stepKind = plan?.compacted ? 'Vendor’s compaction' : 'Summary';
  return profile === model ? `${stepKind} by ${model}` : `${stepKind} by ${model} (${profile})`;
}

const describeMissingCompaction = ({ model, compacts }: SummarizerModel): string =>
  compacts === true
    ? `The vendor’s compaction could not be used with ${model}, so the summary was written with Context Condenser’s own prompt.`
    : `The vendor offers no compaction for ${model}, so the summary was written with Context Condenser’s own prompt.`;

const formatProgress = (model: SummarizerModel, index: number, total: number): string =>
  total === 1 ? getStepName(model) : `${getStepName(model)}, part ${index + 1} of ${total}`;
