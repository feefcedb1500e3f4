/** Turns a user's actions into ledger entries, or says why there are none. */
import type { EditId } from '../core/condense/edits/edits';
import {
  getActiveCondensations,
  isNewResultsCondensation,
  createToggleEditEntry,
  type Condensation,
  type LedgerEntry,
} from '../core/condense/ledger/ledger';
import { makeMessageKey } from '../core/messages/messageKey';
import { excludeEditsOfMessage, hasRemainingEdits } from './followEdits';
import { isRestoring, type LiveConversation } from './liveConversation';

export interface LedgerCommand {
  readonly entries: readonly LedgerEntry[];
  readonly detail: string;
  /** Whether automatic condensing now waits until the conversation has grown. Absent: no change. */
  readonly automatic?: 'waits' | 'runs';
}

const UNDONE_CONDENSATION_MESSAGE =
  'Undone. The conversation is not condensed again until it has grown by about an eighth or no longer fits the window.';
const UNDONE_NEW_RESULTS_TEXT = 'Undone. What was left out of new results is back, and future results are sent whole.';
const REDONE_NEW_RESULTS_TEXT = 'Brought back. New results again leave out what the conversation already contains.';
const REDONE_CONDENSATION_MESSAGE = 'Brought back. The next request is sent condensed again.';

const createCommandWithoutEffect = (detail: string): LedgerCommand => ({ entries: [], detail });

export const listShowableCondensations = ({ ledger, messages }: LiveConversation): Condensation[] =>
  ledger.condensations.filter((one) => !isRestoring(one) && hasRemainingEdits(one, messages));

export function createUndoCommand(conversation: LiveConversation): LedgerCommand {
  const lastCondensation = findLastShownCondensation(conversation);
  if (!lastCondensation) return createCommandWithoutEffect('There is nothing left to undo.');
  const entry = { type: 'undone', condensation: lastCondensation.id } as const;
  if (isNewResultsCondensation(lastCondensation)) return { entries: [entry], detail: UNDONE_NEW_RESULTS_TEXT };
  // Without waiting, automatic condensing would repeat the condensation that was just undone.
  const { length: messages } = conversation.messages;
  return { entries: [{ ...entry, messages }], detail: UNDONE_CONDENSATION_MESSAGE, automatic: 'waits' };
}

export function createRedoCommand(conversation: LiveConversation): LedgerCommand {
  const [nextCondensation, ...laterCondensations] = listUndoneCondensations(conversation);
  if (!nextCondensation) return createCommandWithoutEffect('There is nothing to bring back.');
  return {
    entries: [{ type: 'redone', condensation: nextCondensation.id }],
    detail: isNewResultsCondensation(nextCondensation) ? REDONE_NEW_RESULTS_TEXT : REDONE_CONDENSATION_MESSAGE,
    automatic: laterCondensations.every(isNewResultsCondensation) ? 'runs' : 'waits',
  };
}

/**
 * Number of messages at the latest undo that still applies; undefined if no condensation is undone.
 */
export function findMessagesWhenUndone(conversation: LiveConversation): number | undefined {
  const undoneCondensations = listUndoneCondensations(conversation).filter((one) => !isNewResultsCondensation(one));
  if (undoneCondensations.length === 0) return undefined;
  const { messages, ledger } = conversation;
  return Math.max(...undoneCondensations.map(({ id }) => ledger.messagesWhenUndone.get(id) ?? messages.length));
}

function listUndoneCondensations(conversation: LiveConversation): Condensation[] {
  const candidates = listShowableCondensations(conversation);
  const lastCondensation = findLastShownCondensation(conversation);
  return candidates.slice(lastCondensation ? candidates.indexOf(lastCondensation) + 1 : 0);
}

function findLastShownCondensation(conversation: LiveConversation): Condensation | undefined {
  const activeIds = new Set(getActiveCondensations(conversation.ledger).map(({ id }) => id));
  return listShowableCondensations(conversation).findLast(({ id }) => activeIds.has(id));
}

export function createToggleEditCommand({ ledger }: LiveConversation, edit: EditId): LedgerCommand {
  const entry = createToggleEditEntry(ledger, edit);
  if (!entry) return createCommandWithoutEffect('The conversation has no such edit.');
  return { entries: [entry], detail: entry.type === 'excluded' ? 'Removed from the view.' : 'Back in the view.' };
}

/** A pinned message stays unchanged, so content that was removed from it returns. */
export function createPinCommand({ ledger, messages, view, pinned }: LiveConversation, index: number): LedgerCommand {
  const message = messages[index];
  if (!message) return createCommandWithoutEffect(`The conversation has no message ${index + 1}.`);
  if (pinned.has(index)) return createCommandWithoutEffect('The message is already pinned.');
  const summary = view.edits.find((edit) => edit.kind === 'summary' && index >= edit.start && index < edit.end);
  if (summary)
    return createCommandWithoutEffect(
      'A summary replaces the message. Undo that condensation first, or exclude the summary.',
    );
  const excludedEdits = excludeEditsOfMessage(index, ledger, messages);
  return {
    entries: [{ type: 'pinned', message: index, key: makeMessageKey(message) }, ...excludedEdits],
    detail: 'Pinned.',
  };
}

export function createUnpinCommand({ ledger, messages }: LiveConversation, index: number): LedgerCommand {
  const message = messages[index];
  const key = message && makeMessageKey(message);
  const matchingPins = ledger.pinned.filter((pin) => pin.key === key);
  if (matchingPins.length === 0) return createCommandWithoutEffect('The message is not pinned.');
  return { entries: matchingPins.map((pin) => ({ type: 'unpinned', ...pin })), detail: 'No longer pinned.' };
}
