import { realpath } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import * as vscode from 'vscode';
import { splitLocation } from '../../conversations/location';
import { toFileName } from '../../window/fileName';
import type { Services } from '../../window/services';
import { getFileTitle } from '../conversationIndex';

interface FileContent {
  readonly text: string;
  /** End of the file name, after the title, such as `report.html`. */
  readonly ending: string;
  readonly filters?: Readonly<Record<string, string[]>>;
}

/**
 * @param question the dialog's title
 * @returns undefined if no file was chosen
 * @throws Error if it is the conversation's own file, even through links
 */
export async function saveBesideConversation(
  services: Services,
  path: string,
  question: string,
  { text, ending, filters }: FileContent,
): Promise<vscode.Uri | undefined> {
  const source = vscode.Uri.file(splitLocation(path).file);
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri ?? vscode.Uri.joinPath(source, '..');
  const ownName = basename(source.fsPath).replace(/\.\w+$/, '');
  const name = `${toFileName(getFileTitle(services, path) ?? ownName, ownName)}.${ending}`;
  const file = await vscode.window.showSaveDialog({
    title: question,
    defaultUri: vscode.Uri.joinPath(folder, name),
    ...(filters && { filters }),
  });
  if (!file) return undefined;
  if ((await resolveRealPath(file.fsPath)) === (await resolveRealPath(source.fsPath))) {
    throw new Error(
      vscode.l10n.t('This is the conversation’s own file, which is never overwritten. Choose another name.'),
    );
  }
  await vscode.workspace.fs.writeFile(file, Buffer.from(text));
  return file;
}

const resolveRealPath = (path: string): Promise<string> => realpath(path).catch(() => resolve(path));
