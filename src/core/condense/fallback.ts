/**
 * Steps that may follow a provider: Summary if it failed, Lossless if its result loses too many
 * facts, File-Aware if Lossless misses the target. If the request does not fit the window,
 * File-Aware and Truncation follow; at last, if allowed, results are suppressed. Fallbacks never
 * cause costs, calls or losses that the user has not allowed.
 */
import { sumCosts } from '../cost/callCost';
import type { Edit } from './edits/edits';
import {
  DEFAULT_MINIMUM_GAIN,
  type CondensationOutcome,
  type CondensationRequest,
  type OutcomeSummary,
} from './condensation';
import type { PipelineStep } from './draft/steps';
import type { PipelineWork } from './draft/work';
import type { CondensationManager } from './manager';
import { explainTooLittleGain } from './minimumGain';
import { runPipeline } from './pipeline';
import { computeMaxPromptTokens } from './trigger/thresholds';
import type { UnchangedReason } from './types';

export interface WindowLimits {
  /** In the model's tokens. */
  readonly contextWindow: number;
  /** Reserved for the reply, in the model's tokens. */
  readonly maxOutputTokens?: number;
  /** The model's tokens per o200k token. Default 1. */
  readonly tokenFactor?: number;
}

export interface FallbackPolicy {
  /**
   * True if the user has set a condensing profile and a budget; otherwise fallbacks call no paid
   * model.
   */
  readonly mayUseNative: boolean;
  /** If absent, no step makes the request fit. */
  readonly window?: WindowLimits;
  /** o200k tokens that the messages may have, instead of what the window allows. */
  readonly limitTokens?: number;
  /** o200k tokens to leave for the next request if this one did not fit. Default 0. */
  readonly roomTokens?: number;
  /**
   * o200k tokens to which File-Aware and Truncation cut; default: until the request fits. They
   * break the prompt cache, so one large cut costs less than many.
   */
  readonly fittingTargetTokens?: number;
  /** True if suppressing results, oldest first, is allowed as a last resort. Default false. */
  readonly hasFloor?: boolean;
  /** True if File-Aware follows a Lossless run that misses the target. Default false. */
  readonly fileAwareFollows?: boolean;
  /** By provider ID; a provider without an entry uses its defaults. */
  readonly configs?: Readonly<Record<string, unknown>>;
}

/** Returns o200k tokens of messages. */
export const computeFittingTokens = (
  { contextWindow, maxOutputTokens, tokenFactor = 1 }: WindowLimits,
  overheadTokens = 0,
): number => Math.floor(computeMaxPromptTokens(contextWindow, maxOutputTokens) / tokenFactor) - overheadTokens;

/** @throws UnknownProviderError */
export async function condenseWithFallback(
  manager: CondensationManager,
  request: CondensationRequest,
  policy: FallbackPolicy,
): Promise<CondensationOutcome> {
  const firstRequest = policy.fileAwareFollows ? { ...request, minimumGain: { percent: 0, tokens: 0 } } : request;
  const firstOutcome = await manager.condense(firstRequest);
  const fallbackAttempt = new FallbackAttempt(manager, firstRequest, policy, firstOutcome);
  await fallbackAttempt.runFallbacks(chooseFallbacksForTarget(policy, request));
  if (policy.fileAwareFollows && missesTarget(firstOutcome, request))
    fallbackAttempt.outcome = requireMinimumGain(fallbackAttempt.outcome, request);
  await fallbackAttempt.runFallbacks(chooseFallbacksForWindow(policy, fallbackAttempt.outcome));
  return fallbackAttempt.outcome;
}

interface Fallback {
  readonly provider: 'native' | 'lossless' | 'smart' | 'truncation';
  readonly config: unknown;
  /** Shown to the user if the fallback changes anything. */
  readonly explanation: string;
  readonly isNeeded: (outcome: CondensationOutcome, tries: FallbackAttempt) => boolean;
  /** If true, the request must fit, so the coherence floor does not apply. */
  readonly mustFit?: boolean;
}

