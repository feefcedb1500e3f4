import * as vscode from 'vscode';

/**
 * Shows a list until an item is taken or the list is left, and puts it away.
 * @param filling aborted then: what still fills the list.
 * @returns undefined where it was left
 */
export async function pickedItem<Item extends vscode.QuickPickItem>(
  picker: vscode.QuickPick<Item>,
  filling: AbortController,
): Promise<Item | undefined> {
  try {
    return await new Promise<Item | undefined>((resolve) => {
      picker.onDidAccept(() => {
        resolve(picker.selectedItems[0]);
      });
      picker.onDidHide(() => {
        resolve(undefined);
      });
      picker.show();
    });
  } finally {
    filling.abort(new vscode.CancellationError());
    picker.dispose();
  }
}
