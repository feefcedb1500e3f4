import { nativeConfigSchema, type NativeConfig } from '../../summary/nativeConfig';
import { estimatePlan, planSummary, type PlanEstimate, type SummaryPlan } from '../../summary/plan';
import { runPlan } from '../../summary/runPlan';
import { NoSummarizerError, getOutputLimit, type SelectedSummarizer } from '../../summarizer';
import { createSummaryMessage, formatSummary, SUMMARY_INFO } from '../../summary/summaryMessage';
import type { Draft } from '../../draft/draft';
import type { Step, StepReporter } from '../../draft/steps';
import type { ConversationContext } from '../../types';
import type { BatchPass } from './passSchema';
import { createPlaceholder } from '../../summary/expectedOutput';
import { createItemLookup } from './items';
import type { PassDependencies } from './passParts';
import { createKeptWholeTest } from './protection';
import { findLongestRun, selectContent, getUnitsAfterTask } from './selection';

/** If the summary fails, the messages stay and a note says why. */
export const createBatchStep = (name: string, pass: BatchPass, parts: PassDependencies): Step => ({
  name,
  async run(draft, _signal, report) {
    const { batchConfig } = pass;
    if (batchConfig.operation === 'keep') return;
    const limits = countKeptUnits(draft, pass, parts);
    if (!limits) return;
    const selected = await parts.calls.models.selectSummarizer(batchConfig.apiProfile);
    if (selected instanceof NoSummarizerError) {
      parts.onNote(`${name}: ${selected.message}`);
      return;
    }
    const config: NativeConfig = {
      ...NATIVE_DEFAULTS,
      ...limits,
      prompt: batchConfig.customPrompt,
      maxSummaryTokens: batchConfig.maxTokens,
      keepUserMessages: parts.config.protect.userMessages,
    };
    const context = { ...parts.context, edits: [...parts.context.edits, ...draft.edits] };
    const { signal } = parts.calls;
    const plan = await planSummary({ context, config, model: selected.summarizer.model, signal });
    if (plan.kind === 'window-too-small') {
      throw new Error(`The window of ${selected.summarizer.model.model} is too small to summarize with.`);
    }
    if (plan.kind !== 'plan') return;
    const made = await writeProse(plan, selected, context, config, name, parts, report);
    if (!made) return;
    const message = createSummaryMessage(formatSummary(made.prose, made.plan.facts));
    draft.summarize(name, made.plan.range, message, SUMMARY_INFO);
  },
});

const NATIVE_DEFAULTS = nativeConfigSchema.parse({});

/** Returns undefined if nothing is left to summarize. */
function countKeptUnits(
  draft: Draft,
  pass: BatchPass,
  { config, tools, context }: PassDependencies,
): { readonly keepFirst: number; readonly keepLast: number } | undefined {
  if (pass.batchConfig.operation === 'keep') return undefined;
  const { keepFirst, keepLast } = pass.batchConfig;
  const pinned = context.pinned ?? new Set<number>();
  const isKept = createKeptWholeTest({ draft, config, pass, tools, pinned });
  const items = createItemLookup(draft);
  const starts = getUnitsAfterTask(draft);
  const run = findLongestRun(
    draft,
    starts,
    selectContent(draft, pass.selection, tools),
    items,
    (message) => pinned.has(message) || items(message).some(isKept),
  );
  return run && { keepFirst: run.first + keepFirst, keepLast: starts.length - run.first - run.count + keepLast };
}

interface WrittenSummary {
  readonly plan: SummaryPlan;
  readonly prose: string;
}

/** @throws Error if the model failed */
async function writeProse(
  plan: SummaryPlan,
  selected: SelectedSummarizer,
  context: ConversationContext,
  config: NativeConfig,
  name: string,
  { calls, onCall, onNote }: PassDependencies,
  report?: StepReporter,
): Promise<WrittenSummary | undefined> {
  const { budget, memory, estimatedCalls, signal } = calls;
  const { model } = selected.summarizer;
  const samples = calls.samples(model);
  const expected = estimatePlan(plan, model, samples, memory);
  const reservation = budget.reserve(expected.cost, model);
  if (typeof reservation === 'string') {
    estimatedCalls?.addStop();
    onNote(`${name}: ${reservation}`);
    return undefined;
  }
  if (estimatedCalls) {
    for (const call of countExpectedCalls(plan, expected, selected)) {
      estimatedCalls.addCall(model, call.usage, getOutputLimit(plan.maxOutputTokens, model), samples);
      onCall(call);
    }
    return { plan, prose: createPlaceholder(expected.proseTokens) };
  }
  let spent: number | undefined = 0;
  const outcome = await runPlan(plan, {
    selected,
    context,
    config,
    samples,
    memory,
    options: {
      ...(signal && { signal }),
      ...(budget.left !== Infinity && { maxCost: budget.left + (expected.cost ?? 0) }),
    },
    onPart: (index, total) => {
      report?.(`call ${index + 1} of ${total}`);
    },
    onCall: (call) => {
      spent = spent === undefined || call.cost === undefined ? undefined : spent + call.cost;
      onCall(call);
    },
  });
  reservation.settle(spent);
  if (outcome.kind === 'failed') throw new Error(outcome.reply.message);
  return outcome;
}

const countExpectedCalls = (plan: SummaryPlan, { calls }: PlanEstimate, { chosen, summarizer }: SelectedSummarizer) =>
  calls.map(({ usage, cost }, index) => {
    const { profile, vendor, model } = summarizer.model;
    return {
      profile,
      vendor,
      model,
      chosen,
      countedTokens: plan.tokens[index] ?? 0,
      expectedOutputTokens: usage.outputTokens,
      usage,
      cost,
      timeMs: 0,
      outcome: 'complete' as const,
    };
  });