const createFallbackStep = (fallback: Fallback): PipelineStep<FallbackAttempt> => ({
  name: fallback.provider,
  skip: (tries) => (tries.isFallbackWanted(fallback) ? undefined : 'it is not needed'),
  run: (tries) => tries.runAndAddOutcome(fallback),
});

const hasOutcomeFailed = ({ kind }: CondensationOutcome): boolean => kind === 'failed' || kind === 'refused';

const isUnchanged = (outcome: CondensationOutcome, reason: UnchangedReason): boolean =>
  outcome.kind === 'unchanged' && outcome.reason === reason;

/**
 * At the same size, File-Aware keeps far more needed content than Truncation. It calls no model.
 */
const FILE_AWARE_CHOICE = { provider: 'smart', config: 'file-aware' } as const;
const LOSSLESS_ALONE_NOTE =
  'Lossless alone left more than the target, so what is least likely to be needed was removed.';

const missesTarget = (outcome: CondensationOutcome, { targetTokens = 0 }: CondensationRequest): boolean =>
  outcome.kind !== 'cancelled' &&
  !isUnchanged(outcome, 'cooling-down') &&
  getTokensAfterOutcome(outcome) > targetTokens;

const chooseFallbacksForTarget = (
  { mayUseNative, configs, fileAwareFollows }: FallbackPolicy,
  request: CondensationRequest,
): readonly Fallback[] =>
  fileAwareFollows
    ? [
        {
          ...FILE_AWARE_CHOICE,
          explanation: LOSSLESS_ALONE_NOTE,
          isNeeded: (outcome) => missesTarget(outcome, request),
        },
      ]
    : [
        {
          provider: 'native',
          config: configs?.['native'],
          explanation: 'Summary was used instead.',
          isNeeded: (outcome) => mayUseNative && hasOutcomeFailed(outcome) && outcome.provider !== 'native',
        },
        {
          provider: 'lossless',
          config: configs?.['lossless'],
          explanation: 'Only repeated content was removed: otherwise too many facts would have been lost.',
          isNeeded: (outcome) => isUnchanged(outcome, 'incoherent') && outcome.provider !== 'lossless',
        },
      ];

const exceedsWindow = (outcome: CondensationOutcome, { sufficientTokens }: FallbackAttempt): boolean =>
  getTokensAfterOutcome(outcome) > sufficientTokens;

/** Removes old results, then new ones, then parameters, but never the user's words. */
const LAST_RESORT_TRUNCATIONS: readonly Fallback[] = [
  { preserveRecentCount: 4, toolResults: { mode: 'suppress' }, toolParameters: { mode: 'keep' } },
  { preserveRecentCount: 0, toolResults: { mode: 'truncate', maxChars: 4_000 }, toolParameters: { mode: 'keep' } },
  {
    preserveRecentCount: 0,
    toolResults: { mode: 'suppress' },
    toolParameters: { mode: 'truncate', maxChars: 500 },
    images: { mode: 'suppress', keepNewest: 0 },
  },
].map((config) => ({
  provider: 'truncation',
  config: { images: { mode: 'suppress', keepNewest: 1 }, ...config, messageText: { mode: 'keep' } },
  explanation: 'That left too little room in the window, so results were suppressed, the oldest first.',
  // Recent messages are condensed only if the request would not fit otherwise.
  isNeeded:
    config.preserveRecentCount === 0 ? (outcome, { limit }) => getTokensAfterOutcome(outcome) > limit : exceedsWindow,
  mustFit: true,
}));

function chooseFallbacksForWindow(
  { configs, hasFloor }: FallbackPolicy,
  outcome: CondensationOutcome,
): readonly Fallback[] {
  const explanationStart = 'The window would have been exceeded, so';
  const fallbackToFit = { isNeeded: exceedsWindow, mustFit: true };
  const fileAware = {
    ...FILE_AWARE_CHOICE,
    ...fallbackToFit,
    explanation: `${explanationStart} what is least likely to be needed was removed.`,
  };
  const config = configs?.['truncation'];
  const truncation = {
    provider: 'truncation',
    config,
    ...fallbackToFit,
    explanation: `${explanationStart} old content was truncated.`,
  } as const;
  // A user who chose Truncation keeps it, and a broken Smart would fail again.
  const isSmartBroken = outcome.provider === 'smart' && hasOutcomeFailed(outcome);
  const chosenFallbacks =
    outcome.provider === 'truncation' ? [] : isSmartBroken ? [truncation] : [fileAware, truncation];
  return [...chosenFallbacks, ...(hasFloor === true ? LAST_RESORT_TRUNCATIONS : [])];
}

