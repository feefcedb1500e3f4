/** Automatic condensation: decides whether a conversation is due, and how far to condense it. */
import type { MessageCounter } from '../tokens/messageCounter';
import { applyEdits } from './edits/applyEdits';
import { condenseWithFallback, type FallbackPolicy, type WindowLimits } from './fallback';
import type { CondensationOutcome, CondensationRequest } from './condensation';
import type { CondensationManager } from './manager';
import { shouldCondense, targetTokens, type Threshold, type TriggerDecision } from './trigger/thresholds';

/** `targetTokens` overrides the threshold's target. */
export interface AutomaticRequest extends Omit<CondensationRequest, 'trigger' | 'windowTokens'> {
  /** The model that receives the conversation. */
  readonly window: WindowLimits;
  /** When to condense and how far. */
  readonly threshold: Threshold;
}

export type AutomaticOutcome =
  | { readonly kind: 'not-due'; readonly decision: TriggerDecision }
  | { readonly kind: 'ran'; readonly decision: TriggerDecision; readonly outcome: CondensationOutcome };

/**
 * o200k tokens of the messages at which an automatic condensation may stop.
 * @param overheadTokens o200k tokens sent besides the messages
 * @param dueTokens the model's tokens of the whole request, if it is due below the threshold
 */
export const getMessagesTarget = (
  { contextWindow, tokenFactor = 1 }: WindowLimits,
  threshold: Threshold,
  overheadTokens = 0,
  dueTokens?: number,
): number => Math.max(1, Math.floor(targetTokens(threshold, contextWindow, dueTokens) / tokenFactor) - overheadTokens);

/**
 * Condenses at the threshold or if the window would be exceeded, counting system prompt, tools and
 * the last message.
 * @throws UnknownProviderError
 */
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
  const last = view.at(-1);
  const lastTokens = last ? counter.message(last) : 0;
  const total = counter.messages(view) - lastTokens + overheadTokens;
  const decision = shouldCondense({
    totalTokens: Math.ceil(total * tokenFactor),
    lastMessageTokens: Math.ceil(lastTokens * tokenFactor),
    contextWindow,
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    threshold,
  });
  if (!decision.due) return { kind: 'not-due', decision };
  const outcome = await condenseWithFallback(
    manager,
    {
      ...rest,
      trigger: 'automatic',
      targetTokens: request.targetTokens ?? getMessagesTarget(window, threshold, overheadTokens),
      windowTokens: Math.floor(contextWindow / tokenFactor),
    },
    { ...policy, window },
  );
  return { kind: 'ran', decision, outcome };
}
