import * as vscode from 'vscode';
import { MESSAGE_HEADING } from '../core/messages/heading';

export class ConversationFolding implements vscode.FoldingRangeProvider {
  provideFoldingRanges(document: vscode.TextDocument): vscode.FoldingRange[] {
    const headings: number[] = [];
    for (let line = 0; line < document.lineCount; line++) {
      if (MESSAGE_HEADING.test(document.lineAt(line).text)) headings.push(line);
    }
    return headings.flatMap((start, at) => {
      let end = (headings[at + 1] ?? document.lineCount) - 1;
      // The blank line between messages stays visible.
      while (end > start && document.lineAt(end).isEmptyOrWhitespace) end--;
      return end > start ? [new vscode.FoldingRange(start, end)] : [];
    });
  }
}