/** Lossless and File-Aware form one condensation, so the minimum gain applies to both together. */
function requireMinimumGain(
  outcome: CondensationOutcome,
  { minimumGain = DEFAULT_MINIMUM_GAIN }: CondensationRequest,
): CondensationOutcome {
  if (outcome.kind !== 'condensed') return outcome;
  const detail = explainTooLittleGain(outcome.tokensBefore, outcome.tokensAfter, minimumGain);
  if (detail === undefined) return outcome;
  const { edits: _edits, view: _view, coherence: _coherence, alsoBy: _alsoBy, tokensAfter: _after, ...base } = outcome;
  const notes = base.notes.filter((note) => note !== LOSSLESS_ALONE_NOTE);
  return { ...base, notes, kind: 'unchanged', reason: 'below-minimum-gain', detail };
}

const getTokensAfterOutcome = (outcome: CondensationOutcome): number =>
  outcome.kind === 'condensed' ? outcome.tokensAfter : outcome.tokensBefore;

class FallbackAttempt implements PipelineWork {
  /** In o200k tokens of the messages. */
  readonly limit: number;
  /** o200k tokens at which no further fallback is needed. */
  readonly sufficientTokens: number;
  private readonly fittingRequest: CondensationRequest;
  private idleProviders: { readonly provider: string; readonly reason: string }[] = [];

  constructor(
    private readonly manager: CondensationManager,
    private readonly request: CondensationRequest,
    { limitTokens, window, roomTokens = 0, fittingTargetTokens = Infinity }: FallbackPolicy,
    public outcome: CondensationOutcome,
  ) {
    this.limit = limitTokens ?? (window ? computeFittingTokens(window, request.overheadTokens) : Infinity);
    const fittingTarget = Math.max(0, this.limit - roomTokens);
    // A condensation that leaves no room would make the next request break the prompt cache again.
    this.sufficientTokens = outcome.tokensBefore > this.limit ? fittingTarget : this.limit;
    this.fittingRequest = {
      ...request,
      coherenceFloor: {},
      targetTokens: Math.min(fittingTargetTokens, fittingTarget),
    };
  }

  async runFallbacks(fallbacks: readonly Fallback[]): Promise<void> {
    const reports = await runPipeline(this, fallbacks.map(createFallbackStep), {});
    const failures = reports.flatMap(({ name, outcome }) =>
      outcome.kind === 'failed' ? [{ provider: name, reason: `${name}: ${outcome.reason}` }] : [],
    );
    const idleWithoutEdits = [...this.idleProviders, ...failures].filter(
      ({ provider }) => !this.hasProviderEdited(provider),
    );
    const reasons = idleWithoutEdits.map(({ reason }) => reason);
    this.idleProviders = [];
    if (reasons.length > 0)
      this.outcome = { ...this.outcome, notes: [...new Set([...this.outcome.notes, ...reasons])] };
  }

  get tokens(): number {
    return getTokensAfterOutcome(this.outcome);
  }

  get edits(): readonly Edit[] {
    return this.outcome.kind === 'condensed' ? this.outcome.edits : [];
  }

  saveState(): CondensationOutcome {
    return this.outcome;
  }

  restoreState(outcome: CondensationOutcome): void {
    this.outcome = outcome;
  }

  isFallbackWanted({ provider, isNeeded }: Fallback): boolean {
    const isRegistered = this.manager.listProviders().some(({ id }) => id === provider);
    return isRegistered && this.outcome.kind !== 'cancelled' && isNeeded(this.outcome, this);
  }

