/**
 * What follows a provider: File-Aware where Lossless leaves more than the target, as far as the policy says so, and the fallbacks when a
 * provider fails: native, then where the window would be exceeded File-Aware and truncation, else the
 * conversation stays as it is; if its result would lose sight of too much, lossless. A fallback never brings a cost, a vendor or a loss that the user has not
 * allowed. Where a request must fit whatever goes, the floor follows: results are suppressed, the oldest first.
 */
import { sumOfCosts } from '../cost/callCost';
import type { Edit } from './edits/edits';
import {
  DEFAULT_MINIMUM_GAIN,
  type CondensationOutcome,
  type CondensationRequest,
  type OutcomeSummary,
} from './condensation';
import type { CondensationManager } from './manager';
import { tooLittleGain } from './minimumGain';
import { allowedTokens } from './trigger/thresholds';

/** The window that the conversation must fit into. */
export interface WindowLimits {
  /** The model's tokens. */
  readonly contextWindow: number;
  /** Reserved for the reply, in the model's tokens. */
  readonly maxOutputTokens?: number;
  /** The model's tokens for one o200k token. Default 1. */
  readonly tokenFactor?: number;
}

export interface FallbackPolicy {
  /** True where the user has set up a condensing profile and a budget: only then may a failure lead to a paid call. */
  readonly mayUseNative: boolean;
  /** Where it is known, File-Aware and truncation keep the request under it, and only there. */
  readonly window?: WindowLimits;
  /** O200k tokens that the messages may have, in place of what the window allows. */
  readonly limitTokens?: number;
  /** O200k tokens that are left free where the request didn't fit, so that the next one does. Default 0. */
  readonly roomTokens?: number;
  /**
   * O200k tokens of the messages down to which File-Aware, truncation and floor go once they have to; default: until they fit, with
   * the room. The prompt cache is broken anyway: one that goes far costs less than many that hardly suffice.
   */
  readonly truncateTo?: number;
  /** True where the request must fit: then the floor follows on truncation. Default false. */
  readonly hasFloor?: boolean;
  /** True where File-Aware follows Lossless if that leaves more than the request's target. Default false. */
  readonly fileAwareFollows?: boolean;
  /** Configurations of the fallbacks, by provider; absent: their defaults. */
  readonly configs?: Readonly<Record<string, unknown>>;
}

/** o200k tokens that the messages may have so that the request fits. */
export const fittingTokens = (
  { contextWindow, maxOutputTokens, tokenFactor = 1 }: WindowLimits,
  overheadTokens = 0,
): number => Math.floor(allowedTokens(contextWindow, maxOutputTokens) / tokenFactor) - overheadTokens;

/**
 * Condenses as asked, and where that fails as the policy allows. The outcome tells what every try took and why it ended.
 * @throws UnknownProviderError
 */
export async function condenseWithFallback(
  manager: CondensationManager,
  request: CondensationRequest,
  policy: FallbackPolicy,
): Promise<CondensationOutcome> {
  const outcome = policy.fileAwareFollows
    ? await condenseToTarget(manager, request)
    : await condenseWithoutLoss(manager, request, policy);
  return madeToFit(manager, outcome, request, policy);
}

/**
 * Lossless as asked, then File-Aware for what that leaves above the target. They are applied as one condensation, so together they must
 * free the request's minimum gain.
 */
async function condenseToTarget(
  manager: CondensationManager,
  request: CondensationRequest,
): Promise<CondensationOutcome> {
  const { minimumGain = DEFAULT_MINIMUM_GAIN, targetTokens = 0 } = request;
  const each = { ...request, minimumGain: { percent: 0, tokens: 0 } };
  const lossless = await manager.condense(each);
  const isWaiting = lossless.kind === 'unchanged' && lossless.reason === 'cooling-down';
  if (lossless.kind === 'cancelled' || isWaiting || tokensOf(lossless) <= targetTokens) return lossless;
  const both = settledBy(await next(manager, lossless, each, FILE_AWARE_FOLLOWS));
  if (both.kind !== 'condensed') return both;
  const detail = tooLittleGain(both.tokensBefore, both.tokensAfter, minimumGain);
  if (detail === undefined) return both;
  const { edits: _edits, view: _view, coherence: _coherence, alsoBy: _alsoBy, tokensAfter: _after, ...base } = both;
  const notes = base.notes.filter((note) => note !== FILE_AWARE_FOLLOWS.why);
  return { ...base, notes, kind: 'unchanged', reason: 'below-minimum-gain', detail };
}

