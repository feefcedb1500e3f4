import { randomUUID } from 'node:crypto';
import * as vscode from 'vscode';
import type { DiffTexts } from '../core/condense/report/foldedTexts';
import { hashText } from '../core/hash';
import { toTabName } from './fileName';
import { COMPARISON_SCHEME, CONVERSATION_FOLDER } from './schemes';

const MAX_KEPT_COMPARISONS = 3;

interface OpenComparison extends DiffTexts {
  readonly conversation: string;
  readonly title: string;
  readonly by?: string;
  readonly isPreview?: boolean;
  /** The originals of a preview's markers, by reference. No ledger contains them. */
  readonly originals?: Readonly<Record<string, string>>;
}

export class ComparisonDocuments implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly kept = new Map<string, OpenComparison | string>();
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;
  private readonly registration = vscode.workspace.registerTextDocumentContentProvider(COMPARISON_SCHEME, this);

  /**
   * Keeps a comparison, and drops the oldest ones.
   * @returns the comparison's ID
   */
  addComparison(comparison: OpenComparison): string {
    // A tab from before a reload must not show a newer comparison with the same ID.
    return this.keepComparison(
      `${makeConversationKey(comparison.conversation)}-${randomUUID().slice(0, 8)}`,
      comparison,
    );
  }

  private keepComparison(id: string, one: OpenComparison | string): string {
    this.kept.delete(id);
    this.kept.set(id, one);
    for (const oldConversation of [...this.kept.keys()].slice(0, -MAX_KEPT_COMPARISONS))
      this.kept.delete(oldConversation);
    return id;
  }

  hasComparison(id: string): boolean {
    return this.kept.has(id);
  }

  findOriginal(reference: string): string | undefined {
    for (const keptComparison of this.kept.values()) {
      const text = typeof keptComparison === 'string' ? undefined : keptComparison.originals?.[reference];
      if (text !== undefined) return text;
    }
    return undefined;
  }

  /**
   * Replaces the conversation's previous diff.
   * @param preserveFocus leaves the focus where it is, such as in an open list
   */
  async showComparison(id: string, preserveFocus = false): Promise<void> {
    const comparison = this.kept.get(id);
    if (typeof comparison !== 'object') return;
    const { title, by = '', isPreview = false, conversation, firstChange: line = 0 } = comparison;
    const name = toTabName(title);
    const diffTitle = isPreview
      ? vscode.l10n.t('{0} (preview)', name)
      : vscode.l10n.t('{0}: before ↔ after condensing', name);
    // VS Code adds the documents' names after the title if there is room.
    const uriBefore = makeComparisonUri(id, 'before', vscode.l10n.t('Before'));
    const uriAfter = makeComparisonUri(
      id,
      'after',
      by === '' ? vscode.l10n.t('After') : vscode.l10n.t('After: {0}', by),
    );
    const options: vscode.TextDocumentShowOptions = {
      preview: false,
      preserveFocus,
      // The active group closes with its last tab.
      viewColumn: vscode.window.tabGroups.activeTabGroup.viewColumn,
      selection: new vscode.Range(line, 0, line, 0),
    };
    // First, because VS Code computes a large diff for seconds, beside the outdated one.
    await this.closeComparisons(conversation, id);
    await vscode.commands.executeCommand('vscode.diff', uriBefore, uriAfter, diffTitle, options);
  }

  async openConversationText(path: string, title: string, text: string): Promise<void> {
    const uri = makeComparisonUri(
      this.keepComparison(makeConversationKey(path), text),
      'whole',
      toTabName(title),
      path,
    );
    this.changed.fire(uri);
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri), { preview: true });
  }

  async closeComparisons(conversation: string, keptId?: string): Promise<void> {
    const key = makeConversationKey(conversation);
    const tabs = vscode.window.tabGroups.all
      .flatMap((group) => group.tabs)
      .filter(({ input }) => {
        if (!(input instanceof vscode.TabInputTextDiff) || input.modified.scheme !== COMPARISON_SCHEME) return false;
        const { id } = parseComparisonUri(input.modified);
        return id !== keptId && id.startsWith(`${key}-`);
      });
    if (tabs.length > 0) await vscode.window.tabGroups.close(tabs, true);
  }

  provideTextDocumentContent(document: vscode.Uri): string {
    const { id, side } = parseComparisonUri(document);
    const comparison = this.kept.get(id);
    if (comparison === undefined)
      return getPathOfOpenedText(document) === ''
        ? vscode.l10n.t('This comparison is no longer available. Condense the conversation again to see it.')
        : vscode.l10n.t('This text is no longer available. Open the conversation again to see it.');
    if (typeof comparison === 'string') return comparison;
    return side === 'before' ? comparison.before : comparison.after;
  }

  dispose(): void {
    this.registration.dispose();
    this.changed.dispose();
    this.kept.clear();
  }
}

const makeConversationKey = (conversation: string): string => hashText(conversation).slice(0, 16);

type ComparisonSide = 'before' | 'after' | 'whole';

const makeComparisonFolder = (id: string, side: ComparisonSide): string => `/${CONVERSATION_FOLDER}/${id}/${side}`;

const makeComparisonUri = (id: string, side: ComparisonSide, name: string, query = ''): vscode.Uri =>
  vscode.Uri.from({
    scheme: COMPARISON_SCHEME,
    path: `${makeComparisonFolder(id, side)}/${name.replaceAll('/', '∕')}`,
    query,
  });

/** The folder of an opened conversation's document: `resourceDirname` in package.json. */
export const getFolderOfOpenedText = (path: string): string => makeComparisonFolder(makeConversationKey(path), 'whole');

export const getPathOfOpenedText = ({ query }: vscode.Uri): string => query;

function parseComparisonUri({ path }: vscode.Uri): { readonly id: string; readonly side: string } {
  const [, , id = '', side = ''] = path.split('/');
  return { id, side };
}
