import { sumOfCosts } from '../../cost/callCost';
import { jsonSchema, validate } from '../config';
import { Draft } from '../draft';
import type { OutputSample } from '../summary/expectedOutput';
import { nativeConfigSchema, type NativeConfig } from '../summary/nativeConfig';
import {
  forecast,
  planSummary,
  requestTokens,
  type PlanForecast,
  type Planned,
  type SummaryPlan,
} from '../summary/plan';
import { buildPrompt, summaryIn } from '../summary/prompt';
import { PromptMemory } from '../summary/promptMemory';
import type { SelectedSummarizer } from '../summary/selectSummarizer';
import type { SummarizerModel, SummaryReply } from '../summary/summarizer';
import { summaryMessage, summaryText } from '../summary/summaryMessage';
import {
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
      const work = new SummaryRun(selected, context, config, run, samples(model), memory, notes, expected?.cost);
      return work.run(plan);
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
        outcome: { kind: 'done' },
      } as const;
      return { tokensBefore, tokensAfter, steps: [{ ...step, tokensBefore, tokensAfter }] };
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

/** How often a request that turned out to be too long is planned anew, smaller. Then it is given up. */
const MOST_SHRINKS = 2;
const SHRINK = 0.6;

/** One run of a plan, call after call. */
class SummaryRun {
  private readonly calls: ModelCall[] = [];
  private readonly started = performance.now();

  constructor(
    private readonly selected: SelectedSummarizer,
    private readonly context: ConversationContext,
    private readonly config: NativeConfig,
    private readonly options: CondensationOptions,
    private readonly samples: readonly OutputSample[],
    private readonly memory: PromptMemory,
    private readonly notes: string[],
    private readonly estimatedCost: number | undefined,
  ) {}

  private get model(): SummarizerModel {
    return this.selected.summarizer.model;
  }

  async run(first: SummaryPlan): Promise<ProviderResult> {
    let plan = first;
    for (let shrinks = 0; ; shrinks++) {
      const outcome = await this.fold(plan);
      if (outcome.kind === 'complete') return this.applied(plan, outcome.prose);
      if (outcome.reply.kind !== 'too-long' || shrinks >= MOST_SHRINKS) throw this.failure(outcome.reply);
      // Our count of its tokens was too low, or the window is smaller than it was said to be.
      const sent = Math.max(...this.calls.map(({ countedTokens }) => countedTokens)) * this.model.tokenFactor;
      const windowTokens = Math.floor(Math.min(this.model.contextWindow ?? Infinity, sent) * SHRINK ** (shrinks + 1));
      const { context, config, model } = this;
      const smaller = await planSummary({ context, config, model, windowTokens, signal: this.options.signal });
      if (smaller.kind !== 'plan') throw this.failure(outcome.reply);
      this.checkBudget(smaller, outcome.reply);
      plan = smaller;
    }
  }

  /** The parts in their order; the reply to one is the earlier summary of the next. */
  private async fold(plan: SummaryPlan): Promise<Folded> {
    let prose = plan.earlier;
    for (const [index, conversation] of plan.parts.entries()) {
      this.options.onProgress?.({
        step: progressText(this.model, index, plan.parts.length),
        done: index,
        total: plan.parts.length,
      });
      const reply = await this.ask(plan, conversation, prose);
      if (reply.kind !== 'complete') return { kind: 'failed', reply };
      prose = summaryIn(reply.text);
      if (prose === '') return { kind: 'failed', reply: { ...reply, ...EMPTY } };
    }
    return { kind: 'complete', prose };
  }

  private async ask(plan: SummaryPlan, conversation: string, earlier: string): Promise<SummaryReply> {
    const { signal } = this.options;
    const { counter } = this.context;
    const prompt = buildPrompt({ ...plan, conversation, earlier });
    const text = prompt.system + prompt.prompt;
    const countedTokens = requestTokens(prompt, counter);
    const single = { ...plan, parts: [conversation], tokens: [countedTokens], earlier };
    const [expected] = forecast(single, this.model, this.samples, this.memory).calls;
    const reply = await this.selected.summarizer.summarize(
      { ...prompt, maxOutputTokens: plan.maxOutputTokens },
      signal ? { signal } : {},
    );
    if (reply.usage) this.memory.note(this.model, text);
    const { profile, vendor, model } = this.model;
    this.calls.push({
      profile,
      vendor,
      model,
      chosen: this.selected.chosen,
      countedTokens,
      expectedOutputTokens: expected?.usage.outputTokens ?? 0,
      usage: reply.usage,
      cost: reply.cost,
      timeMs: reply.timeMs,
      outcome: reply.kind,
    });
    return reply;
  }

