import * as vscode from 'vscode';
import { inBackground, storeOf } from './background';
import type { Services } from './services';

/** Takes the last condensation of a conversation back. Without an id: of the one that this window condensed last. */
export async function undoCondensation(services: Services, conversation = services.last?.conversation): Promise<void> {
  if (conversation === undefined) {
    void vscode.window.showInformationMessage(vscode.l10n.t('Nothing was condensed in this window yet.'));
    return;
  }
  try {
    const task = { kind: 'undo', conversation, store: storeOf(services) } as const;
    const { undone } = await inBackground(services, task, new AbortController().signal);
    const message = undone
      ? vscode.l10n.t('Undone. {0} edits were taken back; the conversation is as it was.', undone.edits)
      : vscode.l10n.t('There is nothing left to undo.');
    services.log.info(message);
    void vscode.window.showInformationMessage(message);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    services.log.error(message);
    void vscode.window.showErrorMessage(vscode.l10n.t('Nothing was undone. {0}', message));
  }
}
