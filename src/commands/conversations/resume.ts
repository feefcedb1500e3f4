/** Going on with a session in a terminal, in the folder where its agent looks for it. */
import { basename, extname } from 'node:path';
import * as vscode from 'vscode';

/** `claude --resume <id>`: the name of a session's file is its id. */
const commandFor = (path: string): string => `claude --resume ${basename(path, extname(path))}`;

/** The same for another terminal, with the folder: Claude Code looks for a session among those of the folder that it is started in. */
export const resumeCommand = (path: string, folder: string | undefined): string =>
  folder === undefined ? commandFor(path) : `cd ${quoted(folder)} && ${commandFor(path)}`;

/** Single quotes hold everything but themselves in a POSIX shell; cmd knows only double ones. */
const quoted = (folder: string): string =>
  process.platform === 'win32' ? `"${folder}"` : `'${folder.replaceAll("'", "'\\''")}'`;

/** Opens a terminal in which the session goes on. */
export function resumeInTerminal(path: string, folder: string | undefined): void {
  const terminal = vscode.window.createTerminal({
    name: 'Claude Code',
    iconPath: new vscode.ThemeIcon('terminal'),
    ...(folder !== undefined && { cwd: folder }),
  });
  terminal.show();
  terminal.sendText(commandFor(path));
}
