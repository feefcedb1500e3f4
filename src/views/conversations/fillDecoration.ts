/** Shows how full a conversation's window is at the end of its row, colored if nearly full. */
import * as vscode from 'vscode';

const SCHEME = 'context-condenser-fill';

/** Percentages from which a row has a warning's and an error's color. */
const NEARLY_FULL = 75;
const FULL = 95;

/**
 * The URI by which VS Code decorates a row.
 * @param percent of the context window
 * @param words the same for people
 */
export const createFillUri = (percent: number, words: string): vscode.Uri =>
  vscode.Uri.from({ scheme: SCHEME, path: `/${Math.round(percent)}/${words}` });

/** Decorates our rows only. */
export class FillDecorations implements vscode.FileDecorationProvider {
  provideFileDecoration({ scheme, path }: vscode.Uri): vscode.FileDecoration | undefined {
    if (scheme !== SCHEME) return undefined;
    const [, number = '', words = ''] = path.split('/');
    const percent = Number(number);
    return {
      // VS Code shows two characters.
      badge: percent < 100 ? String(percent) : '!!',
      tooltip: vscode.l10n.t('{0} of the context window', words),
      ...(percent >= NEARLY_FULL && {
        color: new vscode.ThemeColor(percent >= FULL ? 'list.errorForeground' : 'list.warningForeground'),
      }),
    };
  }
}
