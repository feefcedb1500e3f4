import * as vscode from 'vscode';

/**
 * How long a new list stays open. When the command palette closes, a webview may take the focus
 * from the list that the command opened (microsoft/vscode#93950, #75209).
 */
const MAX_MS_UNTIL_PICKER_HAS_FOCUS = 1_000;

/** True if a webview has the focus, which may then take it back from a new list. */
function isWebviewActive(): boolean {
  const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
  return typeof input === 'object' && input !== null && 'viewType' in input;
}

/**
 * Shows a list and returns the item that the user picks.
 * @param fillController aborted when the list closes, to stop filling it
 * @param resolvePickedRow converts the item that VS Code reports to the one the user meant. Default:
 * the reported item
 * @returns undefined if the user closed the list
 */
export async function pickItem<Item extends vscode.QuickPickItem>(
  picker: vscode.QuickPick<Item>,
  fillController: AbortController,
  resolvePickedRow = (selected: Item): Item | Promise<Item> => selected,
): Promise<Item | undefined> {
  const { ignoreFocusOut } = picker;
  // A list that loses its focus to a webview closes and is shown again once, because VS Code's own
  // command would focus the rows instead of the input.
  let mayFocusReturn = isWebviewActive();
  picker.ignoreFocusOut = !mayFocusReturn;
  const focusTimer = setTimeout(() => {
    mayFocusReturn = false;
    picker.ignoreFocusOut = ignoreFocusOut;
  }, MAX_MS_UNTIL_PICKER_HAS_FOCUS);
  try {
    return await new Promise<Item | undefined>((resolve) => {
      let selectedItem: Item | Promise<Item> | undefined;
      picker.onDidChangeSelection(([selected]) => {
        selectedItem = selected && resolvePickedRow(selected);
      });
      picker.onDidAccept(() => {
        if (selectedItem) resolve(selectedItem);
      });
      // A user who types has the focus, so closing means Escape.
      picker.onDidChangeValue(() => {
        if (mayFocusReturn) picker.ignoreFocusOut = true;
        mayFocusReturn = false;
      });
      picker.onDidHide(() => {
        if (mayFocusReturn) picker.show();
        else resolve(undefined);
        mayFocusReturn = false;
      });
      picker.show();
    });
  } finally {
    clearTimeout(focusTimer);
    fillController.abort(new vscode.CancellationError());
    picker.dispose();
  }
}

/**
 * VS Code identifies a picked row by its index in the rows set last (extHostQuickOpen.ts,
 * `_handlesToItems`), which is wrong while older rows are still drawn.
 */
export class UpdatingPickerRows<Item extends vscode.QuickPickItem> {
  private latestRows: readonly Item[];
  private drawnRows: readonly Item[];
  private pendingRows: readonly Item[] | undefined;
  private drawingPromise: Promise<void> | undefined;
  private drawnPromise = Promise.resolve();

  /** @param getKey returns a row's identity: an active row stays active when it moves */
  constructor(
    private readonly picker: vscode.QuickPick<Item>,
    fixedItems: readonly Item[],
    private readonly getKey: (row: Item) => string | undefined,
  ) {
    this.latestRows = this.showRows(fixedItems);
    this.drawnRows = this.latestRows;
  }

  /**
   * With two pending changes it would be unknown which rows the window draws, so this waits for the
   * previous ones.
   * @returns when the window has these rows or newer ones
   */
  showItems(items: readonly Item[]): Promise<void> {
    this.pendingRows = items;
    return (this.drawingPromise ??= this.drawLatestRows());
  }

  private async drawLatestRows(): Promise<void> {
    for (; this.pendingRows; this.drawnRows = this.latestRows) {
      const activeKey = this.picker.activeItems.map(this.getKey)[0];
      this.latestRows = this.showRows(this.pendingRows);
      this.pendingRows = undefined;
      const sameItem =
        activeKey === undefined ? undefined : this.latestRows.find((item) => this.getKey(item) === activeKey);
      if (sameItem) this.picker.activeItems = [sameItem];
      this.drawnPromise = this.waitUntilDrawn();
      await this.drawnPromise;
      // If what the user typed meanwhile hides that row, no row is active and Enter does nothing.
      // VS Code makes the first row active when it gets the rows again.
      if (sameItem && this.picker.activeItems.length === 0) this.pendingRows ??= this.latestRows;
    }
    this.drawingPromise = undefined;
  }

  /**
   * VS Code sends rows in a timer. It answers a later message only after the window has received
   * them.
   */
  private async waitUntilDrawn(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, 0));
    await vscode.commands.executeCommand('setContext', 'contextCondenser.rows', this.latestRows.length);
  }

  /** @returns the picker's own array of these rows */
  private showRows(rows: readonly Item[]): readonly Item[] {
    this.picker.items = rows;
    return this.picker.items;
  }

  /**
   * Converts a row that VS Code reports to the one the user meant. While newer rows are pending and
   * have another row at its index, that is known only when the window has them: it reports the
   * active row when it gets rows, so if it does so after the user's choice, that was an older row.
   */
  readonly meant = (selected: Item): Item | Promise<Item> => {
    const olderItem = this.drawnRows[this.latestRows.indexOf(selected)];
    if (olderItem === undefined || this.getKey(olderItem) === this.getKey(selected)) return selected;
    let meantItem = selected;
    const subscription = this.picker.onDidChangeActive(() => {
      meantItem = olderItem;
    });
    return this.drawnPromise.then(() => {
      subscription.dispose();
      return meantItem;
    });
  };
}
