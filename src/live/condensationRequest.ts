import type { CondensationRequest, FallbackPolicy } from '../core/condense';
import { getMessagesTarget } from '../core/condense/automatic';
import { getPercentTokens, computeThresholdTokens, computeWorthwhileTokens } from '../core/condense/trigger/thresholds';
import type { WindowLimits } from '../core/condense/fallback';
import type { LiveConversation } from './liveConversation';
import { getReservedTokens, type TokenLearning } from './tokenLearning';
import { readOwnTools } from './ownTools';
import type { LiveSettings, WhenNotEnough } from './types';
import type { CondensationReason } from './events';

/**
 * Percent of the window to free if a request doesn't fit, because each condensation breaks the
 * cache.
 */
const ROOM_WINDOW_PERCENT = 20;

/** Sizes are in o200k tokens. */
export function createRequest(
  conversation: LiveConversation,
  settings: LiveSettings,
  learning: TokenLearning,
  signal: AbortSignal | undefined,
): CondensationRequest {
  const { id, messages, shown, model, system, overheadTokens, pinned } = conversation;
  const { provider, config, maxCost, coherenceFloor } = settings;
  const window = getWindowLimits(conversation, learning);
  return {
    conversation: id,
    messages,
    edits: shown.edits,
    provider,
    config,
    trigger: 'automatic',
    tools: readOwnTools(settings),
    targetTokens: getMessagesTarget(window, model.threshold, overheadTokens),
    windowTokens: Math.floor(model.contextWindow / (window.tokenFactor ?? 1)),
    overheadTokens,
    ...(system !== undefined && { system }),
    ...(model.vendor !== undefined && { vendor: model.vendor }),
    ...(model.summarizer && { ownModel: model.summarizer }),
    ...(pinned.size > 0 && { pinned }),
    ...(maxCost !== undefined && { maxCost }),
    ...(coherenceFloor && { coherenceFloor }),
    ...(signal && { signal }),
  };
}

/**
 * At the threshold, allows only edits that are worth a broken cache; before content would be lost,
 * allows all lossless ones.
 */
export function createTerms(
  conversation: LiveConversation,
  reason: CondensationReason,
  learning: TokenLearning,
): Partial<Pick<CondensationRequest, 'trigger' | 'minimumGain' | 'targetTokens'>> {
  const { model, countedTokens, overheadTokens } = conversation;
  if (reason === 'window') return { trigger: 'manual' };
  const window = getWindowLimits(conversation, learning);
  if (reason === 'cold-cache') {
    const dueTokens = countedTokens * learning.getFactor(model);
    return { targetTokens: getMessagesTarget(window, model.threshold, overheadTokens, dueTokens) };
  }
  if (reason !== 'threshold') return {};
  const worthwhile = computeWorthwhileTokens(model.threshold, model.contextWindow);
  // If instructions and tools alone approach the threshold, every request exceeds it. The minimum
  // gain is then a share of the whole request.
  const share = worthwhile / Math.max(1, computeThresholdTokens(model.threshold, model.contextWindow));
  const tokens = Math.floor(Math.max(worthwhile / learning.getFactor(model), countedTokens * share));
  const percent = Math.ceil((100 * tokens) / Math.max(1, countedTokens - overheadTokens));
  return { minimumGain: { percent, tokens } };
}

/** Providers other than Lossless run alone. */
export const getFollowUp = (
  { canRecall }: Pick<LiveConversation, 'canRecall'>,
  { provider, whenNotEnough }: LiveSettings,
): WhenNotEnough =>
  provider === 'lossless' ? (whenNotEnough ?? (canRecall === true ? 'fileAware' : 'nothing')) : 'nothing';

export function createPolicy(
  conversation: LiveConversation,
  { mayUseNative, configs }: LiveSettings,
  learning: TokenLearning,
  fileAwareFollows = false,
): FallbackPolicy {
  const { model, overheadTokens } = conversation;
  return {
    mayUseNative,
    limitTokens: learning.computeFittingTokens(model) - overheadTokens,
    roomTokens: Math.floor(getPercentTokens(ROOM_WINDOW_PERCENT, model.contextWindow) / learning.getFactor(model)),
    truncateTo: getMessagesTarget(getWindowLimits(conversation, learning), model.threshold, overheadTokens),
    hasFloor: true,
    fileAwareFollows,
    ...(configs && { configs }),
  };
}

function getWindowLimits({ model }: LiveConversation, learning: TokenLearning): WindowLimits {
  return {
    contextWindow: model.contextWindow,
    tokenFactor: learning.getFactor(model),
    maxOutputTokens: getReservedTokens(model),
  };
}
