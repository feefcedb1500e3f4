/**
 * The firewall: what every view passes before anyone sees it. `checkConversation` knows what the APIs refuse,
 * `checkView` what a condensation must not do to the conversation it was made from, and `newViolations` is the verdict:
 * what is wrong with the view and was not already wrong with the conversation.
 *
 * Sources: Anthropic API reference ("Messages", "Tool use", "Extended thinking", "Prompt caching") and the 400s that
 * agents' users reported.
 */
import { getBlocks, isAnyThinking } from '../blocks';
import type { ApiMessage } from '../types';
import { checkConversation, type CheckOptions } from './conversationRules';
import { checkView } from './viewRules';
import type { Violation } from './violation';

export { checkConversation } from './conversationRules';
export { getProgramId } from './toolPairs';
export { checkView, SUMMARY_ORIGIN } from './viewRules';
export type { Violation } from './violation';

/** The verdict on a view: its own violations less those that the original already had, and what it changed unlawfully. */
export function newViolations(
  original: readonly ApiMessage[],
  view: readonly ApiMessage[],
  options: CheckOptions & { readonly origins?: readonly number[] } = {},
): Violation[] {
  const origins = options.origins ?? original.map((_, index) => index);
  const blamed = new Map<string, number>();
  for (const violation of checkConversation(original, options)) {
    const key = makeKey(violation, violation.message, original);
    blamed.set(key, (blamed.get(key) ?? 0) + 1);
  }
  // A text that came with half a pair may be cut or stand elsewhere in the view; our own cuts make none.
  const hadHalves = [...blamed.keys()].some((key) => key.startsWith('text-well-formed '));
  const own = checkConversation(view, options).filter((violation) => {
    if (violation.rule === 'text-well-formed' && hadHalves) return false;
    const key = makeKey(violation, origins[violation.message] ?? violation.message, view);
    const left = blamed.get(key) ?? 0;
    if (left > 0) blamed.set(key, left - 1);
    return left === 0;
  });
  return [...own, ...checkView(original, view, origins)];
}

/** Thinking may be left out of a view: blocks are named by their place among the others. */
function makeKey({ rule, message, block }: Violation, origin: number, messages: readonly ApiMessage[]): string {
  const holder = messages[message];
  const place = block === undefined || !holder ? '' : listPlaces(holder)[block];
  return `${rule} ${origin} ${place ?? ''}`;
}

const places = new WeakMap<ApiMessage, readonly number[]>();

/** For each block of a message, how many blocks other than thinking stand before it. */
function listPlaces(message: ApiMessage): readonly number[] {
  const known = places.get(message);
  if (known) return known;
  let before = 0;
  const counted = getBlocks(message).map((block) => (isAnyThinking(block) ? before : before++));
  places.set(message, counted);
  return counted;
}
