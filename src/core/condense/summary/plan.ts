/** The estimate, the preview and the run use the same plan. */
import { yieldBetweenSteps } from '../../betweenSteps';
import { computeCallCost, sumCosts } from '../../cost/callCost';
import type { Usage } from '../../cost/usage';
import { listContents } from '../../messages/content';
import type { ApiMessage } from '../../messages/types';
import type { MessageCounter } from '../../tokens/messageCounter';
import { maskMessage } from '../../secrets/maskMessages';
import { maskSecrets } from '../../secrets/maskSecrets';
import { Draft } from '../draft/draft';
import type { MessageRange } from '../../messages/messageRange';
import { losslessConfigSchema, runLossless } from '../lossless/run';
import { TOKEN_BUFFER_SHARE } from '../trigger/thresholds';
import type { ConversationContext } from '../types';
import { packTextsIntoChunks, createTranscript } from './transcript';
import { estimateOutputTokens, type OutputSample } from './expectedOutput';
import type { NativeConfig } from './nativeConfig';
import { buildSummaryPrompt, type SummaryPrompt } from './prompt';
import type { SentPromptMemory } from './promptMemory';
import { convertForCompaction } from './compactable';
import { chooseSummaryRange } from './range';
import { renderRangeFacts } from './factSheet';
import { DEFAULT_WINDOW_TOKENS, shouldMaskSecrets, computeOutputLimit, type SummarizerModel } from '../summarizer';
import { extractSummaryProse } from './summaryMessage';

export interface SummaryPlan {
  readonly kind: 'plan';
  readonly range: MessageRange;
  /** One text per call. The next call updates the summary that a call returns. */
  readonly parts: readonly string[];
  /** o200k tokens of each part's request, without the summary of earlier parts. */
  readonly tokens: readonly number[];
  /** The summary that the first call updates; may be empty. */
  readonly earlier: string;
  readonly system: string;
  readonly custom: string;
  /** Limit of a reply in the model's tokens, without thinking. */
  readonly maxOutputTokens: number;
  readonly facts: string;
  /** True if repeated content was removed to fit the prompt. */
  readonly isReduced: boolean;
  /** Input of the vendor's own compaction, in one call instead of the parts. */
  readonly compacted?: readonly ApiMessage[];
}

export type SummaryPlanResult =
  | SummaryPlan
  | { readonly kind: 'not-enough' | 'already-condensed' | 'window-too-small' };

/** Tokens of roles and tags around the two texts of a request. */
const TURN_FRAME_TOKENS = 16;
/** A reply may take this share of the window, so that small models have room for input. */
const MAX_OUTPUT_WINDOW_SHARE = 0.2;
const MIN_PART_TOKENS = 500;

export interface SummaryPlanInput {
  readonly context: ConversationContext;
  readonly config: NativeConfig;
  readonly model: SummarizerModel;
  /** The actual window, in the model's tokens, if it rejected a request as too long. */
  readonly windowTokens?: number;
  readonly signal?: AbortSignal | undefined;
}

