/** Marks conversations whose context window is nearly full, as VS Code marks files with problems. */
import * as vscode from 'vscode';

const SCHEME = 'context-condenser-fill';

/** Percentages from which a row has a warning's and an error's color. */
const NEARLY_FULL = 75;
const FULL = 95;

/**
 * The URI by which VS Code decorates a row.
 * @param percent of the context window
 */
export const createFillUri = (percent: number): vscode.Uri =>
  vscode.Uri.from({ scheme: SCHEME, path: `/${Math.round(percent)}` });

/** Decorates our rows only. */
export class FillDecorations implements vscode.FileDecorationProvider {
  provideFileDecoration({ scheme, path }: vscode.Uri): vscode.FileDecoration | undefined {
    const percent = Number(path.slice(1));
    if (scheme !== SCHEME || !(percent >= NEARLY_FULL)) return undefined;
    return {
      // VS Code shows two characters. Below this, a number alone would read as a count of errors.
      badge: percent < 100 ? String(percent) : '!!',
      tooltip: vscode.l10n.t('{0}% of the context window', percent),
      color: new vscode.ThemeColor(percent >= FULL ? 'list.errorForeground' : 'list.warningForeground'),
    };
  }
}
