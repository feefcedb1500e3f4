/**
 * `checkConversation` has the APIs' rules, and `checkView` the rules for a view of a conversation.
 * Every view is checked before use. Sources: Anthropic API reference ("Messages", "Tool use",
 * "Extended thinking", "Prompt caching") and 400 responses that users reported.
 */
import { getBlocks, isAnyThinking } from '../blocks';
import type { ApiMessage } from '../types';
import { checkConversation } from './conversationRules';
import { checkView } from './viewRules';
import type { Violation } from './violation';

export { checkConversation } from './conversationRules';
export { getProgramId } from './toolPairs';
export { checkView, SUMMARY_ORIGIN } from './viewRules';
export type { Violation } from './violation';

/** Returns illegal changes, and violations that the original does not have. */
export function findNewViolations(
  original: readonly ApiMessage[],
  view: readonly ApiMessage[],
  options: { readonly origins?: readonly number[] } = {},
): Violation[] {
  const origins = options.origins ?? original.map((_, index) => index);
  const originalViolationCounts = new Map<string, number>();
  for (const violation of checkConversation(original)) {
    const key = makeViolationKey(violation, violation.message, original);
    originalViolationCounts.set(key, (originalViolationCounts.get(key) ?? 0) + 1);
  }
  // A view may cut or move a lone surrogate of the original; our cuts never create one.
  const hadLoneSurrogates = [...originalViolationCounts.keys()].some((key) => key.startsWith('text-well-formed '));
  const newViolations = checkConversation(view).filter((violation) => {
    if (violation.rule === 'text-well-formed' && hadLoneSurrogates) return false;
    const key = makeViolationKey(violation, origins[violation.message] ?? violation.message, view);
    const remainingCount = originalViolationCounts.get(key) ?? 0;
    if (remainingCount > 0) originalViolationCounts.set(key, remainingCount - 1);
    return remainingCount === 0;
  });
  return [...newViolations, ...checkView(original, view, origins)];
}

/** A view may leave out thinking blocks, so positions are counted without them. */
function makeViolationKey(
  { rule, message, block }: Violation,
  origin: number,
  messages: readonly ApiMessage[],
): string {
  const containingMessage = messages[message];
  const place = block === undefined || !containingMessage ? '' : listBlockPlaces(containingMessage)[block];
  return `${rule} ${origin} ${place ?? ''}`;
}

const placesByMessage = new WeakMap<ApiMessage, readonly number[]>();

function listBlockPlaces(message: ApiMessage): readonly number[] {
  const places = placesByMessage.get(message);
  if (places) return places;
  let nextPosition = 0;
  const positions = getBlocks(message).map((block) => (isAnyThinking(block) ? nextPosition : nextPosition++));
  placesByMessage.set(message, positions);
  return positions;
}
