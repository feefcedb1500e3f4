/** How full a conversation's window is, at the end of its row: a number, in a color once it is nearly full. */
import * as vscode from 'vscode';

const SCHEME = 'context-condenser-fill';

/** Percent from which a row has the color of a warning, and of an error. */
const NEARLY_FULL = 75;
const FULL = 95;

/**
 * What VS Code knows a row's decoration by.
 * @param percent of the context window
 * @param words the same as people read it
 */
export const fillUri = (percent: number, words: string): vscode.Uri =>
  vscode.Uri.from({ scheme: SCHEME, path: `/${Math.round(percent)}/${words}` });

/** Decorates the rows; of each resource elsewhere it says nothing. */
export class FillDecorations implements vscode.FileDecorationProvider {
  provideFileDecoration({ scheme, path }: vscode.Uri): vscode.FileDecoration | undefined {
    if (scheme !== SCHEME) return undefined;
    const [, number = '', words = ''] = path.split('/');
    const percent = Number(number);
    return {
      // VS Code takes two characters.
      badge: percent < 100 ? String(percent) : '!!',
      tooltip: vscode.l10n.t('{0} of the context window', words),
      ...(percent >= NEARLY_FULL && {
        color: new vscode.ThemeColor(percent >= FULL ? 'list.errorForeground' : 'list.warningForeground'),
      }),
    };
  }
}
