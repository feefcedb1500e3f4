import * as vscode from 'vscode';

/**
 * Milliseconds in which a new list stays where the focus goes elsewhere, and takes it back. A webview that the command palette gives the
 * focus back to takes it a moment later, from a list that the command has opened meanwhile (microsoft/vscode#93950, #75209): the keys of
 * who picks a row would press what has the focus in the webview.
 */
const UNSETTLED_MS = 1_000;
const BETWEEN_FOCUS_MS = 200;

/** Puts the cursor into the list that shows; where it is there, or no list shows, nothing changes. */
function focusList(): void {
  // A window that lacks the command of VS Code's own leaves the focus where it is.
  void Promise.resolve(vscode.commands.executeCommand('workbench.action.focusQuickOpen')).catch(() => undefined);
}

/**
 * Shows a list until an item is taken or the list is left, and puts it away.
 * @param filling aborted then: what still fills the list.
 * @param meant the row that was meant by the one that VS Code names, undefined if that can't be told: then nothing is taken, and the list
 *   stays. By default the named one.
 * @returns undefined if it was left
 */
export async function pickedItem<Item extends vscode.QuickPickItem>(
  picker: vscode.QuickPick<Item>,
  filling: AbortController,
  meant = (named: Item): Item | undefined => named,
): Promise<Item | undefined> {
  const { ignoreFocusOut } = picker;
  picker.ignoreFocusOut = true;
  const holding = setInterval(focusList, BETWEEN_FOCUS_MS);
  const settled = setTimeout(() => {
    clearInterval(holding);
    focusList();
    picker.ignoreFocusOut = ignoreFocusOut;
  }, UNSETTLED_MS);
  try {
    return await new Promise<Item | undefined>((resolve) => {
      let taken: Item | undefined;
      picker.onDidChangeSelection(([named]) => {
        taken = named && meant(named);
      });
      picker.onDidAccept(() => {
        if (taken) resolve(taken);
      });
      picker.onDidHide(() => {
        resolve(undefined);
      });
      picker.show();
    });
  } finally {
    clearInterval(holding);
    clearTimeout(settled);
    filling.abort(new vscode.CancellationError());
    picker.dispose();
  }
}

/**
 * Rows that move while their list shows. VS Code knows a row that is taken by its number, and looks the number up in the rows that the
 * extension has set last (extHostQuickOpen.ts, `_handlesToItems`): of rows that the window has not drawn yet, that names another one.
 */
export class MovingRows<Item extends vscode.QuickPickItem> {
  private latest: readonly Item[];
  private drawn: readonly Item[];
  private next: readonly Item[] | undefined;
  private drawing: Promise<void> | undefined;

  /**
   * @param first the rows with which the list opens
   * @param keyOf what a row stands for: of rows that have a key, the active one stays active where it moves
   */
  constructor(
    private readonly picker: vscode.QuickPick<Item>,
    first: readonly Item[],
    private readonly keyOf: (row: Item) => string | undefined,
  ) {
    this.latest = this.put(first);
    this.drawn = this.latest;
  }

  /**
   * Puts rows in place of those that show, once the window has those that were put there before: of two changes at a time nothing would
   * tell which of them it has. @returns when the window has these, or newer ones
   */
  show(items: readonly Item[]): Promise<void> {
    this.next = items;
    return (this.drawing ??= this.draw());
  }

  private async draw(): Promise<void> {
    for (; this.next; this.drawn = this.latest) {
      const active = this.picker.activeItems.map(this.keyOf)[0];
      this.latest = this.put(this.next);
      this.next = undefined;
      const again = active === undefined ? undefined : this.latest.find((item) => this.keyOf(item) === active);
      if (again) this.picker.activeItems = [again];
      // VS Code sends them in a timer of its own; the window answers what is sent after them when it has them.
      await new Promise((resolve) => setTimeout(resolve, 0));
      await vscode.commands.executeCommand('setContext', 'contextCondenser.rows', this.latest.length);
    }
    this.drawing = undefined;
  }

  /** @returns the rows as the picker has them */
  private put(rows: readonly Item[]): readonly Item[] {
    this.picker.items = rows;
    return this.picker.items;
  }

  /**
   * The row that was meant by the one that VS Code names. While newer rows are on their way, it is known only if the same row stands at
   * its place in both: the window may have drawn them without the extension knowing yet.
   */
  readonly meant = (named: Item): Item | undefined => {
    const shown = this.drawn[this.latest.indexOf(named)];
    return shown === undefined || this.keyOf(shown) === this.keyOf(named) ? named : undefined;
  };
}
