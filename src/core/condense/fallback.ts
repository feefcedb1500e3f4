/**
 * What happens when a provider fails: native, then truncation, else the conversation stays as it is. A fallback never
 * brings a cost, a vendor or a loss that the user has not allowed.
 */
import { sumOfCosts } from '../cost/callCost';
import type { Edit } from './edits';
import type { CondensationManager, CondensationOutcome, CondensationRequest } from './manager';
import { allowedTokens } from './thresholds';

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
  /** Where it is known, truncation keeps the request under it, and only there. */
  readonly window?: WindowLimits;
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
  let outcome = await manager.condense(request);
  if (outcome.kind === 'cancelled') return outcome;
  if (hasFailed(outcome) && outcome.provider !== 'native' && policy.mayUseNative) {
    outcome = await next(manager, outcome, request, 'native', policy);
    if (outcome.kind === 'cancelled') return outcome;
  }
  const limit = policy.window ? fittingTokens(policy.window, request.overheadTokens) : Infinity;
  const tokens = outcome.kind === 'condensed' ? outcome.tokensAfter : outcome.tokensBefore;
  if (tokens <= limit || outcome.provider === 'truncation') return outcome;
  return next(manager, outcome, { ...request, targetTokens: Math.max(0, limit) }, 'truncation', policy);
}

const hasFailed = ({ kind }: CondensationOutcome): boolean => kind === 'failed' || kind === 'refused';

/** Tries another provider, on top of what the one before achieved. */
async function next(
  manager: CondensationManager,
  before: CondensationOutcome,
  request: CondensationRequest,
  provider: 'native' | 'truncation',
  { configs = {} }: FallbackPolicy,
): Promise<CondensationOutcome> {
  if (!manager.listProviders().some(({ id }) => id === provider)) return before;
  const made: readonly Edit[] = before.kind === 'condensed' ? before.edits : [];
  const { maxCost } = request;
  const tried = await manager.condense({
    ...request,
    provider,
    config: configs[provider],
    edits: [...(request.edits ?? []), ...made],
    // The failure before made the conversation cool down; that is for the next request, not for the rest of this one.
    trigger: 'manual',
    // What is over the window is worth taking out, however little it is.
    ...(provider === 'truncation' && { minimumGain: { percent: 0, tokens: 0 } }),
    ...(maxCost !== undefined && { maxCost: Math.max(0, maxCost - (before.cost ?? maxCost)) }),
  });
  const reason = `${nameOf(manager, before)}: ${whyOf(before)}`;
  const isTold = before.kind === 'condensed' || before.notes.includes(reason);
  const told = isTold ? before.notes : [...before.notes, reason];
  const both = {
    tokensBefore: before.tokensBefore,
    steps: [...before.steps, ...tried.steps],
    cost: sumOfCosts([before.cost, tried.cost]),
    timeMs: before.timeMs + tried.timeMs,
    notes: [...told, ...tried.notes],
    ...((before.calls ?? tried.calls) && { calls: [...(before.calls ?? []), ...(tried.calls ?? [])] }),
  };
  if (tried.kind === 'condensed') {
    const why =
      provider === 'truncation'
        ? 'The window would have been exceeded, so old content was truncated.'
        : 'Native was used instead.';
    return { ...tried, ...both, edits: [...made, ...tried.edits], notes: [...both.notes, why] };
  }
  if (tried.kind === 'cancelled') return { ...tried, ...both };
  return { ...before, ...both, notes: [...both.notes, `${nameOf(manager, tried)}: ${whyOf(tried)}`] };
}

const nameOf = (manager: CondensationManager, { provider }: CondensationOutcome): string =>
  manager.getProvider(provider).name;

/** Why an outcome is none, in words. */
function whyOf(outcome: CondensationOutcome): string {
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
