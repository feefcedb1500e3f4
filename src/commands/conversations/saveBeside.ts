/** Writing something made of a conversation to a file that the user names. */
import { realpath } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import * as vscode from 'vscode';
import { splitLocation } from '../../conversations/location';
import { asFileName } from '../../window/fileName';
import type { Services } from '../../window/services';
import { titleOfFile } from '../conversationIndex';

interface Saved {
  readonly text: string;
  /** Behind the title in the file's name: `report.html`. */
  readonly ending: string;
  readonly filters?: Readonly<Record<string, string[]>>;
}

/**
 * Writes it under the conversation's title, or where the user says.
 * @param question the title of the dialog
 * @returns the file; undefined where none was chosen.
 * @throws Error where it is the conversation's own file, whatever links lead there
 */
export async function saveBeside(
  services: Services,
  path: string,
  question: string,
  { text, ending, filters }: Saved,
): Promise<vscode.Uri | undefined> {
  const source = vscode.Uri.file(splitLocation(path).file);
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri ?? vscode.Uri.joinPath(source, '..');
  const own = basename(source.fsPath).replace(/\.\w+$/, '');
  const name = `${asFileName(titleOfFile(services, path) ?? own, own)}.${ending}`;
  const file = await vscode.window.showSaveDialog({
    title: question,
    defaultUri: vscode.Uri.joinPath(folder, name),
    ...(filters && { filters }),
  });
  if (!file) return undefined;
  if ((await real(file.fsPath)) === (await real(source.fsPath))) {
    throw new Error(
      vscode.l10n.t('This is the conversation’s own file, which is never overwritten. Choose another name.'),
    );
  }
  await vscode.workspace.fs.writeFile(file, Buffer.from(text));
  return file;
}

const real = (path: string): Promise<string> => realpath(path).catch(() => resolve(path));
