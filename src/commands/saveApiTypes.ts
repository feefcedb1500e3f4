import * as vscode from 'vscode';
import { getErrorMessage } from '../core/errors';
import { showErrorMessage, showInformationMessage } from '../window/notifications';
import type { Services } from '../window/services';

export async function saveApiTypes({ context }: Services): Promise<void> {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  const file = await vscode.window.showSaveDialog({
    title: vscode.l10n.t('Save the types of Context Condenser’s API'),
    ...(folder && { defaultUri: vscode.Uri.joinPath(folder, 'condenserApi.d.ts') }),
    filters: { TypeScript: ['ts'] },
  });
  if (!file) return;
  try {
    const typesFile = vscode.Uri.joinPath(vscode.Uri.file(context.extensionPath), 'dist', 'api.d.ts');
    await vscode.workspace.fs.writeFile(file, await vscode.workspace.fs.readFile(typesFile));
    void showInformationMessage(vscode.l10n.t('The types were saved. They need no package but VS Code’s own types.'));
  } catch (error) {
    void showErrorMessage(vscode.l10n.t('The types were not saved. {0}', getErrorMessage(error)));
  }
}