  private hasProviderEdited(provider: string): boolean {
    const { outcome } = this;
    return outcome.kind === 'condensed' && [...(outcome.alsoBy ?? []), outcome.provider].includes(provider);
  }

  async runAndAddOutcome({ provider, config, explanation, mustFit }: Fallback): Promise<void> {
    const outcomeBefore = this.outcome;
    const request = mustFit ? this.fittingRequest : this.request;
    const { edits: editsBefore } = this;
    const { maxCost } = request;
    const triedOutcome = await this.manager.condense({
      ...request,
      provider,
      config,
      configName: undefined,
      edits: [...(request.edits ?? []), ...editsBefore],
      // Ignores the cool-down that the failed attempt started.
      trigger: 'manual',
      // Above the window, every saving counts.
      ...(provider === 'truncation' && { minimumGain: { percent: 0, tokens: 0 } }),
      ...(maxCost !== undefined && { maxCost: Math.max(0, maxCost - (outcomeBefore.cost ?? maxCost)) }),
    });
    const reason = this.describeReason(outcomeBefore);
    const isReported = outcomeBefore.kind === 'condensed' || outcomeBefore.notes.includes(reason);
    const notesWithReason = isReported ? outcomeBefore.notes : [...outcomeBefore.notes, reason];
    const calls = [...(outcomeBefore.calls ?? []), ...(triedOutcome.calls ?? [])];
    const mergedOutcome = {
      tokensBefore: outcomeBefore.tokensBefore,
      steps: [...outcomeBefore.steps, ...triedOutcome.steps],
      cost: sumCosts([outcomeBefore.cost, triedOutcome.cost]),
      timeMs: outcomeBefore.timeMs + triedOutcome.timeMs,
      notes: [...notesWithReason, ...triedOutcome.notes],
      ...((outcomeBefore.calls ?? triedOutcome.calls) && { calls }),
    };
    if (triedOutcome.kind === 'condensed') {
      const earlierProviders =
        outcomeBefore.kind === 'condensed' ? [...(outcomeBefore.alsoBy ?? []), outcomeBefore.provider] : [];
      const otherProviders = [...new Set(earlierProviders)].filter((id) => id !== triedOutcome.provider);
      const configNames = {
        ...(earlierProviders.length > 0 && outcomeBefore.configNames),
        ...triedOutcome.configNames,
      };
      this.outcome = {
        ...triedOutcome,
        ...mergedOutcome,
        edits: [...editsBefore, ...triedOutcome.edits],
        notes: notesWithReason.includes(explanation)
          ? mergedOutcome.notes
          : [...notesWithReason, explanation, ...triedOutcome.notes],
        ...(Object.keys(configNames).length > 0 && { configNames }),
        ...(otherProviders.length > 0 && { alsoBy: otherProviders }),
      };
      return;
    }
    const failure = this.describeReason(triedOutcome);
    if (triedOutcome.kind === 'unchanged') this.idleProviders.push({ provider, reason: failure });
    const notes = triedOutcome.kind === 'unchanged' ? mergedOutcome.notes : [...mergedOutcome.notes, failure];
    this.outcome =
      triedOutcome.kind === 'cancelled'
        ? { ...triedOutcome, ...mergedOutcome }
        : { ...outcomeBefore, ...mergedOutcome, notes };
  }

  private describeReason(outcome: CondensationOutcome): string {
    const { name } = this.manager.getProvider(outcome.provider);
    const whyNot = explainWhyNothingRemoved(outcome);
    return whyNot.startsWith(name) ? whyNot : `${name}: ${whyNot}`;
  }
}

export function explainWhyNothingRemoved(outcome: OutcomeSummary): string {
  switch (outcome.kind) {
    case 'unchanged':
      return outcome.detail;
    case 'failed':
      return outcome.error.message;
    case 'refused':
      return `the result would not be a valid conversation (${outcome.violations[0]?.rule ?? ''})`;
    case 'cancelled':
    case 'condensed':
      return outcome.kind;
  }
}