/** Condenses; where that fails with Native, and where too much would be lost sight of with Lossless. */
async function condenseWithoutLoss(
  manager: CondensationManager,
  request: CondensationRequest,
  { mayUseNative, configs }: FallbackPolicy,
): Promise<CondensationOutcome> {
  let outcome = await manager.condense(request);
  if (hasFailed(outcome) && outcome.provider !== 'native' && mayUseNative) {
    const native = { provider: 'native', config: configs?.['native'], why: 'Native was used instead.' } as const;
    outcome = settledBy(await next(manager, outcome, request, native));
  }
  if (outcome.kind === 'unchanged' && outcome.reason === 'incoherent' && outcome.provider !== 'lossless') {
    const lossless = { provider: 'lossless', config: configs?.['lossless'], why: LOSSLESS_WHY } as const;
    outcome = settledBy(await next(manager, outcome, request, lossless));
  }
  return outcome;
}

/** Takes out, try after try, what keeps the request from fitting, as far as the policy allows. */
async function madeToFit(
  manager: CondensationManager,
  first: CondensationOutcome,
  request: CondensationRequest,
  policy: FallbackPolicy,
): Promise<CondensationOutcome> {
  let outcome = first;
  const limit = policy.limitTokens ?? (policy.window ? fittingTokens(policy.window, request.overheadTokens) : Infinity);
  const fittingTarget = Math.max(0, limit - (policy.roomTokens ?? 0));
  const targetTokens = Math.min(policy.truncateTo ?? fittingTarget, fittingTarget);
  // A request that must fit is made to fit, even below the coherence floor.
  const fitting = { ...request, coherenceFloor: {}, targetTokens };
  // A condensation that breaks the prompt cache because the request didn't fit must leave room, or the next request breaks
  // it again.
  const enough = outcome.tokensBefore > limit ? fittingTarget : limit;
  const idle: Idle[] = [];
  for (const fallback of lossyFallbacks(outcome, policy)) {
    const isEnough = tokensOf(outcome) <= (fallback.takesNewest ? limit : enough);
    if (outcome.kind === 'cancelled' || isEnough) break;
    const tried = await next(manager, outcome, fitting, fallback);
    outcome = tried.outcome;
    if (tried.idle !== undefined) idle.push(tried.idle);
  }
  // A provider that found nothing with one configuration and something with the next did find something.
  const reasons = idle.filter(({ provider }) => !hasEdited(outcome, provider)).map(({ reason }) => reason);
  return reasons.length === 0 ? outcome : { ...outcome, notes: [...new Set([...outcome.notes, ...reasons])] };
}

/** Whether changes of a provider are among those of an outcome. */
const hasEdited = (outcome: CondensationOutcome, provider: string): boolean =>
  outcome.kind === 'condensed' && [...(outcome.alsoBy ?? []), outcome.provider].includes(provider);

/** A try after another that wasn't enough. */
interface Fallback {
  readonly provider: 'native' | 'lossless' | 'smart' | 'truncation';
  readonly config: unknown;
  /** The reason to report if it changed anything. */
  readonly why: string;
  /** It takes what the agent works on: only for a request that doesn't fit otherwise. */
  readonly takesNewest?: boolean;
}

const LOSSLESS_WHY = 'Only repeated content was removed: otherwise too many facts would have been lost.';
const FLOOR_WHY = 'That left too little room in the window, so results were suppressed, the oldest first.';

/** The floor, step by step: old results, then the newest ones too, then parameters. What people wrote stays. */
const FLOOR: readonly Fallback[] = [
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
  why: FLOOR_WHY,
  takesNewest: config.preserveRecentCount === 0,
}));

/** At the same size it keeps far more of what is needed than truncation of the oldest does. It calls no model. */
const FILE_AWARE_FIRST: Fallback = {
  provider: 'smart',
  config: 'file-aware',
  why: 'The window would have been exceeded, so what is least likely to be needed was removed.',
};

/** What follows Lossless at the threshold of an agent's task. */
const FILE_AWARE_FOLLOWS: Fallback = {
  ...FILE_AWARE_FIRST,
  why: 'Lossless alone left more than the target, so what is least likely to be needed was removed.',
};

