import * as vscode from 'vscode';
import type { FoldedTexts } from '../core/condense/report/foldedTexts';
import { COMPARISON_SCHEME } from './schemes';

/** How many condensations' texts are kept for comparing; they can be large. */
const KEPT = 3;

interface Comparison extends FoldedTexts {
  /** Title of the conversation. */
  readonly title: string;
  /** Names, for people, of what condensed it; absent or empty where that is not known. */
  readonly by?: string;
  /** Nothing was applied. */
  readonly isPreview?: boolean;
}

/** Shows what a condensation did, in VS Code's own diff editor over documents that can't be edited. */
export class Comparisons implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly kept = new Map<string, Comparison | string>();
  private readonly registration = vscode.workspace.registerTextDocumentContentProvider(COMPARISON_SCHEME, this);
  private next = 1;

  /** Keeps the texts of a condensation; the oldest go. @returns its id. */
  add(comparison: Comparison): string {
    return this.keep(comparison);
  }

  private keep(one: Comparison | string): string {
    const id = String(this.next++);
    this.kept.set(id, one);
    for (const old of [...this.kept.keys()].slice(0, -KEPT)) this.kept.delete(old);
    return id;
  }

  /** Whether its texts are still kept. */
  has(id: string): boolean {
    return this.kept.has(id);
  }

  /** Opens the diff editor at the first change; what is the same on both sides is folded. */
  async show(id: string): Promise<void> {
    const comparison = this.kept.get(id);
    const {
      title = '',
      by = '',
      isPreview = false,
      firstChange: line = 0,
    } = typeof comparison === 'object' ? comparison : {};
    const whole = isPreview
      ? vscode.l10n.t('{0} (preview)', title)
      : vscode.l10n.t('{0}: before ↔ after condensing', title);
    // VS Code puts the names of the documents behind the title where there is room, such as in the window's title.
    const before = uri(id, 'before', vscode.l10n.t('Before'));
    const after = uri(id, 'after', by === '' ? vscode.l10n.t('After') : vscode.l10n.t('After: {0}', by));
    const options: vscode.TextDocumentShowOptions = { preview: false, selection: new vscode.Range(line, 0, line, 0) };
    await vscode.commands.executeCommand('vscode.diff', before, after, whole, options);
  }

  /** Opens one text under a conversation's title. */
  async open(title: string, text: string): Promise<void> {
    // A title may end like a file's name, and the text is of no language.
    const document = await vscode.workspace.openTextDocument(uri(this.keep(text), 'whole', `${title}.txt`));
    await vscode.window.showTextDocument(document, { preview: true });
  }

  provideTextDocumentContent({ path }: vscode.Uri): string {
    const [, id = '', side = ''] = path.split('/');
    const comparison = this.kept.get(id);
    if (comparison === undefined)
      return vscode.l10n.t('This comparison is no longer available. Condense the conversation again to see it.');
    if (typeof comparison === 'string') return comparison;
    return side === 'before' ? comparison.before : comparison.after;
  }

  dispose(): void {
    this.registration.dispose();
    this.kept.clear();
  }
}

/** @param name of the document, as VS Code shows it */
const uri = (id: string, side: 'before' | 'after' | 'whole', name: string): vscode.Uri =>
  vscode.Uri.from({ scheme: COMPARISON_SCHEME, path: `/${id}/${side}/${name.replaceAll('/', '∕')}` });
