import { existsSync } from 'node:fs';
import { basename, extname } from 'node:path';
import * as vscode from 'vscode';
import { showErrorMessage } from '../../window/notifications';

const getResumeCommand = (path: string): string => `claude --resume ${basename(path, extname(path))}`;

/**
 * The command changes to the session's folder, because Claude Code only finds sessions of the
 * current one.
 */
export const getResumeShellCommand = (path: string, folder: string | undefined): string =>
  folder === undefined ? getResumeCommand(path) : `cd ${quoteForShell(folder)} && ${getResumeCommand(path)}`;

/** POSIX shells take single quotes literally; cmd knows only double quotes. */
const quoteForShell = (folder: string): string =>
  process.platform === 'win32' ? `"${folder}"` : `'${folder.replaceAll("'", "'\\''")}'`;

export function resumeInTerminal(path: string, folder: string | undefined): void {
  if (folder !== undefined && !existsSync(folder)) {
    void showErrorMessage(
      vscode.l10n.t(
        'The session was not resumed. Its folder {0} no longer exists, and Claude Code finds a session only there. Create the folder, then try again.',
        folder,
      ),
    );
    return;
  }
  const terminal = vscode.window.createTerminal({
    name: 'Claude Code',
    iconPath: new vscode.ThemeIcon('terminal'),
    ...(folder !== undefined && { cwd: folder }),
  });
  terminal.show();
  terminal.sendText(getResumeCommand(path));
}
