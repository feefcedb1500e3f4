/** Automatic condensation: when a conversation is due, and how far it goes. */
import type { MessageCounter } from '../../tokens/messageCounter';
import { applyEdits } from '../edits/applyEdits';
import { condenseWithFallback, type FallbackPolicy, type WindowLimits } from '../fallback';
import type { CondensationOutcome, CondensationRequest } from '../condensation';
import type { CondensationManager } from '../manager';
import {
  DEFAULT_TARGET_PERCENT,
  shouldCondense,
  tokensAt,
  type EffectiveThreshold,
  type TriggerDecision,
  type WindowPoint,
} from './thresholds';

export interface AutomaticRequest extends Omit<CondensationRequest, 'trigger' | 'targetTokens' | 'windowTokens'> {
  /** The model that the conversation is sent to. */
  readonly window: WindowLimits;
  /** When: percent of the window (as the profile or the global setting says) or tokens. */
  readonly threshold: EffectiveThreshold | WindowPoint;
  /** How far; default half of the window. */
  readonly target?: WindowPoint;
}

export type AutomaticOutcome =
  | { readonly kind: 'not-due'; readonly decision: TriggerDecision }
  | { readonly kind: 'ran'; readonly decision: TriggerDecision; readonly outcome: CondensationOutcome };

/** The point of the window at which a conversation is due. */
export const thresholdPoint = (threshold: EffectiveThreshold | WindowPoint): WindowPoint =>
  'kind' in threshold ? threshold : { kind: 'percent', percent: threshold.percent };

/** O200k tokens of the messages at which a condensation may stop. */
export const targetTokensOf = (
  { contextWindow, tokenFactor = 1 }: WindowLimits,
  target: WindowPoint = { kind: 'percent', percent: DEFAULT_TARGET_PERCENT },
  overheadTokens = 0,
): number => Math.max(1, Math.floor(tokensAt(target, contextWindow) / tokenFactor) - overheadTokens);

/**
 * Condenses where the threshold is reached or the window would be exceeded (FR-TH-003); system prompt, tools and the last
 * message are counted.
 * @throws UnknownProviderError
 */
export async function condenseIfNeeded(
  manager: CondensationManager,
  counter: MessageCounter,
  request: AutomaticRequest,
  policy: Omit<FallbackPolicy, 'window'>,
): Promise<AutomaticOutcome> {
  const { window, threshold, target, ...rest } = request;
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
    threshold: thresholdPoint(threshold),
  });
  if (!decision.due) return { kind: 'not-due', decision };
  const targetTokens = targetTokensOf(window, target, overheadTokens);
  const outcome = await condenseWithFallback(
    manager,
    { ...rest, trigger: 'automatic', targetTokens, windowTokens: Math.floor(contextWindow / tokenFactor) },
    { ...policy, window },
  );
  const warning = 'warning' in threshold ? threshold.warning : undefined;
  if (warning === undefined) return { kind: 'ran', decision, outcome };
  return { kind: 'ran', decision, outcome: { ...outcome, notes: [warning, ...outcome.notes] } };
}
