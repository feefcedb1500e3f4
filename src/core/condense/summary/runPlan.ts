import { sumCosts } from '../../cost/callCost';
import { formatCost } from '../../format';
import type { CondensationOptions, ConversationContext, ModelCall } from '../types';
import type { OutputSample } from './expectedOutput';
import type { NativeConfig } from './nativeConfig';
import { estimateSummaryPlan, planSummary, createSummaryPrompt, countRequestTokens, type SummaryPlan } from './plan';
import { explainTooShortSummary, failIfServerTruncatedRequest } from './checkReply';
import { extractSummary } from './prompt';
import type { SentPromptMemory } from './promptMemory';
import {
  getSpendingLimitNames,
  computeOutputLimit,
  type SelectedSummarizer,
  type SummarizerModel,
  type SummaryReply,
} from '../summarizer';

export interface SummaryPlanRunInput {
  readonly selected: SelectedSummarizer;
  readonly context: ConversationContext;
  readonly config: NativeConfig;
  readonly samples: readonly OutputSample[];
  readonly memory: SentPromptMemory;
  readonly options: Pick<CondensationOptions, 'signal' | 'maxCost'>;
  readonly onPart: (index: number, total: number) => void;
  readonly onCall: (call: ModelCall) => void;
}

export type FailedReply = Exclude<SummaryReply, { kind: 'complete' }>;

export type SummaryPlanRun =
  /** The plan that succeeded; a smaller one if the first was too long. */
  | { readonly kind: 'complete'; readonly plan: SummaryPlan; readonly prose: string }
  | { readonly kind: 'failed'; readonly reply: FailedReply };

/** If a request was too long, plans again for a smaller window, at most this many times. */
const MAX_PLAN_SHRINKS = 3;
const PLAN_SHRINK_FACTOR = 0.6;

/** @throws the signal's reason if planning again was aborted */
export async function runSummaryPlan(firstPlan: SummaryPlan, input: SummaryPlanRunInput): Promise<SummaryPlanRun> {
  const { context, config, options, selected } = input;
  const { model } = selected.summarizer;
  const calls: ModelCall[] = [];
  const inputRecordingCalls = {
    ...input,
    onCall: (call: ModelCall): void => {
      calls.push(call);
      input.onCall(call);
    },
  };
  let plan = firstPlan;
  let shrinkCount = 0;
  for (;;) {
    const outcome = await summarizeParts(plan, inputRecordingCalls);
    if (outcome.kind === 'complete') return { ...outcome, plan };
    const { kind } = outcome.reply;
    const isNotCompacted = kind === 'not-compacted' && plan.compacted !== undefined;
    if (!isNotCompacted && (kind !== 'too-long' || shrinkCount++ >= MAX_PLAN_SHRINKS)) return outcome;
    // Our token count was too low, or the window is smaller than stated.
    const sentTokens = Math.max(...calls.map(({ countedTokens }) => countedTokens)) * model.tokenFactor;
    const windowTokens =
      kind === 'too-long'
        ? Math.floor(Math.min(model.contextWindow ?? Infinity, sentTokens) * PLAN_SHRINK_FACTOR ** shrinkCount)
        : undefined;
    const smallerPlan = await planSummary({
      context,
      // If the vendor's compaction failed, summarize in parts with our own prompt.
      config: { ...config, vendorCompaction: false },
      model,
      ...(windowTokens !== undefined && { windowTokens }),
      signal: options.signal,
    });
    if (smallerPlan.kind !== 'plan') return outcome;
    const extraCost = estimateSummaryPlan(smallerPlan, model, input.samples, input.memory).cost;
    const totalCost = sumCosts([...calls.map(({ cost }) => cost), extraCost]);
    if (explainDisallowedCost(totalCost, model, options.maxCost) !== undefined) return outcome;
    plan = smallerPlan;
  }
}

type PartsSummaryResult =
  | { readonly kind: 'complete'; readonly prose: string }
  | { readonly kind: 'failed'; readonly reply: FailedReply };

async function summarizeParts(plan: SummaryPlan, input: SummaryPlanRunInput): Promise<PartsSummaryResult> {
  let prose = plan.earlier;
  for (const [index, conversation] of plan.parts.entries()) {
    input.onPart(index, plan.parts.length);
    const { reply, countedTokens } = await callModel(plan, conversation, prose, input);
    if (reply.kind !== 'complete') return { kind: 'failed', reply };
    prose = extractSummary(reply.text);
    if (prose === '') return { kind: 'failed', reply: { ...reply, ...EMPTY_PLAN_ERROR } };
    const message = explainTooShortSummary(prose, countedTokens, input.context.counter);
    if (message !== undefined) return { kind: 'failed', reply: { ...reply, ...EMPTY_PLAN_ERROR, message } };
  }
  return { kind: 'complete', prose };
}

const EMPTY_PLAN_ERROR = {
  kind: 'empty',
  message: 'The model answered without a summary. Try again, or use another model.',
  canRetry: true,
  offerOtherProfile: true,
} as const;

async function callModel(
  plan: SummaryPlan,
  conversation: string,
  earlierSummary: string,
  { selected, context, options, memory, onCall }: SummaryPlanRunInput,
): Promise<{ readonly reply: SummaryReply; readonly countedTokens: number }> {
  const { summarizer, chosen: summarizerChoice } = selected;
  const { model: info } = summarizer;
  const prompt = createSummaryPrompt(plan, conversation, earlierSummary);
  const promptText = prompt.system + prompt.prompt;
  const countedTokens = plan.compacted ? (plan.tokens[0] ?? 0) : countRequestTokens(prompt, context.counter);
  const { read: cachedTokens } = memory.estimateCachedTokens(info, promptText, countedTokens * info.tokenFactor);
  const { signal } = options;
  const uncheckedReply = await summarizer.summarize(
    {
      ...prompt,
      ...(plan.compacted && { messages: plan.compacted }),
      maxOutputTokens: computeOutputLimit(plan.maxOutputTokens, info),
    },
    { conversation: context.conversation, ...(signal && { signal }) },
  );
  const reply = plan.compacted
    ? uncheckedReply
    : failIfServerTruncatedRequest(uncheckedReply, { counted: countedTokens, cached: cachedTokens }, info);
  // A truncated request is not in the vendor's cache. Not recording it means that a retry is
  // checked at full length.
  if (reply.usage && !plan.compacted && reply.kind === uncheckedReply.kind) memory.recordPrompt(info, promptText);
  const { profile, vendor, model } = info;
  onCall({
    profile,
    vendor,
    model,
    chosen: summarizerChoice,
    countedTokens,
    usage: reply.usage,
    cost: reply.cost,
    timeMs: reply.timeMs,
    outcome: reply.kind,
  });
  return { reply, countedTokens };
}

/**
 * Returns undefined if the cost is allowed. If there is a limit, an unknown cost is not allowed.
 */
export function explainDisallowedCost(
  cost: number | undefined,
  model: SummarizerModel,
  maxCost: number | undefined,
): string | undefined {
  if (maxCost === undefined || model.billing === 'included') return undefined;
  if (cost === undefined) {
    return `The price of ${model.model} is not known, and at most ${formatCost(maxCost)} may be spent. ${getSpendingLimitNames(model).unknownPrice}`;
  }
  return cost > maxCost
    ? `It would cost about $${cost.toFixed(4)}; at most ${formatCost(maxCost)} may be spent on a condensation (${getSpendingLimitNames(model).condensation}).`
    : undefined;
}
