import { nativeConfigSchema, type NativeConfig } from '../../summary/nativeConfig';
import { estimateSummaryPlan, planSummary, type SummaryPlanEstimate, type SummaryPlan } from '../../summary/plan';
import { runSummaryPlan } from '../../summary/runPlan';
import { NoSummarizerError, computeOutputLimit, type SelectedSummarizer } from '../../summarizer';
import { createSummaryMessage, formatSummaryText, SUMMARY_EDIT_INFO } from '../../summary/summaryMessage';
import type { Draft } from '../../draft/draft';
import type { PipelineStep, StepReporter } from '../../draft/steps';
import type { ConversationContext } from '../../types';
import type { BatchPass } from './passSchema';
import { createPlaceholderText } from '../../summary/expectedOutput';
import { createItemLookup } from './items';
import type { PassDependencies } from './passParts';
import { createProtectedFromSummaryTest } from './protection';
import {
  findLargestSummarizableRange,
  selectContentOfPass,
  listStartsOfInseparableMessagesAfterTask,
} from './selection';

/** If the summary fails, the messages stay and a note says why. */
export const createBatchStep = (name: string, pass: BatchPass, dependencies: PassDependencies): PipelineStep => ({
  name,
  async run(draft, _signal, report) {
    const { batchConfig } = pass;
    if (batchConfig.operation === 'keep') return;
    const limits = countMessagesToKeepAtEnds(draft, pass, dependencies);
    if (!limits) return;
    const selectedSummarizer = await dependencies.calls.models.selectSummarizer(batchConfig.apiProfile);
    if (selectedSummarizer instanceof NoSummarizerError) {
      dependencies.onNote(`${name}: ${selectedSummarizer.message}`);
      return;
    }
    const config: NativeConfig = {
      ...NATIVE_DEFAULT_CONFIG,
      ...limits,
      prompt: batchConfig.customPrompt,
      maxSummaryTokens: batchConfig.maxTokens,
      keepUserMessages: dependencies.config.protect.userMessages,
    };
    const context = { ...dependencies.context, edits: [...dependencies.context.edits, ...draft.edits] };
    const { signal } = dependencies.calls;
    const plan = await planSummary({ context, config, model: selectedSummarizer.summarizer.model, signal });
    if (plan.kind === 'window-too-small') {
      throw new Error(`The window of ${selectedSummarizer.summarizer.model.model} is too small to summarize with.`);
    }
    if (plan.kind !== 'plan') return;
    const summary = await writeSummaryProse(plan, selectedSummarizer, context, config, name, dependencies, report);
    if (!summary) return;
    const message = createSummaryMessage(formatSummaryText(summary.prose, summary.plan.facts));
    draft.replaceWithSummary(name, summary.plan.range, message, SUMMARY_EDIT_INFO);
  },
});

const NATIVE_DEFAULT_CONFIG = nativeConfigSchema.parse({});

/** Returns undefined if nothing is left to summarize. */
function countMessagesToKeepAtEnds(
  draft: Draft,
  pass: BatchPass,
  { config, tools, context }: PassDependencies,
): { readonly keepFirst: number; readonly keepLast: number } | undefined {
  if (pass.batchConfig.operation === 'keep') return undefined;
  const { keepFirst, keepLast } = pass.batchConfig;
  const pinned = context.pinned ?? new Set<number>();
  const isProtectedItem = createProtectedFromSummaryTest({ draft, config, pass, tools, pinned });
  const items = createItemLookup(draft);
  const unitStarts = listStartsOfInseparableMessagesAfterTask(draft);
  const summarizableRange = findLargestSummarizableRange(
    draft,
    unitStarts,
    selectContentOfPass(draft, pass.selection, tools),
    items,
    (message) => pinned.has(message) || items(message).some(isProtectedItem),
  );
  return (
    summarizableRange && {
      keepFirst: summarizableRange.first + keepFirst,
      keepLast: unitStarts.length - summarizableRange.first - summarizableRange.count + keepLast,
    }
  );
}

interface SummaryWithPlan {
  readonly plan: SummaryPlan;
  readonly prose: string;
}

/** @throws Error if the model failed */
async function writeSummaryProse(
  plan: SummaryPlan,
  selectedSummarizer: SelectedSummarizer,
  context: ConversationContext,
  config: NativeConfig,
  name: string,
  { calls, onCall, onNote }: PassDependencies,
  report?: StepReporter,
): Promise<SummaryWithPlan | undefined> {
  const { budget, memory, estimatedCalls, signal } = calls;
  const { model } = selectedSummarizer.summarizer;
  const samples = calls.samples(model);
  const expectedSummary = estimateSummaryPlan(plan, model, samples, memory);
  const reservation = budget.reserveCost(expectedSummary.cost, model);
  if (typeof reservation === 'string') {
    estimatedCalls?.stopCounting();
    onNote(`${name}: ${reservation}`);
    return undefined;
  }
  if (estimatedCalls) {
    for (const call of countExpectedCalls(plan, expectedSummary, selectedSummarizer)) {
      estimatedCalls.addCall(model, call.usage, computeOutputLimit(plan.maxOutputTokens, model), samples);
      onCall(call);
    }
    return { plan, prose: createPlaceholderText(expectedSummary.proseTokens) };
  }
  let spentDollars: number | undefined = 0;
  const outcome = await runSummaryPlan(plan, {
    selected: selectedSummarizer,
    context,
    config,
    samples,
    memory,
    options: {
      ...(signal && { signal }),
      ...(budget.remainingDollars !== Infinity && { maxCost: budget.remainingDollars + (expectedSummary.cost ?? 0) }),
    },
    onPart: (index, total) => {
      report?.(`call ${index + 1} of ${total}`);
    },
    onCall: (call) => {
      spentDollars = spentDollars === undefined || call.cost === undefined ? undefined : spentDollars + call.cost;
      onCall(call);
    },
  });
  reservation.settle(spentDollars);
  if (outcome.kind === 'failed') throw new Error(outcome.reply.message);
  return outcome;
}

const countExpectedCalls = (
  plan: SummaryPlan,
  { calls }: SummaryPlanEstimate,
  { chosen: summarizerChoice, summarizer }: SelectedSummarizer,
) =>
  calls.map(({ usage, cost }, index) => {
    const { profile, vendor, model } = summarizer.model;
    return {
      profile,
      vendor,
      model,
      chosen: summarizerChoice,
      countedTokens: plan.tokens[index] ?? 0,
      usage,
      cost,
      timeMs: 0,
      outcome: 'complete' as const,
    };
  });
