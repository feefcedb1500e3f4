/** Colors conversations whose context window is nearly full, as VS Code colors files with problems. */
import * as vscode from 'vscode';

const FILL_SCHEME = 'context-condenser-fill';

/** Percentages of the context window from which a row is colored as a warning and as an error. */
const NEARLY_FULL_PERCENT = 75;
const FULL_PERCENT = 95;

/**
 * Creates the URI by which VS Code asks for a row's decoration.
 * @param percent of the context window
 */
export const createFillUri = (percent: number): vscode.Uri =>
  vscode.Uri.from({ scheme: FILL_SCHEME, path: `/${Math.round(percent)}` });

export class FillDecorations implements vscode.FileDecorationProvider {
  provideFileDecoration({ scheme, path }: vscode.Uri): vscode.FileDecoration | undefined {
    const percent = Number(path.slice(1));
    if (scheme !== FILL_SCHEME || !(percent >= NEARLY_FULL_PERCENT)) return undefined;
    return {
      tooltip: vscode.l10n.t('{0}% of the context window', percent),
      color: new vscode.ThemeColor(percent >= FULL_PERCENT ? 'list.errorForeground' : 'list.warningForeground'),
    };
  }
}
