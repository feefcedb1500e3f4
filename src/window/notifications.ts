/**
 * VS Code's notifications and dialogs. In their words it makes a link of what looks like one, of a command as well: `[Mend it](command:…)`
 * (`parseLinkedText` in microsoft/vscode). Ours quote files, models and other programs, and hold no links of their own: so none stays one.
 */
import * as vscode from 'vscode';

type Show = typeof vscode.window.showErrorMessage;

/** A text of others in which VS Code finds no link. */
export const withoutLinks = (text: string): string => text.replaceAll('](', '] (');

// The overloads differ in what follows the message, which goes on as it is.
const quoting = (show: () => Show): Show =>
  ((message: string, ...rest: never[]) => show()(withoutLinks(message), ...rest)) as Show;

export const showInformationMessage = quoting(() => vscode.window.showInformationMessage);
export const showWarningMessage = quoting(() => vscode.window.showWarningMessage);
export const showErrorMessage = quoting(() => vscode.window.showErrorMessage);
