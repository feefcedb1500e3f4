import * as vscode from 'vscode';
import { findMarkers, type ReferenceId } from '../core/messages/markers';
import { getErrorMessage } from '../core/errors';
import { ORIGINAL_SCHEME } from './schemes';
import { runInBackground, getLiveLedgerFolder, getLedgerFolder } from './background';
import { makeMarkdown, toMarkdownString, makeTextWithCommand } from './markdownText';
import type { Services } from './services';
import { askInput, pickOneItem, showInformationMessage } from './notifications';

const MAX_SHOWN_LINES = 12;
const MAX_SHOWN_CHARS = 1_200;
const MAX_CACHED_ORIGINALS = 20;

export class OriginalDocuments
  implements vscode.TextDocumentContentProvider, vscode.DocumentLinkProvider, vscode.HoverProvider
{
  private readonly kept = new Map<string, Promise<string | undefined>>();

  constructor(private readonly services: Services) {}

  provideDocumentLinks(document: vscode.TextDocument): vscode.DocumentLink[] {
    return findMarkers(document.getText()).map(({ start, end, reference }) => {
      const range = new vscode.Range(document.positionAt(start), document.positionAt(end));
      const link = new vscode.DocumentLink(range, makeOriginalUri(reference));
      link.tooltip = vscode.l10n.t('Open Original');
      return link;
    });
  }

  async provideHover(document: vscode.TextDocument, position: vscode.Position): Promise<vscode.Hover | undefined> {
    const marker = findMarkerAt(document, position);
    if (!marker) return undefined;
    const text = await this.findOriginal(marker.reference);
    if (text === undefined)
      return new vscode.Hover(toMarkdownString(makeMarkdown`${getMissingOriginalText()}`), marker.range);
    const lineCount = text.split('\n').length;
    const size =
      lineCount === 1 ? vscode.l10n.t('1 line') : vscode.l10n.t('{0} lines', lineCount.toLocaleString('en-US'));
    const openCommand = {
      command: 'contextCondenser.openOriginal',
      title: vscode.l10n.t('Open Original'),
      arguments: [marker.reference],
    };
    return new vscode.Hover(makeTextWithCommand(getFirstLinesForHover(text), openCommand, size), marker.range);
  }

  async provideTextDocumentContent({ path }: vscode.Uri): Promise<string> {
    const [, reference = ''] = /^\/([0-9a-f]+)\./.exec(path) ?? [];
    try {
      return (await this.findOriginal(reference)) ?? getMissingOriginalText();
    } catch (error) {
      return getErrorMessage(error);
    }
  }

  /**
   * Opens the original of the reference. Without one, opens that of the marker at the cursor, or
   * asks the user.
   */
  async openOriginal(reference?: string): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    const chosenReference =
      reference ??
      (editor && findMarkerAt(editor.document, editor.selection.active)?.reference) ??
      (await askForReference());
    if (chosenReference === undefined) return;
    const document = await vscode.workspace.openTextDocument(makeOriginalUri(chosenReference));
    await vscode.window.showTextDocument(document, { preview: true });
  }

  /** @param store folder of the conversation's ledger */
  async chooseOriginal(conversation: string | undefined, store: string): Promise<void> {
    const listTask = { kind: 'references', conversation: conversation ?? '', store } as const;
    const listing =
      conversation === undefined ? [] : await runInBackground(this.services, listTask, new AbortController().signal);
    if (listing.length === 0) {
      void showInformationMessage(vscode.l10n.t('Nothing in this conversation is condensed.'));
      return;
    }
    const items = listing.map(({ reference, message, length, words }) => ({
      reference,
      label: vscode.l10n.t('Message {0}', message + 1),
      description: vscode.l10n.t('{0} characters · ref {1}', length.toLocaleString('en-US'), reference),
      detail: words,
    }));
    const pickedItem = await pickOneItem(items, {
      title: vscode.l10n.t('Open Original'),
      matchOnDescription: true,
      matchOnDetail: true,
    });
    if (pickedItem) await this.openOriginal(pickedItem.reference);
  }

  private findOriginal(reference: string): Promise<string | undefined> {
    const previewedText = this.services.comparisons.findOriginal(reference);
    if (previewedText !== undefined) return Promise.resolve(previewedText);
    const cachedText = this.kept.get(reference);
    if (cachedText) return cachedText;
    const { services } = this;
    const task = {
      kind: 'original',
      reference,
      stores: [getLedgerFolder(services), getLiveLedgerFolder(services)],
    } as const;
    const originalPromise = runInBackground(services, task, new AbortController().signal).then(({ text }) => text);
    this.kept.set(reference, originalPromise);
    for (const oldReference of [...this.kept.keys()].slice(0, -MAX_CACHED_ORIGINALS)) this.kept.delete(oldReference);
    // Don't keep an unknown reference: it may be known after the next condensation.
    originalPromise.then(
      (text) => text === undefined && this.kept.delete(reference),
      () => this.kept.delete(reference),
    );
    return originalPromise;
  }
}

const originalsByServices = new WeakMap<Services, OriginalDocuments>();

export function getOriginalDocuments(services: Services): OriginalDocuments {
  const existing = originalsByServices.get(services) ?? new OriginalDocuments(services);
  originalsByServices.set(services, existing);
  return existing;
}

const makeOriginalUri = (reference: string): vscode.Uri =>
  vscode.Uri.from({ scheme: ORIGINAL_SCHEME, path: `/${reference}.txt` });

const getMissingOriginalText = (): string =>
  vscode.l10n.t(
    'The original of this reference is no longer available: its preview was closed, or its condensation was cleared.',
  );

/** Finds the marker at a position, within its line, because markers contain no line breaks. */
function findMarkerAt(
  document: vscode.TextDocument,
  { line, character }: vscode.Position,
): { readonly reference: ReferenceId; readonly range: vscode.Range } | undefined {
  const marker = findMarkers(document.lineAt(line).text).find(
    ({ start, end }) => character >= start && character <= end,
  );
  return marker && { reference: marker.reference, range: new vscode.Range(line, marker.start, line, marker.end) };
}

function getFirstLinesForHover(text: string): string {
  const lines = text.slice(0, MAX_SHOWN_CHARS).split('\n').slice(0, MAX_SHOWN_LINES).join('\n');
  return lines.length < text.length ? `${lines.toWellFormed()}\n…` : lines;
}

async function askForReference(): Promise<string | undefined> {
  const input = await askInput({
    title: vscode.l10n.t('Open Original'),
    prompt: vscode.l10n.t('A marker, or the reference at its end'),
    validateInput: (value) =>
      parseReference(value) === undefined
        ? vscode.l10n.t('A reference consists of 6 to 64 hexadecimal digits (0 to 9, a to f).')
        : undefined,
  });
  return input === undefined ? undefined : parseReference(input);
}

const parseReference = (text: string): string | undefined =>
  findMarkers(text)[0]?.reference ?? /^\s*([0-9a-f]{6,64})\s*$/.exec(text)?.[1];
