/** Tells how full a conversation's window is after an undo or a redo. */
import * as vscode from 'vscode';
import { LoadedLedgers } from '../../views/conversations/ledgers';
import { findShownCondensation } from '../../views/conversations/nodes';
import { formatRowFill, formatRowFillChange } from '../../views/conversations/rowWords';
import type { Services } from '../../window/services';
import { readSetting } from '../../window/settings/settings';
import { getConversationIndex } from '../conversationIndex';
import { listLedgersSince } from './background';

/**
 * Returns how full the window is, such as `61% full`; undefined if unknown, or if the agent may
 * have continued with the condensed conversation.
 */
export async function findFillOfConversation(services: Services, id: string): Promise<string | undefined> {
  const conversation = getConversationIndex(services).conversations.find(({ details }) => details?.id === id);
  if (!conversation) return undefined;
  const ledgers = new LoadedLedgers();
  ledgers.applyLedgersResult(await listLedgersSince(services, ledgers.since));
  if (ledgers.givenBackAs(conversation) !== undefined) return undefined;
  const lastCondensation = findShownCondensation(ledgers.findLedger(conversation));
  const assumedWindow = readSetting('conversations.contextWindow');
  return lastCondensation
    ? formatRowFillChange(conversation, lastCondensation, assumedWindow)
    : formatRowFill(conversation, assumedWindow);
}

/** @param fill the result of {@link findFillOfConversation} */
export const formatUndoneMessage = (fill: string | undefined): string =>
  fill === undefined
    ? vscode.l10n.t('Undone. The conversation is as it was before.')
    : vscode.l10n.t('Undone. The conversation is as it was before: {0}.', fill);

/** @param fill the result of {@link findFillOfConversation} */
export const formatRedoneMessage = (fill: string | undefined): string =>
  fill === undefined
    ? vscode.l10n.t('Brought back. The conversation is condensed again.')
    : vscode.l10n.t('Brought back. The conversation is condensed again: {0}.', fill);
