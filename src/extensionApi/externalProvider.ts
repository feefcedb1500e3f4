/** Turns the changes of another extension's provider into regular edits. */
import { validateFields } from '../core/condense/config';
import { Draft } from '../core/condense/draft/draft';
import type {
  CondensationEstimate,
  CondensationOptions,
  CondensationProvider,
  ConversationContext,
  ProviderCapabilities,
  ProviderResult,
  StepReport,
} from '../core/condense/types';
import { formatCost } from '../core/format';
import { rejectOnAbort } from '../core/orAborted';
import type { ProviderInput } from './api';
import { applyChanges } from './applyChanges';
import { createExternalView, type ExternalView } from './externalView';
import { parseEstimate, parseResult, type ParsedProvider, type ParsedResult } from './parse';

export interface ExternalProvider extends CondensationProvider {
  readonly parsed: ParsedProvider;
}

export function createExternalProvider(parsed: ParsedProvider): ExternalProvider {
  const { provider, usesModel, configSchema, zodSchema } = parsed;
  return {
    parsed,
    id: provider.id,
    name: provider.name,
    description: provider.description,
    version: provider.version,
    getCapabilities: () => makeCapabilities(usesModel),
    getConfigSchema: () => configSchema,
    validateConfig: (config) => validateFields(zodSchema, config, configSchema),

    async condense(context, config, options) {
      if (!usesModel) return condenseWithProvider(parsed, context, config, options);
      const { cost: estimatedCost } = await estimateWithProvider(parsed, context, config, options);
      const detail = explainExcessiveCost(estimatedCost, options);
      if (detail !== undefined) return { edits: [], steps: [], cost: 0, unchanged: { reason: 'over-budget', detail } };
      const condensed = await condenseWithProvider(parsed, context, config, options);
      return { ...condensed, ...(estimatedCost !== undefined && { estimatedCost }) };
    },
    estimate: (context, config, options) => estimateWithProvider(parsed, context, config, options),
  };
}

const makeCapabilities = (usesModel: boolean): ProviderCapabilities => ({
  supportsLossless: false,
  supportsBatchMode: usesModel,
  supportsIndividualMode: !usesModel,
  supportsMultiPass: false,
  supportsLLMSummarization: usesModel,
  estimatedSpeed: usesModel ? 'slow' : 'fast',
});

/** Explains that the cost (US dollars) exceeds the limit; undefined if it doesn't. */
function explainExcessiveCost(cost: number | undefined, { maxCost }: CondensationOptions): string | undefined {
  if (maxCost === undefined || (cost ?? Infinity) <= maxCost) return undefined;
  const costText = cost === undefined ? 'Its cost is not known' : `It would cost about $${cost.toFixed(4)}`;
  return `${costText}; at most ${formatCost(maxCost)} may be spent on a condensation.`;
}

async function condenseWithProvider(
  parsed: ParsedProvider,
  context: ConversationContext,
  config: unknown,
  options: CondensationOptions,
): Promise<ProviderResult> {
  const { name } = parsed.provider;
  const startMs = performance.now();
  const view = createExternalView(context);
  const { changes, cost, notes } = await callExternalProvider(parsed, view, config, options);
  const draft = new Draft(context.messages, context.counter, context.edits);
  const tokensBefore = draft.tokens;
  const droppedCounts = applyChanges(view, changes, draft, name);
  const step: StepReport = {
    name,
    tokensBefore,
    tokensAfter: draft.tokens,
    edits: draft.edits.length,
    timeMs: performance.now() - startMs,
    cost,
    outcome: { kind: 'done' },
  };
  const droppedNotes = [
    ...(droppedCounts.useless === 0
      ? []
      : [`${droppedCounts.useless} of ${changes.length} changes would save nothing and were left out.`]),
    ...(droppedCounts.overlapping === 0
      ? []
      : [
          `${droppedCounts.overlapping} of ${changes.length} changes overlap a cut that begins before them and were left out.`,
        ]),
  ];
  return { edits: draft.edits, steps: [step], cost, notes: [...notes, ...droppedNotes] };
}

async function estimateWithProvider(
  parsed: ParsedProvider,
  context: ConversationContext,
  config: unknown,
  options: CondensationOptions,
): Promise<CondensationEstimate> {
  const { provider } = parsed;
  const view = createExternalView(context);
  const tokensBefore = context.counter.countMessages(view.messages);
  if (provider.estimate) {
    const runEstimate = (signal: AbortSignal) => provider.estimate?.(makeProviderInput(view, config, options), signal);
    const { tokensAfter, cost } = parseEstimate(await runWithTimeout(runEstimate, options, parsed), provider.name);
    return { tokensBefore, tokensAfter, steps: [], cost };
  }
  const { edits, steps, cost } = await condenseWithProvider(parsed, context, config, options);
  return { tokensBefore, tokensAfter: steps[0]?.tokensAfter ?? tokensBefore, steps, cost, edits };
}

async function callExternalProvider(
  parsed: ParsedProvider,
  view: ExternalView,
  config: unknown,
  options: CondensationOptions,
): Promise<ParsedResult> {
  const { provider } = parsed;
  const runCondensation = (signal: AbortSignal) => provider.condense(makeProviderInput(view, config, options), signal);
  return parseResult(await runWithTimeout(runCondensation, options, parsed), provider.name);
}

const makeProviderInput = (
  { messages, context }: ExternalView,
  config: unknown,
  { targetTokens, maxCost, onProgress }: CondensationOptions,
): ProviderInput => ({
  messages: structuredClone(messages),
  config,
  targetTokens,
  maxCost,
  system: context.system,
  countTokens: (text) => context.counter.countText(text),
  onProgress: (progress) => onProgress?.(progress),
});

/**
 * Time limits in milliseconds. The limit without a model is short, because chat requests wait for
 * the provider.
 */
const MAX_PROVIDER_MS = 30_000;
const MAX_PROVIDER_WITH_MODEL_MS = 300_000;

/**
 * Ends a call of another extension after the time limit, because it may ignore the signal or never
 * end.
 * @throws Error on timeout
 */
async function runWithTimeout<T>(
  startCall: (signal: AbortSignal) => T | Promise<T>,
  { signal }: CondensationOptions,
  { provider, usesModel }: ParsedProvider,
): Promise<T> {
  signal?.throwIfAborted();
  const limitMs = usesModel ? MAX_PROVIDER_WITH_MODEL_MS : MAX_PROVIDER_MS;
  const timeoutController = new AbortController();
  const timer = setTimeout(() => {
    timeoutController.abort(new Error(`${provider.name} did not answer within ${limitMs / 1_000} s and was stopped.`));
  }, limitMs);
  const combinedSignal = signal ? AbortSignal.any([signal, timeoutController.signal]) : timeoutController.signal;
  try {
    return await rejectOnAbort(Promise.resolve(combinedSignal).then(startCall), combinedSignal);
  } finally {
    clearTimeout(timer);
  }
}
