import { jsonSchema, validate } from '../config';
import { Draft } from '../draft/draft';
import type { OutputSample } from '../summary/expectedOutput';
import { nativeConfigSchema, type NativeConfig } from '../summary/nativeConfig';
import { forecast, planSummary, type PlanForecast, type Planned, type SummaryPlan } from '../summary/plan';
import { PromptMemory } from '../summary/promptMemory';
import { overBudget } from '../summary/runPlan';
import { placeholder } from '../summary/placeholder';
import type { SelectedSummarizer } from '../summary/selectSummarizer';
import type { SummarizerModel } from '../summary/summarizer';
import { SUMMED_UP, summaryMessage, summaryText } from '../summary/summaryMessage';
import {
  ProviderFailure,
  type CondensationOptions,
  type CondensationProvider,
  type ConversationContext,
  type ProviderCapabilities,
  type ProviderResult,
  type UnchangedReason,
} from '../types';
import { stepName, SummaryRun } from './nativeRun';

export interface NativeOptions {
  /**
   * The model to summarize with, chosen anew each time.
   * @throws NoSummarizerError
   */
  readonly select: () => SelectedSummarizer | Promise<SelectedSummarizer>;
  /** What earlier runs with a model taught about the length of its replies. */
  readonly samples?: (model: SummarizerModel) => readonly OutputSample[];
  readonly memory?: PromptMemory;
}

/** The batch summary: a model sums up what lies between the task and the latest messages. */
export function nativeProvider(options: NativeOptions): CondensationProvider<NativeConfig> {
  const { select, samples = () => [], memory = new PromptMemory() } = options;
  /** Warnings that were told: the same one isn't told with every condensation. */
  const told = new Set<string>();

  /** The last plan of a situation: reduction and cost are asked one after the other, and are of the same plan. */
  const plans = new WeakMap<ConversationContext, { readonly config: NativeConfig; readonly made: Promise<Made> }>();
  const planFor = (
    context: ConversationContext,
    config: NativeConfig,
    { signal }: CondensationOptions,
  ): Promise<Made> => {
    const known = plans.get(context);
    if (known?.config === config) return known.made;
    const made = makePlan(context, config, signal);
    plans.set(context, { config, made });
    return made;
  };
  const makePlan = async (
    context: ConversationContext,
    config: NativeConfig,
    signal: AbortSignal | undefined,
  ): Promise<Made> => {
    const selected = await select();
    const { model } = selected.summarizer;
    const plan = await planSummary({ context, config, model, signal });
    const expected = plan.kind === 'plan' ? forecast(plan, model, samples(model), memory) : undefined;
    return { selected, model, plan, expected };
  };

  return {
    id: 'native',
    name: 'Native',
    description: 'Sums up the older messages with a language model, and keeps the facts beside its words.',
    version: '1.0.0',

    getCapabilities: (): ProviderCapabilities => ({
      supportsLossless: false,
      supportsBatchMode: true,
      supportsIndividualMode: false,
      supportsMultiPass: false,
      supportsLLMSummarization: true,
      estimatedSpeed: 'slow',
    }),
    getConfigSchema: () => jsonSchema(nativeConfigSchema),
    validateConfig: (config) => validate(nativeConfigSchema, config),

    async condense(context, config, run) {
      const { selected, model, plan, expected } = await planFor(context, config, run);
      const notes = newWarnings(told, selected);
      if (plan.kind !== 'plan') return unchanged(plan, model, notes);
      const over = overBudget(expected?.cost, model, run.maxCost);
      if (over !== undefined) return nothing('over-budget', over, notes);
      return new SummaryRun({
        selected,
        context,
        config,
        options: run,
        samples: samples(model),
        memory,
        notes,
        estimatedCost: expected?.cost,
      }).run(plan);
    },

    async estimateReduction(context, config, run) {
      const { counter } = context;
      const { plan, expected, model } = await planFor(context, config, run);
      const draft = new Draft(context.messages, counter, context.edits);
      const tokensBefore = draft.tokens;
      if (plan.kind !== 'plan' || !expected) return { tokensBefore, tokensAfter: tokensBefore, steps: [] };
      const replaced = draft.messages
        .slice(plan.range.start, plan.range.end)
        .reduce((sum, message) => sum + (message.content.length === 0 ? 0 : counter.message(message)), 0);
      const frame = counter.message(summaryMessage(summaryText('', plan.facts)));
      const tokensAfter = Math.min(tokensBefore, tokensBefore - replaced + frame + expected.proseTokens);
      const step = {
        name: stepName(model),
        edits: 1,
        timeMs: 0,
        cost: expected.cost,
        calls: expected.calls.length,
        outcome: { kind: 'done' },
      } as const;
      const standIn = summaryMessage(summaryText(placeholder(expected.proseTokens), plan.facts));
      draft.summarize(step.name, plan.range, standIn, SUMMED_UP);
      return { tokensBefore, tokensAfter, steps: [{ ...step, tokensBefore, tokensAfter }], edits: draft.edits };
    },

    async estimateCost(context, config, run) {
      const { plan, expected } = await planFor(context, config, run);
      return plan.kind === 'plan' ? expected?.cost : 0;
    },
  };
}

/** A plan with the model that it is for. */
interface Made {
  readonly selected: SelectedSummarizer;
  readonly model: SummarizerModel;
  readonly plan: Planned;
  readonly expected: PlanForecast | undefined;
}

function newWarnings(told: Set<string>, { warning }: SelectedSummarizer): string[] {
  if (warning === undefined || told.has(warning)) return [];
  told.add(warning);
  return [warning];
}

const nothing = (reason: UnchangedReason, detail: string, notes: readonly string[]): ProviderResult => ({
  edits: [],
  steps: [],
  cost: 0,
  notes,
  unchanged: { reason, detail },
});

function unchanged({ kind }: Exclude<Planned, SummaryPlan>, model: SummarizerModel, notes: string[]): ProviderResult {
  switch (kind) {
    case 'not-enough':
      return nothing(
        'not-enough',
        'There are not enough messages between the task and the latest ones to condense.',
        notes,
      );
    case 'already-condensed':
      return nothing('already-condensed', 'It was condensed a short while ago; too little is new since then.', notes);
    case 'window-too-small':
      throw new ProviderFailure(
        `The window of ${model.model} is too small to summarize with. Choose a model with a larger one.`,
        { steps: [], cost: 0, notes },
        { canRetry: false, offerOtherProfile: true },
      );
  }
}
