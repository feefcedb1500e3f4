/** What is asked of the manager for a live conversation: the request, its terms, and what follows a failure. */
import type { CondensationRequest, FallbackPolicy } from '../core/condense';
import { targetTokensOf } from '../core/condense/trigger/automatic';
import type { WindowLimits } from '../core/condense/fallback';
import { tokensFrom } from './due';
import type { LiveConversation } from './liveConversation';
import { reservedOf, type TokenLearning } from './tokenLearning';
import type { LiveSettings } from './types';
import type { CondensationReason } from './events';
import type { UpstreamModel } from './request';

/** Share of the window that is left free once a request didn't fit: each condensation breaks the cache. */
const ROOM_PERCENT = 20;
/** Share of the window that a condensation at the threshold must free to be worth a broken cache. */
const WORTHWHILE_PERCENT = 15;

/** The request for a conversation as it stands; tokens are o200k tokens. */
export function requestFor(
  conversation: LiveConversation,
  settings: LiveSettings,
  learning: TokenLearning,
  signal: AbortSignal | undefined,
): CondensationRequest {
  const { id, messages, shown, model, system, overheadTokens, pinned } = conversation;
  const { provider, config, target, maxCost, coherenceFloor } = settings;
  const window = windowOf(conversation, learning);
  return {
    conversation: id,
    messages,
    edits: shown.edits,
    provider,
    config,
    trigger: 'automatic',
    targetTokens: targetTokensOf(window, target, overheadTokens),
    windowTokens: Math.floor(model.contextWindow / (window.tokenFactor ?? 1)),
    overheadTokens,
    ...(system !== undefined && { system }),
    ...(model.vendor !== undefined && { vendor: model.vendor }),
    ...(pinned.size > 0 && { pinned }),
    ...(maxCost !== undefined && { maxCost }),
    ...(coherenceFloor && { coherenceFloor }),
    ...(signal && { signal }),
  };
}

/** At the threshold only what is worth a broken cache; before content would be lost, all that can be had without. */
export function termsOf(
  { model, countedTokens, overheadTokens }: LiveConversation,
  reason: CondensationReason,
  learning: TokenLearning,
): Partial<Pick<CondensationRequest, 'trigger' | 'minimumGain'>> {
  if (reason === 'window') return { trigger: 'manual' };
  if (reason !== 'threshold') return {};
  const tokens = shareOf(WORTHWHILE_PERCENT, model, learning);
  const percent = Math.ceil((100 * tokens) / Math.max(1, countedTokens - overheadTokens));
  return { minimumGain: { percent, tokens } };
}

/** What is done where the chosen provider fails or leaves too much. */
export function policyFor(
  conversation: LiveConversation,
  { mayUseNative, configs, target }: LiveSettings,
  learning: TokenLearning,
): FallbackPolicy {
  const { model, overheadTokens } = conversation;
  return {
    mayUseNative,
    limitTokens: learning.fitting(model) - overheadTokens,
    roomTokens: shareOf(ROOM_PERCENT, model, learning),
    truncateTo: targetTokensOf(windowOf(conversation, learning), target, overheadTokens),
    hasFloor: true,
    ...(configs && { configs }),
  };
}

/** O200k tokens of a percentage of the window. */
export function shareOf(percent: number, model: UpstreamModel, learning: TokenLearning): number {
  return Math.floor(tokensFrom(percent, model) / learning.factor(model));
}

function windowOf({ model }: LiveConversation, learning: TokenLearning): WindowLimits {
  return {
    contextWindow: model.contextWindow,
    tokenFactor: learning.factor(model),
    maxOutputTokens: reservedOf(model),
  };
}
