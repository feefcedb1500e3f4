import * as vscode from 'vscode';
import { withCancellation } from '../window/background';
import { chooseCondensingProfile } from './chooseProvider';
import { showErrorWithRetry } from './condenseNow';
import { readModelSettings } from '../window/settings/modelSettings';
import { previewNativeCompaction } from './native';
import { pickFile } from './pickConversation';
import type { Services } from '../window/services';
import { readManualSettings } from '../window/settings/manualSettings';
import { showInformationMessage, showProgress } from '../window/notifications';

/** Shows the prompt that Summary would send, without sending it. */
export async function previewPrompt(services: Services, path?: string): Promise<void> {
  const models = readModelSettings();
  const profile = models.condensing;
  if (!profile) {
    const chooseLabel = vscode.l10n.t('Choose Model');
    const answer = await showInformationMessage(
      vscode.l10n.t('There is no prompt to preview: no model for summaries is chosen.'),
      chooseLabel,
    );
    if (answer === chooseLabel && (await chooseCondensingProfile())) await previewPrompt(services, path);
    return;
  }
  const file =
    path ??
    (await pickFile(services, { title: vscode.l10n.t('Preview Condensing Prompt'), open: vscode.l10n.t('Preview') }));
  if (file === undefined) return;
  const progress = {
    location: vscode.ProgressLocation.Notification,
    title: vscode.l10n.t('Filling in the prompt'),
    cancellable: true,
  };
  try {
    const content = await showProgress(progress, (_report, token) =>
      withCancellation(token, (signal) =>
        previewNativeCompaction(services, { path: file, settings: readManualSettings(), profile, models, signal }),
      ),
    );
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ content, language: 'markdown' }));
  } catch (error) {
    if (error instanceof vscode.CancellationError) return;
    await showErrorWithRetry(services, error, () => previewPrompt(services, file));
  }
}
