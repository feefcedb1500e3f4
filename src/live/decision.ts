import type { CondensationOutcome } from '../core/condense';
import type { ModelPrices } from '../core/cost/prices';
import { estimateCondensationSaving } from '../core/cost/saving';
import { inferCacheState, type CacheState } from './cacheState';
import type { View } from '../core/condense/edits/view';
import type { LiveConversation } from './liveConversation';
import type { LiveDependencies } from './types';
import type { CondensationReason, LiveDecision } from './events';

type CondensedOutcome = CondensationOutcome & { readonly kind: 'condensed' };

export const getCacheState = (
  { model, answers, resumed }: LiveConversation,
  { clock, learning }: LiveDependencies,
): CacheState => inferCacheState(model, learning.getCacheLifespan(model), answers.byModel, clock.now(), resumed);

function findPriceTierLeft(
  prices: ModelPrices | undefined,
  before: number,
  after: number,
): Pick<LiveDecision, 'dearerAbove'> {
  const ratios = [prices?.input, prices?.cacheRead].flatMap((rate) =>
    (rate?.tiers ?? []).map(({ aboveTokens }) => aboveTokens).filter((tokens) => before > tokens && after <= tokens),
  );
  return ratios.length === 0 ? {} : { dearerAbove: Math.max(...ratios) };
}

/**
 * In the model's tokens and US dollars.
 * @param before the previous view, and the whole request's o200k tokens with it
 */
export function evaluateCondensationEffect(
  conversation: LiveConversation,
  outcome: CondensedOutcome,
  reason: CondensationReason,
  before: { readonly shown: View; readonly tokens: number },
  dependencies: LiveDependencies,
): LiveDecision {
  const { model, shown, countedTokens, overheadTokens } = conversation;
  const factor = dependencies.learning.getTokenFactor(model);
  const cache = getCacheState(conversation, dependencies);
  const tokensBefore = Math.ceil(before.tokens * factor);
  const tokensAfter = Math.ceil(countedTokens * factor);
  const kept = shown.messages.findIndex((message, index) => message !== before.shown.messages[index]);
  const keptTokens =
    overheadTokens + dependencies.counter.countMessages(shown.messages.slice(0, kept < 0 ? undefined : kept));
  const effect = { tokensBefore, tokensAfter, keptPrefixTokens: Math.ceil(keptTokens * factor), cost: outcome.cost };
  const { prices, accounting = 'anthropic', cacheLifetime, contextWindow } = model;
  return {
    reason,
    tokensBefore,
    tokensAfter,
    contextWindow,
    cache,
    ...findPriceTierLeft(prices, tokensBefore, tokensAfter),
    ...(prices &&
      cache.state !== 'unknown' && {
        saving: estimateCondensationSaving(effect, {
          prices,
          accounting,
          cache: cache.state,
          isLongCache: cacheLifetime === '1h',
        }),
      }),
  };
}