function lossyFallbacks(outcome: CondensationOutcome, { configs, hasFloor }: FallbackPolicy): readonly Fallback[] {
  const why = 'The window would have been exceeded, so old content was truncated.';
  const truncation = { provider: 'truncation', config: configs?.['truncation'], why } as const;
  // Who chose truncation keeps it; and Smart, once it failed, would fail again.
  const isSmartBroken = outcome.provider === 'smart' && hasFailed(outcome);
  const chosen = outcome.provider === 'truncation' ? [] : isSmartBroken ? [truncation] : [FILE_AWARE_FIRST, truncation];
  return [...chosen, ...(hasFloor === true ? FLOOR : [])];
}

const tokensOf = (outcome: CondensationOutcome): number =>
  outcome.kind === 'condensed' ? outcome.tokensAfter : outcome.tokensBefore;

const hasFailed = ({ kind }: CondensationOutcome): boolean => kind === 'failed' || kind === 'refused';

/** A provider that was asked and found nothing. */
interface Idle {
  readonly provider: string;
  readonly reason: string;
}

interface Tried {
  readonly outcome: CondensationOutcome;
  /** Said at the end, unless the same provider found something after all. */
  readonly idle?: Idle;
}

/** A try that is the last of its kind: what it found nothing for is said at once. */
const settledBy = ({ outcome, idle }: Tried): CondensationOutcome =>
  idle === undefined ? outcome : { ...outcome, notes: [...outcome.notes, idle.reason] };

/** Tries another provider, on top of what the one before achieved. The notes tell in order what was done and why. */
async function next(
  manager: CondensationManager,
  before: CondensationOutcome,
  request: CondensationRequest,
  { provider, config, why }: Fallback,
): Promise<Tried> {
  if (!manager.listProviders().some(({ id }) => id === provider)) return { outcome: before };
  const made: readonly Edit[] = before.kind === 'condensed' ? before.edits : [];
  const { maxCost } = request;
  const tried = await manager.condense({
    ...request,
    provider,
    config,
    configName: undefined,
    edits: [...(request.edits ?? []), ...made],
    // The failure before made the conversation cool down; that is for the next request, not for the rest of this one.
    trigger: 'manual',
    // Over the window, every saving counts, however small.
    ...(provider === 'truncation' && { minimumGain: { percent: 0, tokens: 0 } }),
    ...(maxCost !== undefined && { maxCost: Math.max(0, maxCost - (before.cost ?? maxCost)) }),
  });
  const reason = reasonOf(manager, before);
  const isReported = before.kind === 'condensed' || before.notes.includes(reason);
  const reported = isReported ? before.notes : [...before.notes, reason];
  const both = {
    tokensBefore: before.tokensBefore,
    steps: [...before.steps, ...tried.steps],
    cost: sumOfCosts([before.cost, tried.cost]),
    timeMs: before.timeMs + tried.timeMs,
    notes: [...reported, ...tried.notes],
    ...((before.calls ?? tried.calls) && { calls: [...(before.calls ?? []), ...(tried.calls ?? [])] }),
  };
  if (tried.kind === 'condensed') {
    const notes = reported.includes(why) ? both.notes : [...reported, why, ...tried.notes];
    const earlier = before.kind === 'condensed' ? [...(before.alsoBy ?? []), before.provider] : [];
    const alsoBy = [...new Set(earlier)].filter((id) => id !== tried.provider);
    const configNames = { ...(earlier.length > 0 && before.configNames), ...tried.configNames };
    return {
      outcome: {
        ...tried,
        ...both,
        edits: [...made, ...tried.edits],
        notes,
        ...(Object.keys(configNames).length > 0 && { configNames }),
        ...(alsoBy.length > 0 && { alsoBy }),
      },
    };
  }
  if (tried.kind === 'cancelled') return { outcome: { ...tried, ...both } };
  const outcome = { ...before, ...both };
  const idle = { provider, reason: reasonOf(manager, tried) };
  if (tried.kind === 'unchanged') return { outcome, idle };
  return { outcome: { ...outcome, notes: [...both.notes, idle.reason] } };
}

/** Which provider did nothing, and why; its words may name it already. */
function reasonOf(manager: CondensationManager, outcome: CondensationOutcome): string {
  const { name } = manager.getProvider(outcome.provider);
  const why = whyNot(outcome);
  return why.startsWith(name) ? why : `${name}: ${why}`;
}

/** Why an outcome took nothing out, in words. */
export function whyNot(outcome: OutcomeSummary): string {
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