  private checkBudget(plan: SummaryPlan, reply: Failed): void {
    const spent = this.cost;
    const { maxCost } = this.options;
    if (maxCost === undefined) return;
    const more = forecast(plan, this.model, this.samples, this.memory).cost;
    const total = sumOfCosts([spent, more]);
    if (overBudget(total, this.model, maxCost) !== undefined) throw this.failure(reply);
  }

  private get cost(): number | undefined {
    return sumOfCosts(this.calls.map(({ cost }) => cost));
  }

  private get spent() {
    const { notes, calls, estimatedCost, cost } = this;
    return { notes, calls, cost, ...(estimatedCost !== undefined && { estimatedCost }) };
  }

  private applied(plan: SummaryPlan, prose: string): ProviderResult {
    const draft = new Draft(this.context.messages, this.context.counter, this.context.edits);
    const tokensBefore = draft.tokens;
    const name = stepName(this.model);
    const message = summaryMessage(summaryText(prose, plan.facts));
    const saved = draft.summarize(name, plan.range, message, { reason: 'summed up by a model' });
    const { length } = plan.parts;
    if (plan.isReduced)
      this.notes.push('Repeated content was left out of what the model was shown, so that it fits its window.');
    if (length > 1)
      this.notes.push(`The conversation was longer than the model's window and was summed up in ${length} parts.`);
    const step = this.step(name, tokensBefore, draft.tokens, draft.edits.length, { kind: 'done' });
    if (saved <= 0) {
      const grown = this.context.counter.message(message);
      const detail = `The summary (${grown} tokens) would be as long as what it replaces.`;
      return { ...this.spent, edits: [], steps: [step], unchanged: { reason: 'grew', detail } };
    }
    return { ...this.spent, edits: draft.edits, steps: [step] };
  }

  private step(
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
      timeMs: performance.now() - this.started,
      cost: this.cost,
      outcome,
    };
  }

  private failure(reply: Failed): ProviderFailure {
    const { tokens } = new Draft(this.context.messages, this.context.counter, this.context.edits);
    const step = this.step(stepName(this.model), tokens, tokens, 0, { kind: 'failed', reason: reply.message });
    return new ProviderFailure(reply.message, { ...this.spent, steps: [step] }, reply);
  }
}

type Failed = Exclude<SummaryReply, { kind: 'complete' }>;
type Folded =
  { readonly kind: 'complete'; readonly prose: string } | { readonly kind: 'failed'; readonly reply: Failed };

const EMPTY = {
  kind: 'empty',
  message: 'The model answered without a summary. Try again, or use another model.',
  canRetry: true,
  offerOtherProfile: true,
} as const;

const stepName = ({ model, profile }: SummarizerModel): string =>
  profile === model ? `Summary by ${model}` : `Summary by ${model} (${profile})`;

const progressText = (model: SummarizerModel, index: number, total: number): string =>
  total === 1 ? stepName(model) : `${stepName(model)}, part ${index + 1} of ${total}`;

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

/** Why a cost isn't allowed; undefined where it is. What nobody knows is not allowed where there is a limit. */
function overBudget(cost: number | undefined, model: SummarizerModel, maxCost: number | undefined): string | undefined {
  if (maxCost === undefined || model.billing === 'included') return undefined;
  if (cost === undefined) {
    return `The price of ${model.model} is not known, and at most $${maxCost} may be spent. Set its prices in the profile "${model.profile}", or lift the limit.`;
  }
  return cost > maxCost
    ? `It would cost about $${cost.toFixed(4)}; at most $${maxCost} may be spent on a condensation.`
    : undefined;
}
