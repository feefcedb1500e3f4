import { sumOfCosts } from '../../cost/callCost';
import { Draft } from '../draft/draft';
import type { OutputSample } from '../summary/expectedOutput';
import type { NativeConfig } from '../summary/nativeConfig';
import type { SummaryPlan } from '../summary/plan';
import type { PromptMemory } from '../summary/promptMemory';
import { runPlan, type FailedReply } from '../summary/runPlan';
import type { SelectedSummarizer } from '../summary/selectSummarizer';
import type { SummarizerModel } from '../summary/summarizer';
import { SUMMED_UP, summaryMessage, summaryText } from '../summary/summaryMessage';
import {
  ProviderFailure,
  type CondensationOptions,
  type ConversationContext,
  type ModelCall,
  type ProviderResult,
  type StepReport,
} from '../types';

/** What a run works with, beside the plan. */
interface SummaryRunParts {
  readonly selected: SelectedSummarizer;
  readonly context: ConversationContext;
  readonly config: NativeConfig;
  readonly options: CondensationOptions;
  /** What earlier replies of the model were like. */
  readonly samples: readonly OutputSample[];
  readonly memory: PromptMemory;
  /** What a person should know; the run adds to it. */
  readonly notes: string[];
  /** US dollars; undefined where no price is known. */
  readonly estimatedCost: number | undefined;
}

/** One run of a plan: its calls, and what is made of the reply. */
export class SummaryRun {
  private readonly calls: ModelCall[] = [];
  private readonly started = performance.now();

  constructor(private readonly parts: SummaryRunParts) {}

  private get model(): SummarizerModel {
    return this.parts.selected.summarizer.model;
  }

  async run(first: SummaryPlan): Promise<ProviderResult> {
    const { model } = this;
    const { options } = this.parts;
    const outcome = await runPlan(first, {
      ...this.parts,
      onPart: (index, total) => {
        options.onProgress?.({ step: progressText(model, index, total), done: index, total });
      },
      onCall: (call) => this.calls.push(call),
    });
    if (outcome.kind === 'failed') throw this.failure(outcome.reply);
    return this.applied(outcome.plan, outcome.prose);
  }

  private get cost(): number | undefined {
    return sumOfCosts(this.calls.map(({ cost }) => cost));
  }

  private get spent() {
    const { calls, cost } = this;
    const { notes, estimatedCost } = this.parts;
    return { notes, calls, cost, ...(estimatedCost !== undefined && { estimatedCost }) };
  }

  private applied(plan: SummaryPlan, prose: string): ProviderResult {
    const { context, notes } = this.parts;
    const draft = new Draft(context.messages, context.counter, context.edits);
    const tokensBefore = draft.tokens;
    const name = stepName(this.model);
    const message = summaryMessage(summaryText(prose, plan.facts));
    const saved = draft.summarize(name, plan.range, message, SUMMED_UP);
    const { length } = plan.parts;
    if (plan.isReduced)
      notes.push('Repeated content was left out of what the model was shown, so that it fits its window.');
    if (length > 1)
      notes.push(`The conversation was longer than the model's window and was summed up in ${length} parts.`);
    const step = this.step(name, tokensBefore, draft.tokens, draft.edits.length, { kind: 'done' });
    if (saved <= 0) {
      const grown = context.counter.message(message);
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

  private failure(reply: FailedReply): ProviderFailure {
    const { context } = this.parts;
    const { tokens } = new Draft(context.messages, context.counter, context.edits);
    const step = this.step(stepName(this.model), tokens, tokens, 0, { kind: 'failed', reason: reply.message });
    return new ProviderFailure(reply.message, { ...this.spent, steps: [step] }, reply);
  }
}

/** What reports call the step. */
export const stepName = ({ model, profile }: SummarizerModel): string =>
  profile === model ? `Summary by ${model}` : `Summary by ${model} (${profile})`;

const progressText = (model: SummarizerModel, index: number, total: number): string =>
  total === 1 ? stepName(model) : `${stepName(model)}, part ${index + 1} of ${total}`;