/** @throws the signal's reason if it was aborted */
export async function planSummary(input: SummaryPlanInput): Promise<SummaryPlanResult> {
  const { context, config, model, signal } = input;
  const { counter } = context;
  const draft = new Draft(context.messages, counter, context.edits);
  const rangeChoice = chooseSummaryRange(
    draft.messages,
    config.keepFirst,
    config.keepLast,
    (index) => isEmptyMessage(draft.messages[index]),
    (index) => context.pinned?.has(index) ?? false,
  );
  if (rangeChoice.kind !== 'range') return rangeChoice;
  const { range, newRange } = rangeChoice;
  const masksSecrets = shouldMaskSecrets(model, context.vendor, config.maskSecrets);
  const maskText = (text: string): string => (masksSecrets ? maskSecrets(text) : text);
  // Masks before truncating: half a key would not be recognized.
  const maskMessages = async (messages: readonly ApiMessage[]): Promise<readonly ApiMessage[]> =>
    masksSecrets ? maskSecretsInSlices(messages, signal) : messages;
  const windowTokens = Math.min(model.contextWindow ?? DEFAULT_WINDOW_TOKENS, input.windowTokens ?? Infinity);
  const maxOutputTokens = Math.floor(
    Math.min(config.maxSummaryTokens, model.maxOutputTokens ?? Infinity, windowTokens * MAX_OUTPUT_WINDOW_SHARE),
  );
  const planFields = {
    kind: 'plan',
    range,
    earlier:
      rangeChoice.earlier === undefined
        ? ''
        : maskText(extractSummaryProse(getMessageText(draft.messages[rangeChoice.earlier]))),
    system: maskText(context.system ?? ''),
    custom: config.prompt.trim() === '' ? (model.prompt ?? '') : config.prompt,
    maxOutputTokens,
    facts: renderRangeFacts(draft, range, config),
  } as const;
  const roomTokens = (windowTokens * (1 - TOKEN_BUFFER_SHARE) - maxOutputTokens) / model.tokenFactor;
  if (config.vendorCompaction && model.compacts === true) {
    const compactedMessages = await maskMessages(convertForCompaction(draft.messages.slice(0, range.end)));
    const tokens = TURN_FRAME_TOKENS + counter.countText(planFields.system) + counter.countMessages(compactedMessages);
    if (tokens <= roomTokens)
      return {
        ...planFields,
        earlier: '',
        parts: [''],
        tokens: [tokens],
        isReduced: false,
        compacted: compactedMessages,
      };
  }
  const tokensWithoutTranscript = countRequestTokens(buildSummaryPrompt({ ...planFields, conversation: '' }), counter);
  const renderTranscript = async ({ messages }: Draft): Promise<string[]> => {
    const maskedMessages = await maskMessages(messages);
    await yieldBetweenSteps(signal);
    return createTranscript(maskedMessages, newRange, config);
  };
  const countTokens = (texts: readonly string[]): number =>
    texts.reduce((sum, text) => sum + counter.countText(text) + 1, 0);

  await yieldBetweenSteps(signal);
  let transcriptParts = await renderTranscript(draft);
  await yieldBetweenSteps(signal);
  let tokens = tokensWithoutTranscript + countTokens(transcriptParts);
  let isReduced = false;
  if (tokens > roomTokens) {
    transcriptParts = await renderTranscript(await createLosslessDraft(input));
    await yieldBetweenSteps(signal);
    tokens = tokensWithoutTranscript + countTokens(transcriptParts);
    isReduced = true;
  }
  if (tokens <= roomTokens)
    return { ...planFields, parts: [transcriptParts.join('\n\n')], tokens: [tokens], isReduced };
  // Each part except the first is sent with the summary of the earlier parts.
  const tokensPerPart = roomTokens - tokensWithoutTranscript - maxOutputTokens / model.tokenFactor;
  if (tokensPerPart < MIN_PART_TOKENS) return { kind: 'window-too-small' };
  const parts = packTextsIntoChunks(transcriptParts, tokensPerPart, (text) => counter.countText(text));
  return {
    ...planFields,
    parts,
    tokens: parts.map((part) => tokensWithoutTranscript + counter.countText(part)),
    isReduced,
  };
}

/** Masking all of a long conversation at once would block the thread for a quarter of a second. */
const MASKED_MESSAGES_PER_EVENT_LOOP_TURN = 500;

async function maskSecretsInSlices(
  messages: readonly ApiMessage[],
  signal: AbortSignal | undefined,
): Promise<readonly ApiMessage[]> {
  const maskedMessages: ApiMessage[] = [];
  for (const [at, message] of messages.entries()) {
    if (at > 0 && at % MASKED_MESSAGES_PER_EVENT_LOOP_TURN === 0) await yieldBetweenSteps(signal);
    maskedMessages.push(maskMessage(message));
  }
  return maskedMessages;
}

