import type { CondensationRequest, FallbackPolicy } from '../core/condense';
import { computeMessagesTarget } from '../core/condense/automatic';
import {
  computePercentOfWindow,
  computeThresholdTokens,
  computeWorthwhileTokens,
} from '../core/condense/trigger/thresholds';
import type { WindowLimits } from '../core/condense/fallback';
import type { LiveConversation } from './liveConversation';
import { getReservedTokens, type TokenLearning } from './tokenLearning';
import { readOwnTools } from './ownTools';
import type { LiveSettings, WhenNotEnough } from './types';
import type { CondensationReason } from './events';

/**
 * Percent of the window to free if a request doesn't fit. It frees more than necessary, because
 * each condensation breaks the cache.
 */
const ROOM_WINDOW_PERCENT = 20;

/** All sizes in the result are in o200k tokens. */
export function createCondensationRequest(
  conversation: LiveConversation,
  settings: LiveSettings,
  learning: TokenLearning,
  signal: AbortSignal | undefined,
): CondensationRequest {
  const { id, messages, view, model, system, overheadTokens, pinned } = conversation;
  const { provider, config, maxCost, coherenceFloor } = settings;
  const windowLimits = getLearnedWindowLimits(conversation, learning);
  return {
    conversation: id,
    messages,
    edits: view.edits,
    provider,
    config,
    trigger: 'automatic',
    tools: readOwnTools(settings),
    targetTokens: computeMessagesTarget(windowLimits, model.threshold, overheadTokens),
    windowTokens: Math.floor(model.contextWindow / (windowLimits.tokenFactor ?? 1)),
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
 * At the threshold, allows only edits that are worth a broken cache. If content would otherwise be
 * lost, allows all lossless edits.
 */
export function createCondensationTerms(
  conversation: LiveConversation,
  reason: CondensationReason,
  learning: TokenLearning,
): Partial<Pick<CondensationRequest, 'trigger' | 'minimumGain' | 'targetTokens'>> {
  const { model, countedTokens, overheadTokens } = conversation;
  if (reason === 'window') return { trigger: 'manual' };
  const windowLimits = getLearnedWindowLimits(conversation, learning);
  if (reason === 'cold-cache') {
    const dueTokens = countedTokens * learning.getTokenFactor(model);
    return { targetTokens: computeMessagesTarget(windowLimits, model.threshold, overheadTokens, dueTokens) };
  }
  if (reason !== 'threshold') return {};
  const worthwhileTokens = computeWorthwhileTokens(model.threshold, model.contextWindow);
  // If instructions and tools alone approach the threshold, every request exceeds it. The minimum
  // gain is then a share of the whole request.
  const worthwhileShare = worthwhileTokens / Math.max(1, computeThresholdTokens(model.threshold, model.contextWindow));
  const tokens = Math.floor(
    Math.max(worthwhileTokens / learning.getTokenFactor(model), countedTokens * worthwhileShare),
  );
  const percent = Math.ceil((100 * tokens) / Math.max(1, countedTokens - overheadTokens));
  return { minimumGain: { percent, tokens } };
}

/** Only the Lossless provider has a follow-up; others run alone. */
export const getFileAwareFollowUp = (
  { canRecall }: Pick<LiveConversation, 'canRecall'>,
  { provider, whenNotEnough }: LiveSettings,
): WhenNotEnough =>
  provider === 'lossless' ? (whenNotEnough ?? (canRecall === true ? 'fileAware' : 'nothing')) : 'nothing';

export function createFallbackPolicy(
  conversation: LiveConversation,
  { mayUseNative, configs }: LiveSettings,
  learning: TokenLearning,
  fileAwareFollows = false,
): FallbackPolicy {
  const { model, overheadTokens } = conversation;
  return {
    mayUseNative,
    limitTokens: learning.computeFittingTokens(model) - overheadTokens,
    roomTokens: Math.floor(
      computePercentOfWindow(ROOM_WINDOW_PERCENT, model.contextWindow) / learning.getTokenFactor(model),
    ),
    fittingTargetTokens: computeMessagesTarget(
      getLearnedWindowLimits(conversation, learning),
      model.threshold,
      overheadTokens,
    ),
    hasFloor: true,
    fileAwareFollows,
    ...(configs && { configs }),
  };
}

function getLearnedWindowLimits({ model }: LiveConversation, learning: TokenLearning): WindowLimits {
  return {
    contextWindow: model.contextWindow,
    tokenFactor: learning.getTokenFactor(model),
    maxOutputTokens: getReservedTokens(model),
  };
}
