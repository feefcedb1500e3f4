import type { MessageCounter } from '../tokens/messageCounter';
import { applyEdits } from './edits/applyEdits';
import { condenseWithFallback, type FallbackPolicy, type WindowLimits } from './fallback';
import type { CondensationOutcome, CondensationRequest } from './condensation';
import type { CondensationManager } from './manager';
import { findReasonToCondense, type ReasonToCondense } from './trigger/due';
import { computeMaxPromptTokens, computeTargetTokens, type CondensationThreshold } from './trigger/thresholds';

/** `targetTokens` replaces the target that `threshold` implies. */
export interface AutomaticRequest extends Omit<CondensationRequest, 'trigger' | 'windowTokens'> {
  readonly window: WindowLimits;
  readonly threshold: CondensationThreshold;
}

export type AutomaticOutcome =
  | {
      readonly kind: 'not-due';
      /** Size of the whole request, in the model's own tokens. */
      readonly tokens: number;
      readonly percent: number;
    }
  | { readonly kind: 'ran'; readonly reason: ReasonToCondense; readonly outcome: CondensationOutcome };

/**
 * @returns o200k tokens
 * @param overheadTokens o200k tokens sent besides the messages
 * @param dueTokens the model's tokens at which condensing is due, if below the threshold
 */
export const computeMessagesTarget = (
  { contextWindow, tokenFactor = 1 }: WindowLimits,
  threshold: CondensationThreshold,
  overheadTokens = 0,
  dueTokens?: number,
): number =>
  Math.max(1, Math.floor(computeTargetTokens(threshold, contextWindow, dueTokens) / tokenFactor) - overheadTokens);

/** @throws UnknownProviderError */
export async function condenseIfNeeded(
  manager: CondensationManager,
  counter: MessageCounter,
  request: AutomaticRequest,
  policy: Omit<FallbackPolicy, 'window'>,
): Promise<AutomaticOutcome> {
  const { window, threshold, ...rest } = request;
  const { contextWindow, tokenFactor = 1, maxOutputTokens } = window;
  const { overheadTokens = 0 } = request;
  const view = applyEdits(request.messages, request.edits ?? []).messages;
  const tokens = Math.ceil((counter.countMessages(view) + overheadTokens) * tokenFactor);
  // `maxOutputTokens` is the room that the caller reserves for the reply.
  const isFitting = tokens <= computeMaxPromptTokens(contextWindow, maxOutputTokens);
  const reason = findReasonToCondense({ contextWindow, threshold, tokens, isFitting });
  if (!reason) return { kind: 'not-due', tokens, percent: contextWindow > 0 ? (100 * tokens) / contextWindow : 0 };
  const outcome = await condenseWithFallback(
    manager,
    {
      ...rest,
      trigger: 'automatic',
      targetTokens: request.targetTokens ?? computeMessagesTarget(window, threshold, overheadTokens),
      windowTokens: Math.floor(contextWindow / tokenFactor),
    },
    { ...policy, window },
  );
  return { kind: 'ran', reason, outcome };
}
