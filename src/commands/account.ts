/** What the stored sessions of every agent on this machine cost, added up in the background. */
import { basename, extname, join } from 'node:path';
import * as vscode from 'vscode';
import { version } from '../../package.json';
import type { AccountResult } from '../background/taskResults';
import type { AccountTask } from '../background/tasks';
import { localDay } from '../core/localDay';
import { inBackground, withCancellation } from '../window/background';
import type { Services } from '../window/services';
import { thisMachine } from './conversationIndex';

export interface AccountWishes {
  /** Only requests of the last so many days, today among them. */
  readonly days?: number | undefined;
  readonly file?: AccountTask['file'];
}

const DAY_MS = 24 * 3_600_000;

/**
 * Adds up, with progress and cancel; what can't be read is named in the log.
 * @throws vscode.CancellationError where it was cancelled
 */
export async function accountStored(services: Services, { days, file }: AccountWishes): Promise<AccountResult> {
  const task: AccountTask = {
    kind: 'account',
    find: thisMachine(services),
    cache: join(services.context.globalStorageUri.fsPath, 'account.json'),
    ...(days !== undefined && { sinceDay: localDay(Date.now() - (days - 1) * DAY_MS) }),
    ...(file && { file }),
  };
  const title = vscode.l10n.t('Adding up what the sessions of all agents cost');
  const options = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
  const result = await vscode.window.withProgress(options, (progress, token) =>
    withCancellation(token, (signal) =>
      inBackground(services, task, signal, ({ account }) => {
        if (account) progress.report({ message: vscode.l10n.t('{0} of {1}', account.done, account.all) });
      }),
    ),
  );
  for (const { path, reason } of result.problems) services.log.info(`${path}: ${reason}`);
  return result;
}

/** Writes the account to a file that the user chooses: a page with charts, or a table for other programs. */
export async function saveAccount(services: Services): Promise<void> {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri ?? vscode.Uri.file(thisMachine(services).homedir);
  const file = await vscode.window.showSaveDialog({
    title: vscode.l10n.t('Save the account of all sessions'),
    defaultUri: vscode.Uri.joinPath(folder, 'account.html'),
    filters: { HTML: ['html'], CSV: ['csv'], JSON: ['json'] },
  });
  if (!file) return;
  const form = FORMS[extname(file.fsPath).toLowerCase()] ?? 'html';
  const { overview, leftOut } = await accountStored(services, {
    file: { path: file.fsPath, form, by: 'session', version },
  });
  const said = [
    vscode.l10n.t('{0} sessions added up, saved to {1}.', overview.total.sessions, basename(file.fsPath)),
    ...(leftOut > 0 ? [vscode.l10n.t('{0} could not be read; the log says why.', leftOut)] : []),
  ];
  const open = vscode.l10n.t('Open');
  if ((await vscode.window.showInformationMessage(said.join(' '), open)) === open) await vscode.env.openExternal(file);
}

const FORMS: Readonly<Record<string, 'html' | 'csv' | 'json'>> = { '.html': 'html', '.csv': 'csv', '.json': 'json' };
