import * as vscode from 'vscode';
import { MESSAGE_HEADING } from '../core/messages/heading';

export class ConversationFolding implements vscode.FoldingRangeProvider {
  provideFoldingRanges(document: vscode.TextDocument): vscode.FoldingRange[] {
    const headings: number[] = [];
    for (let line = 0; line < document.lineCount; line++) {
      if (MESSAGE_HEADING.test(document.lineAt(line).text)) headings.push(line);
    }
    return headings.flatMap((firstLine, index) => {
      let lastLine = (headings[index + 1] ?? document.lineCount) - 1;
      // The blank line between messages stays visible.
      while (lastLine > firstLine && document.lineAt(lastLine).isEmptyOrWhitespace) lastLine--;
      return lastLine > firstLine ? [new vscode.FoldingRange(firstLine, lastLine)] : [];
    });
  }
}