const isEmptyMessage = (message: ApiMessage | undefined): boolean => message?.content.length === 0;

const getMessageText = (message: ApiMessage | undefined): string =>
  message === undefined
    ? ''
    : listContents(message)
        .map(({ text }) => text)
        .join('\n');

/** Keeps a paid model from reading repeated text. */
async function createLosslessDraft({ context, signal }: SummaryPlanInput): Promise<Draft> {
  return (await runLossless(context, losslessConfigSchema.parse({}), signal ? { signal } : {})).draft;
}

/** Shown to users who write their own prompt. */
export const getFirstSummaryPrompt = (plan: SummaryPlan): SummaryPrompt =>
  plan.compacted
    ? {
        system: plan.system,
        prompt: createTranscript(plan.compacted, { start: 0, end: Infinity }, NO_TRANSCRIPT_LIMITS).join('\n\n'),
      }
    : createSummaryPrompt(plan, plan.parts[0] ?? '', plan.earlier);

const NO_TRANSCRIPT_LIMITS = { resultChars: Infinity, parameterChars: Infinity } as const;

/** The vendor's own compaction has no prompt. */
export const createSummaryPrompt = (plan: SummaryPlan, conversation: string, earlier: string): SummaryPrompt =>
  plan.compacted ? { system: plan.system, prompt: '' } : buildSummaryPrompt({ ...plan, conversation, earlier });

/** Counts o200k tokens. */
export const countRequestTokens = ({ system, prompt }: SummaryPrompt, counter: MessageCounter): number =>
  TURN_FRAME_TOKENS + counter.countText(system) + counter.countText(prompt);

export interface SummaryCallEstimate {
  readonly usage: Usage;
  readonly cost: number | undefined;
}

export interface SummaryPlanEstimate {
  readonly calls: readonly SummaryCallEstimate[];
  /** In US dollars; undefined if the price is unknown. */
  readonly cost: number | undefined;
  /** o200k tokens of the summary without the facts. */
  readonly proseTokens: number;
}

/** Only the lengths of the replies are estimates. */
export function estimateSummaryPlan(
  plan: SummaryPlan,
  model: SummarizerModel,
  samples: readonly OutputSample[],
  memory: SentPromptMemory,
): SummaryPlanEstimate {
  let previousSummaryTokens = 0;
  const calls = plan.parts.map((conversation, index): SummaryCallEstimate => {
    const prompt = createSummaryPrompt(plan, conversation, index === 0 ? plan.earlier : '');
    const inputTokens = Math.ceil((plan.tokens[index] ?? 0) * model.tokenFactor) + previousSummaryTokens;
    const expectedTokens = estimateOutputTokens(inputTokens, samples, model.tokenFactor);
    const outputTokens = Math.min(computeOutputLimit(plan.maxOutputTokens, model), expectedTokens);
    previousSummaryTokens = Math.min(plan.maxOutputTokens, expectedTokens);
    const cachedTokens =
      index === 0 && !plan.compacted
        ? memory.estimateCachedTokens(model, prompt.system + prompt.prompt, inputTokens)
        : NO_CACHED_TOKENS;
    const usage: Usage = {
      accounting: model.accounting,
      source: 'counted',
      inputTokens:
        model.accounting === 'openai' ? inputTokens : Math.max(0, inputTokens - cachedTokens.read - cachedTokens.write),
      outputTokens,
      cacheReadTokens: cachedTokens.read,
      cacheWriteTokens: cachedTokens.write,
      ...(model.cacheLifetime === '1h' && { longCacheWriteTokens: cachedTokens.write }),
    };
    return { usage, cost: computeCallCost(usage, model.prices) };
  });
  return {
    calls,
    cost: sumCosts(calls.map(({ cost }) => cost)),
    proseTokens: Math.round(previousSummaryTokens / model.tokenFactor),
  };
}

const NO_CACHED_TOKENS = { read: 0, write: 0 } as const;
