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
  tokensBefore: number,
  tokensAfter: number,
): Pick<LiveDecision, 'dearerAbove'> {
  const ratios = [prices?.input, prices?.cacheRead].flatMap((rate) =>
    (rate?.tiers ?? [])
      .map(({ aboveTokens }) => aboveTokens)
      .filter((tokens) => tokensBefore > tokens && tokensAfter <= tokens),
  );
  return ratios.length === 0 ? {} : { dearerAbove: Math.max(...ratios) };
}

/**
 * The result is in the model's tokens and US dollars.
 * @param stateBefore the previous view, and the o200k tokens of the whole request with it
 */
export function evaluateCondensationEffect(
  conversation: LiveConversation,
  outcome: CondensedOutcome,
  reason: CondensationReason,
  stateBefore: { readonly view: View; readonly tokens: number },
  dependencies: LiveDependencies,
): LiveDecision {
  const { model, view, countedTokens, overheadTokens } = conversation;
  const tokenFactor = dependencies.learning.getTokenFactor(model);
  const cache = getCacheState(conversation, dependencies);
  const tokensBefore = Math.ceil(stateBefore.tokens * tokenFactor);
  const tokensAfter = Math.ceil(countedTokens * tokenFactor);
  const firstChangedIndex = view.messages.findIndex((message, index) => message !== stateBefore.view.messages[index]);
  const keptTokens =
    overheadTokens +
    dependencies.counter.countMessages(view.messages.slice(0, firstChangedIndex < 0 ? undefined : firstChangedIndex));
  const effect = {
    tokensBefore,
    tokensAfter,
    keptPrefixTokens: Math.ceil(keptTokens * tokenFactor),
    cost: outcome.cost,
  };
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
