import * as vscode from 'vscode';
import { getAgentRuntime } from '../agent/runtime';
import { getErrorMessage } from '../core/errors';
import { getLedgerFolder } from '../window/background';
import { runUncancellableTask } from './conversations/background';
import { findFillOfConversation, formatUndoneMessage } from './conversations/fillAfter';
import type { Services } from '../window/services';
import { showErrorMessage, showInformationMessage } from '../window/notifications';

/** Undoes the window's last condensation, in the chat or in the file's ledger. */
export async function undoLastCondensation(services: Services): Promise<void> {
  if (services.last?.isLive) await getAgentRuntime(services).undo(services.last.conversation);
  else await undoLastStoredCondensation(services, services.last?.conversation);
}

/** @param conversation ID of the conversation; undefined if nothing is condensed */
export async function undoLastStoredCondensation(services: Services, conversation: string | undefined): Promise<void> {
  if (conversation === undefined) {
    void showInformationMessage(
      vscode.l10n.t(
        'Nothing was undone: this window has condensed nothing yet. In the Context Condenser view, each condensed conversation’s menu has “Undo the Condensation”.',
      ),
    );
    return;
  }
  try {
    const task = { kind: 'undo', conversation, store: getLedgerFolder(services) } as const;
    const { undone } = await runUncancellableTask(services, task);
    const message = undone
      ? formatUndoneMessage(await findFillOfConversation(services, conversation))
      : vscode.l10n.t('There is nothing left to undo.');
    services.log.info(message);
    void showInformationMessage(message);
  } catch (error) {
    const message = getErrorMessage(error);
    services.log.error(message);
    void showErrorMessage(vscode.l10n.t('Nothing was undone. {0}', message));
  }
}
