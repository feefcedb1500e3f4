import type { CondensationOutcome } from '../core/condense';
import { decisionOf } from './decision';
import type { CondensationReason } from './events';
import type { LiveConversation } from './liveConversation';
import type { LiveParts } from './liveParts';

/**
 * Keeps what was condensed and shows it from now on; what came to nothing is told.
 * @returns what really came of it: where it could not be kept, nothing was taken out.
 * @throws the signal's reason where it was aborted.
 */
export async function applyOutcome(
  conversation: LiveConversation,
  outcome: CondensationOutcome,
  reason: CondensationReason,
  parts: LiveParts,
  signal?: AbortSignal,
): Promise<CondensationOutcome> {
  const { id, pinned } = conversation;
  if (outcome.kind !== 'condensed') {
    if (outcome.kind === 'cancelled') signal?.throwIfAborted();
    parts.emit({ kind: 'not-condensed', conversation: id, outcome, reason });
    return outcome;
  }
  signal?.throwIfAborted();
  const before = { shown: conversation.shown, tokens: conversation.countedTokens };
  const edits = outcome.edits.filter((edit) => edit.kind === 'summary' || !pinned.has(edit.place.message));
  if (edits.length === 0) {
    const detail = 'Nothing but pinned messages would have changed.';
    return { ...outcome, kind: 'unchanged', reason: 'nothing-to-gain', detail };
  }
  const condensation = await conversation.record({ ...outcome, edits }, reason === 'window' || reason === 'too-long');
  if (condensation === undefined) {
    const error = new Error('The originals could not be kept, so that nothing was taken out.');
    return { ...outcome, kind: 'failed', error };
  }
  const decision = decisionOf(conversation, outcome, reason, before, parts);
  conversation.lastDecision = decision;
  parts.emit({ kind: 'condensed', conversation: id, condensation, outcome, decision });
  return outcome;
}
