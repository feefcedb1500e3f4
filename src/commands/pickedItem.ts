import * as vscode from 'vscode';

/**
 * Milliseconds in which a new list stays where the focus goes elsewhere. A webview that the command palette gives the focus back to takes it
 * a moment later, from a list that the command has opened meanwhile (microsoft/vscode#93950, #75209).
 */
const UNSETTLED_MS = 1_000;

/**
 * Shows a list until an item is taken or the list is left, and puts it away.
 * @param filling aborted then: what still fills the list.
 * @returns undefined where it was left
 */
export async function pickedItem<Item extends vscode.QuickPickItem>(
  picker: vscode.QuickPick<Item>,
  filling: AbortController,
): Promise<Item | undefined> {
  const { ignoreFocusOut } = picker;
  picker.ignoreFocusOut = true;
  const settled = setTimeout(() => {
    picker.ignoreFocusOut = ignoreFocusOut;
  }, UNSETTLED_MS);
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
    clearTimeout(settled);
    filling.abort(new vscode.CancellationError());
    picker.dispose();
  }
}
